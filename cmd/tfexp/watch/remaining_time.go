package watch

import (
	"math"
	"time"

	"github.com/tfexp/tfexp/estimator"
)

// mostNamed is the largest number of cells that a warning names.
const mostNamed = 2

// remainingTime predicts the remaining time of the run's cells. Real cells run after simulated ones, so both
// predictions are added. It returns nil if no cell is left or the time is unknown.
func (x *experiment) remainingTime() *estimator.Prediction {
	var all [2][]estimator.CellTime // index 0: real cells; 1: simulated cells
	var running [2]float64
	open := false
	for _, c := range x.plan.Cells {
		simulated := 0
		t := estimator.CellTime{Kind: c.Workload + "/" + c.Hardware + "/" + c.Variant(), Predicted: c.PredictedSeconds}
		if !c.Real() {
			simulated, t.Predicted = 1, 0
		}
		if e := x.done[c.Cell]; x.complete(c) {
			t.Took, t.Earlier = max(e.seconds, leastCell), e.began.Before(x.began)
		} else {
			open = true
			if t.Ran, t.Left, t.Reports = x.runningCellTimes(c.Cell); t.Ran > 0 {
				running[simulated]++
			}
		}
		all[simulated] = append(all[simulated], t)
	}
	var total estimator.Prediction
	for i, cells := range all {
		for n := range cells {
			cells[n].Beside = running[i]
		}
		p, known := estimator.RemainingTime(cells, rangeLevel)
		if !known {
			return nil
		}
		total = estimator.Prediction{Seconds: total.Seconds + p.Seconds, Low: total.Low + p.Low, High: total.High + p.High}
	}
	if !open {
		return nil
	}
	for _, s := range []*float64{&total.Seconds, &total.Low, &total.High} {
		*s = max(1, math.Ceil(*s))
	}
	return &total
}

// rangeLevel is the level of the predicted interval. leastCell is the least time of a cell in seconds.
const (
	rangeLevel = 0.9
	leastCell  = 1e-6
)

// runningCellTimes returns how long a cell has run, in seconds. left is its remaining time according to its progress;
// known is false if that is unknown.
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
