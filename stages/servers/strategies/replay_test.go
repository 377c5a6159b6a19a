package strategies_test

import (
	"time"

	"github.com/tfexp/tfexp/stages/servers/rental"
)

// rentalOutcome is the result of a strategy on a record of availability.
type rentalOutcome struct {
	// Done is the time at which the work was done; Never if the record or the deadline ended first.
	Done time.Duration
	Met  bool
	// Spot and OnDemand are the paid times in each market. Starts is the number of servers.
	Spot, OnDemand time.Duration
	Starts         int
	Choices        []rental.Market // tick by tick
}

// replayRental runs one job by a strategy. available reports for each tick whether a spot server is available. A tick
// that begins with a server is paid completely.
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
