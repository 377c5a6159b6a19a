package process

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/tfexp/tfexp/results/folder"
)

// rssUnit is the unit in which the kernel reports the memory of a process, in bytes.
const rssUnit = 1 << 10

// ownProgram returns a path of this process's program that works even if its file was replaced.
func ownProgram() (string, error) { return "/proc/self/exe", nil }

// sessionAttr makes a child the leader of a new session, and makes the kernel kill it when its parent dies.
func sessionAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// becomeReaper makes this process inherit descendants whose parent has died. It reports whether that is possible.
var becomeReaper = sync.OnceValue(func() bool {
	return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == nil
})

// canAdopt reports whether the guardian can know of all processes that jobs leave: as the parent of the jobs'
// programs, it inherits them.
func canAdopt() bool { return becomeReaper() && haveProc() }

// missingFeature says which feature of the system is missing to run programs; empty if none is.
func missingFeature() string {
	if haveProc() {
		return ""
	}
	return "there is no /proc, by which programs are paused and ended: experiments can be simulated"
}

// haveProc reports whether the system has /proc.
var haveProc = sync.OnceValue(func() bool {
	_, ok := readProc(os.Getpid())
	return ok
})

// setName sets the name of this process in lists of processes.
func setName(name string) {
	// The name of the process is the name of its main thread. A failure is harmless.
	folder.WriteFile("/proc/self/comm", []byte(name), 0)
}

// onCPUs runs f while the calling thread, which must be locked, is bound to cpus.
func onCPUs(cpus []int, f func()) error {
	var before, during unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return err
	}
	for _, cpu := range cpus {
		during.Set(cpu)
	}
	if err := unix.SchedSetaffinity(0, &during); err != nil {
		return err
	}
	f()
	// This fails only if CPUs were removed. The next job sets the CPUs again.
	unix.SchedSetaffinity(0, &before)
	return nil
}

// bindThreads binds all threads of processes to cpus, except the threads in seen, and adds them to seen. It reports
// whether it has found any. It ignores threads that have ended.
func bindThreads(pids, cpus []int, seen map[int]bool) (found bool, err error) {
	var set unix.CPUSet
	for _, cpu := range cpus {
		set.Set(cpu)
	}
	for _, pid := range pids {
		for _, tid := range numbers(fmt.Sprintf("/proc/%d/task", pid)) {
			if seen[tid] {
				continue
			}
			seen[tid], found = true, true
			if err := unix.SchedSetaffinity(tid, &set); err != nil && err != unix.ESRCH {
				return found, fmt.Errorf("bind to CPUs %v: %w", cpus, err)
			}
		}
	}
	return found, nil
}

