// Package provision decides from which market a job's server comes, tick by tick, when
// spot servers are cheap and go away: the choice "provisioning" of a policy. The job
// must be done by a deadline; each start on another server costs a fixed overhead.
package provision

import (
	"math"
	"time"
)

// Market is where a server comes from.
type Market int

// The markets. Nothing is to wait without a server.
const (
	Nothing Market = iota
	Spot
	OnDemand
)

// View is what a strategy knows at the beginning of a tick.
type View struct {
	// Now is the time since the job arrived, which is to be done within Deadline.
	Now, Deadline time.Duration
	// Work is the job's length on a server; Done is what is done of it.
	Work, Done time.Duration
	// Overhead is what a start costs; Starting is what is left of the last one.
	Overhead, Starting time.Duration
	// Tick is the time between decisions.
	Tick time.Duration
	// Held is the market of the server that is held. A spot server that has been
	// taken away is held no more.
	Held Market
	// Available says that a spot server can be had.
	Available bool
}

// left returns the work that is left.
func (v View) left() time.Duration { return v.Work - v.Done }

// behind returns how far the job is behind uniform progress at an instant: a job that
// progresses evenly has done t·Work/Deadline by then.
func (v View) behind(t time.Duration) float64 {
	return float64(t)*float64(v.Work)/float64(v.Deadline) - float64(v.Done)
}

// short reports whether the ticks that a length takes are as many as those that are
// left to the deadline.
func (v View) short(length time.Duration) bool {
	return math.Ceil(float64(length)/float64(v.Tick)) >= math.Floor(float64(v.Deadline-v.Now)/float64(v.Tick))
}

// Strategy chooses the market of the coming tick. It must not choose Spot where there
// is none. Strategies are deterministic, and see no future.
type Strategy interface {
	Choose(v View) Market
}

// Func is a strategy that keeps nothing between ticks.
type Func func(v View) Market

// Choose implements Strategy.
func (f Func) Choose(v View) Market { return f(v) }

// Always is on demand from the first tick to the last.
func Always(View) Market { return OnDemand }

// SpotOnly takes spot servers whenever there are any, and nothing else: it can miss the
// deadline.
func SpotOnly(v View) Market {
	if v.Available {
		return Spot
	}
	return Nothing
}

// Greedy takes spot servers while it can, and waits without one as long as the deadline
// allows (Z. Wu and others, Can't Be Late, 2024).
func Greedy(v View) Market {
	choice := SpotOnly(v)
	return v.inTime(choice)
}

// inTime changes a choice that would miss the deadline: without a spot server in time
// for two more starts the job goes on demand, and with time for one it keeps only a
// spot server that has started.
func (v View) inTime(choice Market) Market {
	if v.short(v.left()+2*v.Overhead) && v.Held != Spot {
		choice = OnDemand
	}
	if v.short(v.left() + v.Overhead) {
		choice = OnDemand
		if v.Held == Spot && v.Available && v.Starting <= 0 {
			choice = Spot
		}
	}
	return choice
}

// UniformProgress goes on demand where the job is behind even progress to the deadline
// and there is no spot server, and stays there until it is ahead by two starts (Z. Wu
// and others, Can't Be Late, 2024).
func UniformProgress(v View) Market {
	choice := SpotOnly(v)
	if v.behind(v.Now) > 0 && !v.Available {
		choice = OnDemand
	}
	if v.Held == OnDemand {
		if !v.Available || v.behind(v.Now+2*v.Overhead) >= 0 {
			choice = OnDemand
		}
	}
	return v.inTime(choice)
}
