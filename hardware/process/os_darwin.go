package process

import (
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// rssUnit is the kernel's unit of a process's memory, in bytes.
const rssUnit = 1

func ownProgram() (string, error) { return os.Executable() }

// sessionAttr makes a child the leader of a session.
func sessionAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func missingFeature() string { return "" }

// canAdopt is false: macOS gives processes that lost their parent to its first one.
func canAdopt() bool     { return false }
func becomeReaper() bool { return false }
func setName(string)     {}

// onCPUs runs f: macOS does not bind threads to CPUs.
func onCPUs(_ []int, f func()) error {
	f()
	return nil
}

func bindThreads(_, _ []int, _ map[int]bool) (bool, error) { return false, nil }

// awaitExit returns when a child has exited. The child's number stays taken
// until it is waited for, so that a late signal cannot hit a stranger. Where
// it cannot be watched, the wait that follows takes the time.
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
		// A child that has exited before cannot be added, which is an event too.
		if _, err := unix.Kevent(queue, exit, make([]unix.Kevent_t, 1), nil); err != unix.EINTR {
			return
		}
	}
}

// bootID names this boot of the machine.
func bootID() string {
	t, err := unix.SysctlTimeval("kern.boottime")
	if err != nil {
		return "unknown"
	}
	return strconv.FormatInt(t.Sec, 10)
}

// readProc describes a process. The start time is in microseconds since 1970.
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

// processes lists all processes of the system.
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

// hasMark is false: macOS does not show environments.
func hasMark(int, string) bool { return false }

// A limit is no mark: macOS does not show the limits of other processes.
func markDescendants(string)        {}
func hasLimitMark(int, string) bool { return false }

func hasEnviron(int) bool { return false }

// descendants returns roots and all processes that descend from them.
func descendants(roots []int) []int {
	set := map[int]bool{}
	for _, pid := range roots {
		set[pid] = true
	}
	return append(append([]int(nil), roots...), descendantsIn(processes(), set)...)
}

// orphans is empty: on macOS they go to the system's first process.
func orphans() []processInfo { return nil }

// group is nothing: macOS has no control groups.
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