// awaitExit waits until a child has exited. The child's process number is not reused until it is reaped, so a late
// signal cannot reach another process.
func awaitExit(pid int) {
	for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

// bootID returns a name for the present boot of the machine.
func bootID() string {
	id, err := folder.ReadSystem("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "unknown"
	}
	return string(bytes.TrimSpace(id))
}

// readProc reads /proc/PID/stat, see proc_pid_stat(5). The start time is in clock ticks since boot.
func readProc(pid int) (p processInfo, ok bool) {
	stat, err := folder.ReadSystem("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return p, false
	}
	// The name is in parentheses, and can contain spaces and parentheses.
	open, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if open < 0 || end < open {
		return p, false
	}
	fields := strings.Fields(string(stat[end+1:])) // from field 3 on
	if len(fields) < 20 {
		return p, false
	}
	p = processInfo{pid: pid, name: string(stat[open+1 : end]), zombie: fields[0] == "Z" || fields[0] == "X"}
	for i, into := range []*int{&p.parent, &p.group, &p.session} {
		if *into, err = strconv.Atoi(fields[1+i]); err != nil {
			return p, false
		}
	}
	p.start, err = strconv.ParseUint(fields[19], 10, 64)
	return p, err == nil
}

// processes returns all processes of the system, ordered by number.
func processes() []processInfo {
	var all []processInfo
	for _, pid := range numbers("/proc") {
		if p, ok := readProc(pid); ok {
			all = append(all, p)
		}
	}
	return all
}

// numbers returns the entries of a folder whose names are numbers, ascending.
func numbers(dir string) []int {
	f, err := folder.OpenFile(dir, os.O_RDONLY, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1) // keep names that were read before an error
	var found []int
	for _, name := range names {
		if n, err := strconv.Atoi(name); err == nil {
			found = append(found, n)
		}
	}
	slices.Sort(found)
	return found
}

// hasMark reports whether the environment of a process has the mark of a run, or of a job in it.
func hasMark(pid int, mark string) bool {
	env, err := folder.ReadSystem("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false
	}
	for entry := range bytes.SplitSeq(env, []byte{0}) {
		if value, ok := bytes.CutPrefix(entry, []byte(runEnv+"=")); ok {
			rest, ok := bytes.CutPrefix(value, []byte(mark))
			return ok && (len(rest) == 0 || rest[0] == '.')
		}
	}
	return false
}

// hasEnviron reports whether the environment of a process is readable. It is empty while the process exits, and for
// a moment during an exec.
func hasEnviron(pid int) bool {
	env, err := folder.ReadSystem("/proc/" + strconv.Itoa(pid) + "/environ")
	return err == nil && len(env) > 0
}

// haveChildLists reports whether the kernel lists the children of each thread (CONFIG_PROC_CHILDREN). If it does
// not, all processes are read instead.
var haveChildLists = sync.OnceValue(func() bool {
	pid := os.Getpid()
	_, err := os.Stat(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	return err == nil
})

func childrenOfThread(pid, tid int) (pids []int) {
	list, err := folder.ReadSystem(fmt.Sprintf("/proc/%d/task/%d/children", pid, tid))
	if err != nil {
		return nil
	}
	for field := range bytes.FieldsSeq(list) {
		if n, err := strconv.Atoi(string(field)); err == nil {
			pids = append(pids, n)
		}
	}
	return pids
}

// descendants returns the processes roots and all of their descendants.
func descendants(roots []int) []int {
	found := slices.Clone(roots)
	if !haveChildLists() {
		set := map[int]bool{}
		for _, pid := range roots {
			set[pid] = true
		}
		return append(found, descendantsIn(processes(), set)...)
	}
	for i := 0; i < len(found); i++ { // found grows in the loop
		for _, tid := range numbers(fmt.Sprintf("/proc/%d/task", found[i])) {
			found = append(found, childrenOfThread(found[i], tid)...)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// orphans returns the live processes that the guardian or this process has inherited because their parent died. It
// reaps dead ones of this process. Their session distinguishes them from processes that other code of this program
// has started.
func orphans() (alive []processInfo) {
	guard.mu.Lock() // so that no fork is in progress
	defer guard.mu.Unlock()
	children.mu.Lock()
	defer children.mu.Unlock()
	l := guard.link
	parents := []int{os.Getpid()}
	if l != nil && !l.gone {
		parents = append(parents, l.pid)
	}
	own, err := unix.Getsid(0)
	if err != nil {
		return nil
	}
	// Orphans become children of the reaper's first thread.
	var pids []int
	if haveChildLists() {
		for _, parent := range parents {
			pids = append(pids, childrenOfThread(parent, parent)...)
		}
	} else {
		for _, p := range processes() {
			if slices.Contains(parents, p.parent) {
				pids = append(pids, p.pid)
			}
		}
	}
	for _, pid := range pids {
		if children.pids[pid] != nil || l != nil && pid == l.pid {
			continue
		}
		p, ok := readProc(pid)
		switch {
		case !ok || !slices.Contains(parents, p.parent) || p.session == own || p.session == 0:
		case p.zombie:
			// This fails for children of the guardian, which reaps them itself.
			syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
		default:
			alive = append(alive, p)
		}
	}
	return alive
}
