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

// processID is a process for good: numbers are used again, but not by a process
// that started at the same time.
type processID struct {
	pid   int
	start uint64 // in the system's own unit, since boot or 1970
}

// program is the program of a job or of one of its parts, in a separate session.
type program struct {
	launch.JobState
	id    processID
	mark  string // value of runEnv in its environment
	log   *jobLog
	group *group // the group that it was started in; may be nil

	life   sync.Mutex // held while signals are sent
	reaped bool       // it has exited, and its number may be used again
}

// reach calls f unless the program has exited. Until f returns, no other process can get the program's number.
func (p *program) reach(f func() error) error {
	p.life.Lock()
	defer p.life.Unlock()
	if p.reaped {
		return nil
	}
	return f()
}

// members returns the live processes of the program outside of its process
// group, and those in it if all is set.
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

// owns reports whether an orphan was once part of the program.
func (p *program) owns(o processInfo) bool { return o.session == p.id.pid || hasMark(o.pid, p.mark) }

// signal sends sig to every process of the program, those that fork meanwhile
// included. The program must not be gone.
func (p *program) signal(sig syscall.Signal) error {
	// All of the process group at once; those who left it one by one, until
	// no new one is found.
	if err := syscall.Kill(-p.id.pid, sig); err != nil {
		// A group of zombies cannot be signalled on some systems.
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
				syscall.Kill(pid, sig) // it may have exited
			}
		}
		if !found {
			break
		}
	}
	return nil
}

// maxPasses bounds the search for processes and threads that start during the
// search.
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

// endsWith is the moment that processes need which end with their program.
const endsWith = 50 * time.Millisecond

// leftBehind counts the processes that a program left running.
func (p *program) leftBehind() int {
	known := map[processID]bool{}
	if left, _ := p.leftovers(known); left == nil {
		return 0
	}
	time.Sleep(endsWith)
	left, _ := p.leftovers(known)
	return len(slices.DeleteFunc(left, func(pid int) bool { return pid < 0 })) // without its group
}

// exitReason says how a program ended that did not finish.
func exitReason(status syscall.WaitStatus) string {
	if status.Signaled() {
		return fmt.Sprintf("killed by signal %d (%s)", status.Signal(), signalName(status.Signal()))
	}
	return fmt.Sprintf("exit status %d", status.ExitStatus())
}

// signalName is the system's phrase for a signal: "killed", "segmentation fault".
func signalName(s syscall.Signal) string {
	if text := s.String(); text != "" {
		return text
	}
	return unix.SignalName(s)
}
