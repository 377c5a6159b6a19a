//go:build unix

package process

import (
	"syscall"
	"time"
)

// How long to wait for processes that a program leaves running when it exits.
const (
	clearPause = 500 * time.Microsecond // between checks; doubles up to 20 ms
	clearLimit = 10 * time.Second       // for processes that do not end after SIGKILL
	maxDoubts  = 4                      // checks of orphans that have no environment
)

// killLeftovers waits until the deadline for the processes that a program has left running, and then kills them. It
// gives up after the time patience, and returns the number of processes that still run.
func (p *program) killLeftovers(deadline func() time.Time, patience time.Duration) (stuck int) {
	began := time.Now()
	known := map[processID]bool{}
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

// leftovers returns the processes that an exited program has left running: their numbers, and the number of its
// group with a minus; nil if no process is left. During an exec, and while it exits, a process has no environment
// and so no mark. Therefore known keeps the orphans that were recognized before, and unsure says that another call
// may recognize an orphan.
func (p *program) leftovers(known map[processID]bool) (left []int, unsure bool) {
	roots := p.group.pids()
	for _, o := range orphans() { // orphans also reaps dead ones
		id := processID{o.pid, o.start}
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
