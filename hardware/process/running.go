//go:build unix

package process

import (
	"fmt"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tfexp/tfexp/hardware/launch"
)

// ident is a process for good: numbers are used again, but not by a process
// that started at the same time.
type ident struct {
	pid   int
	start uint64 // in the system's own unit, since boot or 1970
}

// program is the program of a job or of one of its parts, in a separate session.
type program struct {
	launch.JobState
	id    ident
	mark  string // value of runEnv in its environment
	log   *jobLog
	group *group // the group that it was started in; may be nil

	life   sync.Mutex // held while signals are sent
	reaped bool       // it has exited, and its number may be used again
}

// reach calls f unless the program has exited: its number is its own until f returns.
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
func (p *program) owns(o proc) bool { return o.session == p.id.pid || hasMark(o.pid, p.mark) }

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
	p.life.Lock()
	status, used := children.reap(p.id.pid)
	p.reaped = true
	p.life.Unlock()
	finished := status.Exited() && status.ExitStatus() == 0
	e.Exited(p, time.Now(), finished)

	stuck := p.clear(func() time.Time { return e.Deadline(p) }, e.opts.Grace+clearLimit)
	f := launch.Fate{
		Finished: finished, Why: ending(status), Exit: status.ExitStatus(), Output: p.log.finish(),
		User: time.Duration(used.Utime.Nano()), System: time.Duration(used.Stime.Nano()), MaxRSS: used.Maxrss *
			rssUnit,
	}
	if stuck > 0 {
		f.Remark = fmt.Sprintf("; %d of its processes could not be killed", stuck)
	}
	e.Ended(p, f, p.log.close)
	guard.forget(p.id)
	e.records.ended(p.id)
}

// ending says how a program ended that did not finish.
func ending(status syscall.WaitStatus) string {
	if status.Signaled() {
		return fmt.Sprintf("killed by signal %d (%s)", status.Signal(), signalName(status.Signal()))
	}
	return fmt.Sprintf("exit status %d", status.ExitStatus())
}

// The patience with processes that a program leaves behind when it exits.
const (
	clearPause = 500 * time.Microsecond // between looks; doubled up to 20 ms
	clearLimit = 10 * time.Second       // for processes that SIGKILL does not end
	maxDoubts  = 4                      // looks at orphans that have no environment
)

// clear kills the leftover processes of a program that has exited, or waits for
// them until the deadline if the program was asked to end. It returns the
// number of processes that could not be killed within the patience.
func (p *program) clear(deadline func() time.Time, patience time.Duration) (stuck int) {
	began := time.Now()
	known := map[ident]bool{}
	doubts := 0
	for pause := clearPause; ; pause = min(2*pause, 20*time.Millisecond) {
		left, unsure := p.leftovers(known)
		if left == nil {
			if doubts++; !unsure || doubts > maxDoubts {
				p.group.remove()
				return 0
			}
		}
		now := time.Now()
		if now.Sub(began) > patience {
			return len(left)
		}
		if !now.Before(deadline()) {
			p.group.kill()
			for _, pid := range left {
				syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		time.Sleep(pause)
	}
}

// leftovers returns the living processes of a program that has exited: their
// numbers, and the number of its group with a minus; nil if none lives. A
// process has no environment, and so no mark, during an exec and while it
// exits. So known holds the orphans that were found before, and unsure reports
// that another look may identify an orphan.
func (p *program) leftovers(known map[ident]bool) (left []int, unsure bool) {
	roots := p.group.pids()
	for _, o := range orphans() { // also reaps those that are dead
		id := ident{o.pid, o.start}
		switch {
		case known[id], p.owns(o):
			known[id] = true
			roots = append(roots, o.pid)
		case !hasEnviron(o.pid):
			unsure = true
		}
	}
	if syscall.Kill(-p.id.pid, 0) != syscall.ESRCH {
		left = append(left, -p.id.pid)
	}
	if len(roots) > 0 {
		left = append(append(left, roots...), descendants(roots)...)
	}
	return left, unsure
}

// signalName is the system's phrase for a signal: "killed", "segmentation fault".
func signalName(s syscall.Signal) string {
	if text := s.String(); text != "" {
		return text
	}
	return unix.SignalName(s)
}
