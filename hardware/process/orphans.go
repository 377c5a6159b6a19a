//go:build unix

package process

import (
	"sync/atomic"
	"syscall"
	"time"
)

// orphanTracker lists orphans in the registry: processes that lost their parent and were inherited by the guardian.
// It is used if programs have no control groups. An orphan that left its session and cleared its environment does
// not show to which job it belongs. It is killed when tfexp ends, or when no engine is open. The registry is needed
// if the guardian is killed together with tfexp, and limits have no mark (markDescendants).
type orphanTracker struct {
	records *registry
	stop    chan struct{}
	stopped chan struct{}
	known   map[processID]bool
}

// openEngines is the number of open engines. An orphan may belong to any of them.
var openEngines atomic.Int64

// orphanPause is the time between scans.
const orphanPause = 100 * time.Millisecond

// trackOrphans starts the scans.
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

// scan adds new orphans to the registry, and removes orphans that have ended.
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

// close ends the scans. If no other engine is open, it kills all orphans.
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
