package process

import (
	"bytes"
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/tfexp/tfexp/results/folder"
)

// The processes of a run also carry its mark in a limit. A process inherits its limits whatever becomes of its session,
// environment, open files, folder and parent; any user may lower one; and everybody can read them. The limit is the one
// on the number of file locks, which Linux has not enforced since 2.4.25: see getrlimit(2).

// limitMark is the soft limit on file locks of the processes of a run: a number that nobody would choose. It is 0 for a
// text that is not the name of a run.
func limitMark(run string) uint64 {
	n, err := strconv.ParseUint(run, 16, 64)
	if err != nil || len(run) != 16 {
		return 0
	}
	return n>>2 | 1<<62
}

// markDescendants gives this process, and all that descend from it afterwards, the limit of a run. Where the hard limit
// is lower, they have the mark in their environment alone.
func markDescendants(run string) {
	var l unix.Rlimit
	if mark := limitMark(run); mark != 0 && unix.Getrlimit(unix.RLIMIT_LOCKS, &l) == nil && mark <= l.Max {
		l.Cur = mark
		unix.Setrlimit(unix.RLIMIT_LOCKS, &l)
	}
}

// hasLimitMark reports whether a process descends from the guardian of a run.
func hasLimitMark(pid int, run string) bool {
	mark := limitMark(run)
	if mark == 0 {
		return false
	}
	limits, err := folder.ReadSystem("/proc/" + strconv.Itoa(pid) + "/limits")
	if err != nil {
		return false
	}
	_, after, found := bytes.Cut(limits, []byte("\nMax file locks"))
	var soft uint64
	if _, err := fmt.Sscan(string(after[:min(len(after), 64)]), &soft); err != nil { // it is not "unlimited"
		return false
	}
	return found && soft == mark
}
