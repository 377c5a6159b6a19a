//go:build unix

package process

import (
	"syscall"
	"time"
)

// The patience with processes that a program leaves behind when it exits.
const (
	clearPause = 500 * time.Microsecond // between looks; doubled up to 20 ms
	clearLimit = 10 * time.Second       // for processes that SIGKILL does not end
	maxDoubts  = 4                      // looks at orphans that have no environment
)

// killLeftovers kills the leftover processes of a program that has exited, or waits for
// them until the deadline if the program was asked to end. It returns the
// number of processes that could not be killed within the patience.
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

// leftovers returns the living processes of a program that has exited: their
// numbers, and the number of its group with a minus; nil if none lives. A
// process has no environment, and so no mark, during an exec and while it
// exits. So known holds the orphans that were found before, and unsure reports
// that another look may identify an orphan.
func (p *program) leftovers(known map[processID]bool) (left []int, unsure bool) {
	roots := p.group.pids()
	for _, o := range orphans() { // also reaps those that are dead
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
