package process

import (
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// rssUnit is the unit in which the kernel reports the memory of a process, in bytes.
const rssUnit = 1

func ownProgram() (string, error) { return os.Executable() }

// sessionAttr makes a child the leader of a new session.
func sessionAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func missingFeature() string { return "" }

// canAdopt returns false, because on macOS the first process of the system inherits orphans.
func canAdopt() bool     { return false }
func becomeReaper() bool { return false }
func setName(string)     {}

// onCPUs runs f. macOS does not bind threads to CPUs.
func onCPUs(_ []int, f func()) error {
	f()
	return nil
}

func bindThreads(_, _ []int, _ map[int]bool) (bool, error) { return false, nil }

// awaitExit waits until a child has exited. The child's process number is not reused until it is reaped, so a late
// signal cannot reach another process. If the child cannot be watched, awaitExit returns at once, and the reaping
// waits.
func awaitExit(pid int) {
	queue, err := unix.Kqueue()
	if err != nil {
		return
	}
	defer unix.Close(queue)
	exit := make([]unix.Kevent_t, 1)
	unix.SetKevent(&exit[0], pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	exit[0].Fflags = unix.NOTE_EXIT
	for {
		// If the child has exited already, Kevent also returns an event.
		if _, err := unix.Kevent(queue, exit, make([]unix.Kevent_t, 1), nil); err != unix.EINTR {
			return
		}
	}
}

// bootID returns a name for the present boot of the machine.
func bootID() string {
	t, err := unix.SysctlTimeval("kern.boottime")
	if err != nil {
		return "unknown"
	}
	return strconv.FormatInt(t.Sec, 10)
}

// readProc returns information about a process. The start time is in microseconds since 1970.
func readProc(pid int) (p processInfo, ok bool) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || info.Proc.P_pid != int32(pid) {
		return processInfo{}, false
	}
	return describe(info), true
}

func describe(info *unix.KinfoProc) processInfo {
	pid := int(info.Proc.P_pid)
	session, err := unix.Getsid(pid)
	if err != nil {
		session = -1
	}
	const zombie = 5 // SZOMB in sys/processInfo.h
	began := info.Proc.P_starttime
	return processInfo{
		pid: pid, parent: int(info.Eproc.Ppid), group: int(info.Eproc.Pgid), session: session,
		start:  uint64(began.Sec)*1_000_000 + uint64(began.Usec),
		zombie: info.Proc.P_stat == zombie,
		name:   unix.ByteSliceToString(info.Proc.P_comm[:]),
	}
}

// processes returns all processes of the system.
func processes() []processInfo {
	infos, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil
	}
	all := make([]processInfo, 0, len(infos))
	for i := range infos {
		all = append(all, describe(&infos[i]))
	}
	return all
}

// hasMark returns false, because macOS does not show environments.
func hasMark(int, string) bool { return false }

// macOS does not show the limits of other processes, so they cannot be marks.
func markDescendants(string)        {}
func hasLimitMark(int, string) bool { return false }

func hasEnviron(int) bool { return false }

// descendants returns the processes roots and all of their descendants.
func descendants(roots []int) []int {
	set := map[int]bool{}
	for _, pid := range roots {
		set[pid] = true
	}
	return append(append([]int(nil), roots...), descendantsIn(processes(), set)...)
}

// orphans returns nil, because on macOS the first process of the system inherits them.
func orphans() []processInfo { return nil }

// group is empty, because macOS has no control groups.
type group struct{}

func ownGroup() string              { return "" }
func groupsOf(_, _ string) []*group { return nil }
func newGroup(string) *group        { return nil }
func (*group) pids() []int          { return nil }
func (*group) kill()                {}
func (*group) remove()              {}
func (*group) startIn(fork func(folder int) (int, error)) (pid int, in *group, err error) {
	pid, err = fork(-1)
	return pid, nil, err
}
func intoGroup(*syscall.SysProcAttr, int) {}
