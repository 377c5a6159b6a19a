package strategies_test

import (
	"time"

	"github.com/tfexp/tfexp/stages/servers/rental"
)

// rentalOutcome is the result of a strategy on a record of availability.
type rentalOutcome struct {
	// Done is when the work was done, Never where the record or the deadline came first.
	Done time.Duration
	Met  bool
	// Spot and OnDemand are the times that were paid on each market; Starts counts the
	// servers.
	Spot, OnDemand time.Duration
	Starts         int
	Choices        []rental.Market // tick by tick
}

// replayRental runs one job by a strategy: available says for each tick whether a spot
// server can be had in it. A tick that begins on a server is paid whole.
func replayRental(s rental.Strategy, v rental.View, available func(tick int) bool) rentalOutcome {
	var out rentalOutcome
	for tick := 0; v.Done < v.Work && v.Now < v.Deadline; tick++ {
		v.Available = available(tick)
		if n := len(v.Spells); n == 0 || v.Spells[n-1].Available != v.Available {
			v.Spells = append(v.Spells, rental.Availability{Available: v.Available})
		}
		if v.Held == rental.Spot && !v.Available {
			v.Held = rental.Nothing
		}
		choice := s.Choose(v)
		if choice == rental.Spot && !v.Available {
			choice = rental.Nothing
		}
		out.Choices = append(out.Choices, choice)
		if choice != v.Held && choice != rental.Nothing {
			v.Starting = v.Overhead
			out.Starts++
		}
		v.Held = choice
		switch choice {
		case rental.Spot:
			out.Spot += v.Tick
		case rental.OnDemand:
			out.OnDemand += v.Tick
		}
		if choice != rental.Nothing {
			lost := min(v.Starting, v.Tick)
			v.Starting -= lost
			v.Done += v.Tick - lost
		}
		v.Now += v.Tick
		v.Spells[len(v.Spells)-1].Length += v.Tick
	}
	out.Done, out.Met = v.Now, v.Done >= v.Work
	return out
}
