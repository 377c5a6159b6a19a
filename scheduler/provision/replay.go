package provision

import (
	"time"

	"github.com/tfexp/tfexp/scheduler/rental"
)

// Outcome is what a strategy came to on a record of availability.
type Outcome struct {
	// Done is when the work was done, Never where the record or the deadline came first.
	Done time.Duration
	Met  bool
	// Spot and OnDemand are the times that were paid on each market; Starts counts the
	// servers.
	Spot, OnDemand time.Duration
	Starts         int
	Choices        []Market // tick by tick
}

// Replay runs one job by a strategy: available says for each tick whether a spot
// server can be had in it. A tick that begins on a server is paid whole.
func Replay(s rental.Strategy, v View, available func(tick int) bool) Outcome {
	var out Outcome
	for tick := 0; v.Done < v.Work && v.Now < v.Deadline; tick++ {
		v.Available = available(tick)
		if v.Held == Spot && !v.Available {
			v.Held = Nothing
		}
		choice := s.Choose(v)
		if choice == Spot && !v.Available {
			choice = Nothing
		}
		out.Choices = append(out.Choices, choice)
		if choice != v.Held && choice != Nothing {
			v.Starting = v.Overhead
			out.Starts++
		}
		v.Held = choice
		switch choice {
		case Spot:
			out.Spot += v.Tick
		case OnDemand:
			out.OnDemand += v.Tick
		}
		if choice != Nothing {
			lost := min(v.Starting, v.Tick)
			v.Starting -= lost
			v.Done += v.Tick - lost
		}
		v.Now += v.Tick
	}
	out.Done, out.Met = v.Now, v.Done >= v.Work
	return out
}
