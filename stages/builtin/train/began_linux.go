package train

import (
	"bytes"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tfexp/tfexp/results/folder"
)

// ticks is the number of clock ticks per second, by the kernel's interface for programs on all common machines.
const ticks = 100

// Began returns when this process began, to a hundredth of a second; the present time if the system does not report it.
// The engine counts the process's time from that instant, not from the first line of the program.
func Began() time.Time {
	now := time.Now()
	var up unix.Timespec
	text, err := folder.ReadSystem("/proc/self/stat")
	if err != nil || unix.ClockGettime(unix.CLOCK_BOOTTIME, &up) != nil {
		return now
	}
	// Behind the name, which may hold anything and ends with the last bracket, the start is the 20th field.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 20 {
		return now
	}
	start, err := strconv.ParseInt(string(fields[19]), 10, 64)
	if err != nil {
		return now
	}
	age := time.Duration(up.Nano()) - time.Duration(start)*time.Second/ticks
	return now.Add(-max(age, 0))
}
