package train

import (
	"os"
	"os/signal"
	"sync"
	"time"

	"github.com/tfexp/tfexp/jobs/contract"
)

// beat is the interval at which a clock looks, and so its precision about stops
// of the process.
const beat = 10 * time.Millisecond

// clock measures service time: the time since its beginning in which the
// process was not stopped by SIGSTOP.
type clock struct {
	begin time.Time
	end   chan struct{} // closed by close; nil while the clock does not watch

	mu      sync.Mutex // guards what follows
	last    time.Time  // the last beat
	stopped time.Duration
}

// newClock returns a clock that began at begin. Until it watches for stops, it
// counts all time.
func newClock(begin time.Time) *clock { return &clock{begin: begin} }

// watchStops lets the clock watch for stops from now on.
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

// close ends the watch.
func (c *clock) close() {
	if c.end != nil {
		close(c.end)
		c.end = nil
		c.mu.Lock()
		c.last = time.Time{}
		c.mu.Unlock()
	}
}

// watch keeps the instant of the last beat. When the process continues after a
// stop, the stop lasted since that beat.
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
		// A long time since the last beat: after a stop the signal comes too. A
		// wait that took far longer was itself stopped.
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

// The activity of a process since the last beat.
const (
	trained = iota
	stopped
	unknown // trained, if it is not too long
)

// beat counts the time since the last beat. It reports whether it did: a long
// interval of unknown activity is not counted.
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

// service is the service time since the clock began. Long after the last beat it
// waits shortly for the watch: if the process was stopped, the signal to continue
// is about to arrive. Otherwise only its threads have waited for a core.
func (c *clock) service() time.Duration {
	d, _ := c.at()
	return d
}

// at returns the service time, and the instant for which it holds.
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

// patience is for how many milliseconds service waits for news of a stop.
const patience = 3

// budget is the service time that a training has. The zero value is without end.
type budget struct {
	clock *clock
	used  time.Duration // by the attempts before
	set   bool
	whole time.Duration // 0: not known
	end   time.Duration // on the clock
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

// leftAt returns the remaining budget, and the instant for which it holds.
func (b *budget) leftAt() (time.Duration, time.Time) {
	used, instant := b.clock.at()
	return max(b.end-used, 0), instant
}

// trained is the service time of all attempts so far: as the scheduler counts it, if the scheduler has sent the
// remaining budget.
func (b *budget) trained() time.Duration {
	if b.set && b.whole > 0 {
		return b.whole - (b.end - b.clock.service())
	}
	return b.used + b.clock.service()
}

// spent reports whether the budget is used up.
func (b *budget) spent() bool { return b.set && b.left() == 0 }

// follow applies a message about the budget. The time left holds for the moment
// when the message was written.
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
