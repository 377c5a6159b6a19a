package watch

import (
	"math"
	"slices"
	"time"

	"github.com/tfexp/tfexp/results/record"
)

// mostNamed is the number of cells that a warning names.
const mostNamed = 2

// remainingTime estimates the remaining time of the cells. A running cell takes as long as its progress says, another
// one as the cells of its variant did. Else it takes its estimate, corrected by the errors of others and by the time
// of the running one, or else the average of all cells.
func (x *experiment) remainingTime() *float64 {
	type sum struct{ seconds, predicted, n float64 }
	var all sum
	variants := map[string]sum{}
	place := func(c record.CellRef) string { return c.Workload + "/" + c.Hardware + "/" + c.Variant() }
	for _, c := range x.plan.Cells {
		if e := x.done[c.Cell]; x.complete(c) && e.seconds > 0 {
			v := variants[place(c)]
			variants[place(c)] = sum{v.seconds + e.seconds, 0, v.n + 1}
			all.seconds, all.n = all.seconds+e.seconds, all.n+1
			if c.PredictedSeconds > 0 {
				all.predicted += c.PredictedSeconds
			}
		}
	}
	off := 1.0
	if all.predicted > 0 {
		off = all.seconds / all.predicted
	}
	for _, c := range x.plan.Cells { // a cell that takes longer than predicted says so of the others
		if ran, left, _ := x.runningCellTimes(c.Cell); c.PredictedSeconds > 0 {
			off = max(off, (ran+left)/c.PredictedSeconds)
		}
	}
	total, open := 0.0, 0
	for _, c := range x.plan.Cells {
		if x.complete(c) {
			continue
		}
		open++
		expected := 0.0
		switch v := variants[place(c)]; {
		case v.n > 0:
			expected = v.seconds / v.n
		case c.PredictedSeconds > 0 && c.Real():
			expected = c.PredictedSeconds * off
		case all.n > 0:
			expected = all.seconds / all.n
		default:
			return nil
		}
		ran, left, known := x.runningCellTimes(c.Cell)
		if !known {
			left = max(0, expected-ran)
		}
		total += left
	}
	if open == 0 {
		return nil
	}
	if side := x.parallelCells(); side > 1 {
		total /= side
	}
	total = max(1, math.Ceil(total))
	return &total
}

// runningCellTimes returns how long a cell has run, and how long it still runs if its progress says so.
func (x *experiment) runningCellTimes(cell string) (ran, left float64, known bool) {
	since, runs := x.now[cell]
	if !runs {
		return 0, 0, false
	}
	ran = time.Since(since).Seconds()
	if s := x.stands[cell]; s != nil && s.last != nil {
		rest, known := s.last.Left()
		return ran, max(0, (rest - time.Since(s.read)).Seconds()), known
	}
	return ran, 0, false
}

// parallelCells is how many cells have run at a time, on average over this run.
func (x *experiment) parallelCells() float64 {
	real := slices.ContainsFunc(x.plan.Cells, func(c record.CellRef) bool { return c.Real() })
	if real || x.first.IsZero() || x.ran == 0 {
		return 1
	}
	return max(1, float64(len(x.now)))
}
