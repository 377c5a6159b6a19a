package profile

import (
	"context"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/stages"
)

// Where samples say little, because the machine is not steady, they are taken again: in so many rounds at most, as far
// as all samples take no more than a part of what the real cells are predicted to take. A file that says how often
// samples are taken, or how much time they may take, is followed.
const (
	mostRounds  = 6
	againBudget = 0.03
)

// again takes the longest sample once more of each unit whose samples say little, round after round: the machine is
// slow
// for moments, which the samples of one unit shall not meet alone.
func (s *sampling) again(ctx context.Context) error {
	unsteady := func(i int, u *stages.Unit) bool {
		return s.pieces[i].Make && u.Repeats == 1 && (u.Total > 0 || u.Copies > 0) && estimator.SayLittle(s.taken[i])
	}
	wanted := false
	for i, u := range s.units {
		wanted = wanted || unsteady(i, u)
	}
	if !wanted {
		return nil
	}
	cells, err := s.PredictReal(ctx)
	if err != nil {
		return err
	}
	room := againBudget*cells.Seconds() - s.cost()
	more := make([]bool, len(s.units))
	for round := range mostRounds {
		for i, u := range s.units {
			t := task{unit: i, length: u.Lengths[len(u.Lengths)-1], rank: len(u.Lengths) + mostLonger + round}
			if !unsteady(i, u) || s.guess(t) > room {
				continue
			}
			sample, err := s.one(ctx, u, t)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil { // those that there are suffice
				return s.record(more)
			}
			s.taken[i], more[i] = append(s.taken[i], sample), true
			room -= sample.Cost
		}
	}
	return s.record(more)
}

// record keeps the samples of some units anew.
func (s *sampling) record(units []bool) error {
	for i := range units {
		if units[i] {
			if _, err := s.put(i); err != nil {
				return err
			}
		}
	}
	return nil
}
