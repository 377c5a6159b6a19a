package hardware

import (
	"fmt"
	"sync"
	"time"
)

// A watch looks at the clocks every watchTick. A look that comes more than
// watchLate after its time is a gap: this process could not run.
const (
	watchTick = 100 * time.Millisecond
	watchLate = 250 * time.Millisecond
)

// Gaps are the stretches in which this process could not run while it was
// watched. A job that ended in a gap was noticed only at the gap's end.
type Gaps struct {
	// Stopped is the time in which the process did not run although the machine
	// did: it was stopped (SIGSTOP), or the machine had no CPU time for it.
	Stopped time.Duration
	// Suspended is the time in which the machine slept. The monotonic clock
	// leaves it out.
	Suspended time.Duration
}

// Any reports whether there were gaps.
func (g Gaps) Any() bool { return g.Stopped > 0 || g.Suspended > 0 }

// Total is their length.
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

// clocks are two clocks: the monotonic clock, which stops while the machine is suspended, and one that continues.
type clocks struct{ running, all time.Duration }

// Watch finds the gaps of a stretch of time.
type Watch struct {
	now  func() clocks
	stop chan struct{}
	done sync.WaitGroup

	mu   sync.Mutex // guards what follows
	last clocks
	gaps Gaps
}

// NewWatch begins to watch. The caller ends it.
func NewWatch() *Watch {
	w := &Watch{now: readClocks, stop: make(chan struct{})}
	w.last = w.now()
	w.done.Add(1)
	go func() {
		defer w.done.Done()
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
	}()
	return w
}

// look compares the clocks with their values at the last look.
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

// End ends the watch and returns the gaps that it found. It may be called again.
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
