package train

import (
	"os"
	"os/signal"
	"sync"
	"time"

	"github.com/tfexp/tfexp/jobs/contract"
)

// beat is the interval at which a clock checks for stops. It is the precision of the time of a stop.
const beat = 10 * time.Millisecond

// clock measures service time: the time since its start, without the time in which the process was stopped by SIGSTOP.
type clock struct {
	begin time.Time
	end   chan struct{} // closed by close; nil until the clock watches for stops

	mu      sync.Mutex // guards the fields below
	last    time.Time  // time of the last check
	stopped time.Duration
}

// newClock returns a clock that started at begin. Until watchStops is called, it counts stops as service time.
func newClock(begin time.Time) *clock { return &clock{begin: begin} }

// watchStops starts to watch for stops of the process.
func (c *clock) watchStops() {
	if c.end != nil {
		return
	}
	c.end = make(chan struct{})
	c.beat(trained)
	continued := make(chan os.Signal, 1)
	notifyContinued(continued)
	go func(end <-chan struct{}) {
		defer signal.Stop(continued)
		c.watch(continued, end)
	}(c.end)
}

// close ends the watch for stops.
func (c *clock) close() {
	if c.end != nil {
		close(c.end)
		c.end = nil
		c.mu.Lock()
		c.last = time.Time{}
		c.mu.Unlock()
	}
}

// watch checks every beat that the process is running. When the signal SIGCONT arrives, the process was stopped from
// the last check until now.
func (c *clock) watch(continued <-chan os.Signal, end <-chan struct{}) {
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	for {
		select {
		case <-continued:
			c.beat(stopped)
			continue
		case <-end:
			return
		case <-ticker.C:
		}
		if c.beat(unknown) {
			continue
		}
		// The last check was long ago. If the process was stopped, SIGCONT arrives soon. If the wait for it took much
		// too long, the process was stopped during the wait, so it waits again.
		for waits := true; waits; {
			begin := time.Now()
			select {
			case <-continued:
				c.beat(stopped)
				waits = false
			case <-time.After(2 * beat):
				if waits = time.Since(begin) > 6*beat; !waits {
					c.beat(trained)
				}
			case <-end:
				return
			}
		}
	}
}

// The activity of a process since the last check.
const (
	trained = iota
	stopped
	unknown // counts as trained if the interval is short
)

// beat adds the time since the last check to the service time or to the stops. It returns false and adds nothing if the
// activity is unknown and the interval is long.
func (c *clock) beat(did int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	gap := now.Sub(c.last)
	if did == unknown && gap > 3*beat {
		return false
	}
	if did == stopped {
		c.stopped += gap
	}
	c.last = now
	return true
}

// service returns the service time since the start. If the last check was long ago, the process may have been stopped;
// service then waits a few milliseconds for SIGCONT to be handled. If it does not come, the threads were only waiting
// for a core.
func (c *clock) service() time.Duration {
	d, _ := c.at()
	return d
}

// at returns the service time, and the time of day at which it was measured.
func (c *clock) at() (time.Duration, time.Time) {
	for waited := 0; ; waited++ {
		c.mu.Lock()
		now := time.Now()
		late := !c.last.IsZero() && now.Sub(c.last) > 3*beat
		if !late || waited == patience {
			if late {
				c.last = now
			}
			d := now.Sub(c.begin) - c.stopped
			c.mu.Unlock()
			return d, now
		}
		c.mu.Unlock()
		time.Sleep(time.Millisecond)
	}
}

// patience is the number of milliseconds for which service waits for a signal that the process was stopped.
const patience = 3

// budget is the service time that a training can use. The zero value has no end.
type budget struct {
	clock *clock
	used  time.Duration // by earlier attempts
	set   bool
	whole time.Duration // 0 if it is unknown
	end   time.Duration // end of the budget, on the clock
}

// of sets the whole budget. Earlier attempts may have used a part of it.
func (b *budget) of(whole time.Duration) {
	b.clock.watchStops()
	b.set, b.whole, b.end = true, whole, whole-b.used
}

// left returns the remaining budget.
func (b *budget) left() time.Duration {
	left, _ := b.leftAt()
	return left
}

// leftAt returns the remaining budget, and the time of day at which it was measured.
func (b *budget) leftAt() (time.Duration, time.Time) {
	used, instant := b.clock.at()
	return max(b.end-used, 0), instant
}

// trained returns the service time of all attempts so far. If the scheduler has sent the remaining budget, this is the
// time by the scheduler's clock.
func (b *budget) trained() time.Duration {
	if b.set && b.whole > 0 {
		return b.whole - (b.end - b.clock.service())
	}
	return b.used + b.clock.service()
}

// spent reports whether the budget is used up.
func (b *budget) spent() bool { return b.set && b.left() == 0 }

// follow applies a message about the budget. The remaining budget in it is from the time at which the message was
// written.
func (b *budget) follow(m contract.Message) {
	if m.Budget != nil {
		b.of(contract.Seconds(*m.Budget))
	}
	if m.TimeLeft != nil {
		b.clock.watchStops()
		now, instant := b.clock.at()
		age := min(max(instant.Sub(m.Written), 0), now)
		b.set, b.end = true, now-age+contract.Seconds(*m.TimeLeft)
	}
}
