package policy

import (
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// Outcome is what a strategy came to on a record of availability.
type RentalOutcome struct {
	// Done is when the work was done, Never where the record or the deadline came first.
	Done time.Duration
	Met  bool
	// Spot and OnDemand are the times that were paid on each market; Starts counts the
	// servers.
	Spot, OnDemand time.Duration
	Starts         int
	Choices        []RentalMarket // tick by tick
}

// Replay runs one job by a strategy: available says for each tick whether a spot
// server can be had in it. A tick that begins on a server is paid whole.
func ReplayRental(s scheduler.RentalStrategy, v RentalView, available func(tick int) bool) RentalOutcome {
	var out RentalOutcome
	for tick := 0; v.Done < v.Work && v.Now < v.Deadline; tick++ {
		v.Available = available(tick)
		if v.Held == Spot && !v.Available {
			v.Held = RentNothing
		}
		choice := s.Choose(v)
		if choice == Spot && !v.Available {
			choice = RentNothing
		}
		out.Choices = append(out.Choices, choice)
		if choice != v.Held && choice != RentNothing {
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
		if choice != RentNothing {
			lost := min(v.Starting, v.Tick)
			v.Starting -= lost
			v.Done += v.Tick - lost
		}
		v.Now += v.Tick
	}
	out.Done, out.Met = v.Now, v.Done >= v.Work
	return out
}
