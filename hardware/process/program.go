//go:build unix

package process

import (
	"fmt"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/launch"
)

// processID identifies a process. Process numbers are reused, but not with the same start time.
type processID struct {
	pid   int
	start uint64 // in the unit of the system, since boot or 1970
}

// program is the program of a job or of one of its parts, in a separate session.
type program struct {
	launch.JobState
	id    processID
	mark  string // value of runEnv in its environment
	log   *jobLog
	group *group // control group in which it was started; may be nil

	life   sync.Mutex // held while signals are sent
	reaped bool       // it has exited, and its process number may be reused
}

// reach calls f unless the program has exited. While f runs, no other process can get the program's number.
func (p *program) reach(f func() error) error {
	p.life.Lock()
	defer p.life.Unlock()
	if p.reaped {
		return nil
	}
	return f()
}

// members returns the live processes of the program outside its process group. If all is true, it includes those in
// the group.
func (p *program) members(all bool) []int {
	roots := append([]int{p.id.pid}, p.group.pids()...)
	for _, o := range orphans() {
		if p.owns(o) {
			roots = append(roots, o.pid)
		}
	}
	var pids []int
	for _, pid := range descendants(roots) {
		if group, err := syscall.Getpgid(pid); err == nil && (all || group != p.id.pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// owns reports whether an orphan was started by the program.
func (p *program) owns(o processInfo) bool { return o.session == p.id.pid || hasMark(o.pid, p.mark) }

// signal sends a signal to every process of the program, also to processes that are forked at the same time. The
// program must not be reaped.
func (p *program) signal(sig syscall.Signal) error {
	// First signal the whole process group at once, then processes that have left it one by one, until no new
	// process is found.
	if err := syscall.Kill(-p.id.pid, sig); err != nil {
		// On some systems a group of zombies cannot be signaled.
		if o, listed := readProc(p.id.pid); listed && !o.zombie {
			return err
		}
	}
	seen := map[int]bool{}
	for range maxPasses {
		found := false
		for _, pid := range p.members(false) {
			if !seen[pid] {
				seen[pid], found = true, true
				syscall.Kill(pid, sig) // ignore the error if it has exited
			}
		}
		if !found {
			break
		}
	}
	return nil
}

// maxPasses limits how often processes and threads are searched again, because new ones may start meanwhile.
const maxPasses = 20

// bind binds every thread of every process of the program to cpus.
func (p *program) bind(cpus []int) error {
	seen := map[int]bool{}
	for range maxPasses {
		found, err := bindThreads(p.members(true), cpus, seen)
		if err != nil || !found {
			return err
		}
	}
	return nil
}

// Attend waits for a program to exit, and kills its leftover processes.
func (h hands) Attend(p *program) {
	e := h.e
	children.await(p.id.pid)
	lost := children.lostGuardian(p.id.pid)
	p.life.Lock()
	status, used := children.reap(p.id.pid)
	p.reaped = true
	p.life.Unlock()
	if lost = lost && status.Signaled(); lost && e.opts.Warn != nil {
		e.opts.Warn(p.Number, engine.Lost, "the guardian of the jobs was killed, and its program with it; tfexp resume runs it again")
	}
	finished := status.Exited() && status.ExitStatus() == 0
	e.Exited(p, time.Now(), finished)

	left := 0
	if finished && p.Lead {
		left = p.leftBehind()
	}
	stuck := p.killLeftovers(func() time.Time { return e.Deadline(p) }, e.opts.Grace+clearLimit)
	f := launch.Fate{
		Finished: finished, Why: exitReason(status), Exit: status.ExitStatus(), Output: p.log.finish(),
		User: time.Duration(used.Utime.Nano()), System: time.Duration(used.Stime.Nano()), MaxRSS: used.Maxrss *
			rssUnit, Left: left,
	}
	if stuck > 0 {
		f.Remark = fmt.Sprintf("; %d of its processes could not be killed", stuck)
	}
	e.Ended(p, f, p.log.close)
	guard.forget(p.id)
	e.records.ended(p.id)
}

// endsWith is how long processes may take to end after their program.
const endsWith = 50 * time.Millisecond

// leftBehind returns the number of processes that an exited program left running.
func (p *program) leftBehind() int {
	known := map[processID]bool{}
	if left, _ := p.leftovers(known); left == nil {
		return 0
	}
	time.Sleep(endsWith)
	left, _ := p.leftovers(known)
	return len(slices.DeleteFunc(left, func(pid int) bool { return pid < 0 })) // without the number of its group
}

// exitReason says how a program ended that did not finish.
func exitReason(status syscall.WaitStatus) string {
	if status.Signaled() {
		return fmt.Sprintf("killed by signal %d (%s)", status.Signal(), signalName(status.Signal()))
	}
	return fmt.Sprintf("exit status %d", status.ExitStatus())
}

// signalName returns the system's name of a signal: "killed", "segmentation fault".
func signalName(s syscall.Signal) string {
	if text := s.String(); text != "" {
		return text
	}
	return unix.SignalName(s)
}
