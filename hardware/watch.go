package hardware

import (
	"fmt"
	"sync"
	"time"
)

// A Watch compares the clocks every watchTick. If it runs more than watchLate too late, this process could not run
// in the meantime.
const (
	watchTick = 100 * time.Millisecond
	watchLate = 250 * time.Millisecond
)

// Gaps are times in which this process could not run. It noticed the ends of jobs in a gap only after the gap.
type Gaps struct {
	// Stopped is the time in which the machine ran but this process did not: the process was stopped (SIGSTOP), or
	// got no CPU time.
	Stopped time.Duration
	// Suspended is the time in which the machine slept. The monotonic clock does not count it.
	Suspended time.Duration
}

// Any reports whether there were gaps.
func (g Gaps) Any() bool { return g.Stopped > 0 || g.Suspended > 0 }

// Total returns the sum of all gaps.
func (g Gaps) Total() time.Duration { return g.Stopped + g.Suspended }

// String describes the gaps: "tfexp could not run for 5.0 s".
func (g Gaps) String() string {
	stopped := fmt.Sprintf("tfexp could not run for %.1f s (it was stopped, or the machine was overloaded)",
		g.Stopped.Seconds())
	suspended := fmt.Sprintf("the machine was suspended for %.1f s", g.Suspended.Seconds())
	switch {
	case g.Suspended == 0:
		return stopped
	case g.Stopped == 0:
		return suspended
	}
	return suspended + ", and " + stopped
}

// clocks are the values of two clocks: running stops while the machine sleeps, all does not.
type clocks struct{ running, all time.Duration }

// Watch measures the gaps between its start and its end.
type Watch struct {
	now  func() clocks
	stop chan struct{}
	done sync.WaitGroup

	mu   sync.Mutex // guards the fields below
	last clocks
	gaps Gaps
}

// NewWatch starts a Watch. The caller must end it.
func NewWatch() *Watch {
	w := &Watch{now: readClocks, stop: make(chan struct{})}
	w.last = w.now()
	w.done.Go(func() {
		tick := time.NewTicker(watchTick)
		defer tick.Stop()
		for {
			select {
			case <-w.stop:
				return
			case <-tick.C:
				w.look()
			}
		}
	})
	return w
}

// look compares the clocks with their values at the last call.
func (w *Watch) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	ran := now.running - w.last.running
	if late := ran - watchTick; late > watchLate {
		w.gaps.Stopped += late
	}
	if slept := now.all - w.last.all - ran; slept > watchTick {
		w.gaps.Suspended += slept
	}
	w.last = now
}

// End ends the watch and returns its gaps. Later calls return the same.
func (w *Watch) End() Gaps {
	w.mu.Lock()
	select {
	case <-w.stop:
	default:
		close(w.stop)
	}
	w.mu.Unlock()
	w.done.Wait()
	w.look()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.gaps
}
