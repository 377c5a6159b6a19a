//go:build unix

package process

import (
	"sync/atomic"
	"syscall"
	"time"
)

// noGroups is set once a program could only be started without a group.
var noGroups atomic.Bool

// groupHome returns the folder in which the groups of programs are made; empty if there is no such folder.
func groupHome() string {
	if noGroups.Load() {
		return ""
	}
	return ownGroup()
}

// strays follows the processes that lost their parent and came to the guardian, where programs have no groups. A
// process that left its session and cleared its environment does not show from which program it came. Such a process
// dies with tfexp, or when no engine is open. The registry names it for the case that the guardian is killed with
// tfexp.
type strays struct {
	records *registry
	stop    chan struct{}
	stopped chan struct{}
	known   map[ident]bool
}

// openEngines counts them: an orphan may be of any.
var openEngines atomic.Int64

// strayPause is the time between looks: a process that loses its parent after the last look before tfexp is killed is
// unknown.
const strayPause = 100 * time.Millisecond

// followStrays starts the looks; close ends them.
func followStrays(records *registry) *strays {
	openEngines.Add(1)
	if groupHome() != "" {
		return nil
	}
	s := &strays{records, make(chan struct{}), make(chan struct{}), map[ident]bool{}}
	go func() {
		defer close(s.stopped)
		for tick := time.NewTicker(strayPause); ; {
			select {
			case <-s.stop:
				tick.Stop()
				return
			case <-tick.C:
				s.look()
			}
		}
	}()
	return s
}

// look makes new orphans known to the registry, and forgets those that are gone.
func (s *strays) look() {
	alive := map[ident]bool{}
	for _, o := range orphans() {
		id := ident{o.pid, o.start}
		alive[id] = true
		if !s.known[id] {
			s.records.started(id)
		}
	}
	for id := range s.known {
		if !alive[id] {
			s.records.ended(id)
		}
	}
	s.known = alive
}

// close ends the looks, and kills all orphans if no other engine is open.
func (s *strays) close() {
	last := openEngines.Add(-1) == 0
	if s == nil {
		return
	}
	close(s.stop)
	<-s.stopped
	for range killPasses {
		s.look()
		if len(s.known) == 0 || !last {
			break
		}
		for id := range s.known {
			for _, pid := range descendants([]int{id.pid}) {
				syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		time.Sleep(killPause)
	}
}
