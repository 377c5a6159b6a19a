package process

import (
	"bytes"
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/tfexp/tfexp/results/folder"
)

// The processes of a run also have a mark in a resource limit. A process inherits its limits even if it changes its
// session, environment, open files, folder or parent. Any user may lower a limit, and everybody can read it. The
// limit is the number of file locks, which Linux has not enforced since 2.4.25: see getrlimit(2).

// limitMark returns the soft limit on file locks for the processes of a run: a number that is very unlikely
// otherwise. It returns 0 for a text that is not the name of a run.
func limitMark(run string) uint64 {
	n, err := strconv.ParseUint(run, 16, 64)
	if err != nil || len(run) != 16 {
		return 0
	}
	return n>>2 | 1<<62
}

// markDescendants sets the limit mark of a run for this process and its later descendants. If the hard limit is too
// low, they have only the mark in their environment.
func markDescendants(run string) {
	var l unix.Rlimit
	if mark := limitMark(run); mark != 0 && unix.Getrlimit(unix.RLIMIT_LOCKS, &l) == nil && mark <= l.Max {
		l.Cur = mark
		unix.Setrlimit(unix.RLIMIT_LOCKS, &l)
	}
}

// hasLimitMark reports whether a process has the limit mark of a run.
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
	if _, err := fmt.Sscan(string(after[:min(len(after), 64)]), &soft); err != nil { // it may be "unlimited"
		return false
	}
	return found && soft == mark
}
