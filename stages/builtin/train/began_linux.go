package train

import (
	"bytes"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tfexp/tfexp/results/folder"
)

// ticks is the number of clock ticks per second in /proc. The kernel uses 100 on all common machines.
const ticks = 100

// Began returns the time at which this process started, to a hundredth of a second; the present time if it is unknown.
// The engine counts the time of the process from then on, which is before the program's first line.
func Began() time.Time {
	now := time.Now()
	var up unix.Timespec
	text, err := folder.ReadSystem("/proc/self/stat")
	if err != nil || unix.ClockGettime(unix.CLOCK_BOOTTIME, &up) != nil {
		return now
	}
	// The process's name ends at the last bracket and can contain any character. After it, the start time is the 20th
	// field.
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
