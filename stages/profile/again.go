package profile

import (
	"context"
	"slices"

	"github.com/tfexp/tfexp/estimator"
)

// Where samples say little, because the machine is not steady, all are taken again: in so many rounds at most, as far as
// all samples take no more than a part of what the real cells are predicted to take. A file that says how often
// samples are taken, or how much time they may take, is followed.
const (
	mostRounds  = 6
	againBudget = 0.03
)

// again takes the longest sample of each unit once more, round after round, as long as the samples of one say little:
// the machine is slow for moments, and those units whose few samples agree may have met one such moment, or none.
func (s *sampling) again(ctx context.Context) error {
	var units []int
	for i, u := range s.units {
		if s.pieces[i].Make && u.Repeats == 1 && (u.Total > 0 || u.Copies > 0) && len(s.taken[i]) > 0 {
			units = append(units, i)
		}
	}
	unsteady := func() bool {
		return slices.ContainsFunc(units, func(i int) bool { return estimator.SayLittle(s.taken[i]) })
	}
	if !unsteady() {
		return nil
	}
	cells, err := s.PredictReal(ctx)
	if err != nil {
		return err
	}
	room := againBudget*cells.Seconds() - s.cost()
	more := make([]bool, len(s.units))
	for round := 0; round < mostRounds && unsteady(); round++ {
		for _, i := range units {
			u := s.units[i]
			t := task{unit: i, length: u.Lengths[len(u.Lengths)-1], rank: len(u.Lengths) + mostLonger + round}
			if s.guess(t) > room {
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
