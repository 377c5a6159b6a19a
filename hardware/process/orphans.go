//go:build unix

package process

import (
	"sync/atomic"
	"syscall"
	"time"
)

// orphanTracker follows the processes that lost their parent and came to the guardian, where programs have no groups. A
// process that left its session and cleared its environment does not show from which program it came. Such a process
// dies with tfexp, or when no engine is open. The registry names it for the case that the guardian is killed with
// tfexp, and that limits carry no mark (markDescendants).
type orphanTracker struct {
	records *registry
	stop    chan struct{}
	stopped chan struct{}
	known   map[processID]bool
}

// openEngines counts the open engines: an orphan may belong to any of them.
var openEngines atomic.Int64

// orphanPause is the time between scans.
const orphanPause = 100 * time.Millisecond

// trackOrphans starts the scans; close ends them.
func trackOrphans(records *registry) *orphanTracker {
	openEngines.Add(1)
	if groupHome() != "" {
		return nil
	}
	s := &orphanTracker{records, make(chan struct{}), make(chan struct{}), map[processID]bool{}}
	go func() {
		defer close(s.stopped)
		for tick := time.NewTicker(orphanPause); ; {
			select {
			case <-s.stop:
				tick.Stop()
				return
			case <-tick.C:
				s.scan()
			}
		}
	}()
	return s
}

// scan makes new orphans known to the registry, and forgets those that are gone.
func (s *orphanTracker) scan() {
	alive := map[processID]bool{}
	for _, o := range orphans() {
		id := processID{o.pid, o.start}
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

// close ends the scans, and kills all orphans if no other engine is open.
func (s *orphanTracker) close() {
	last := openEngines.Add(-1) == 0
	if s == nil {
		return
	}
	close(s.stop)
	<-s.stopped
	for range killPasses {
		s.scan()
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
