package marks

import (
	"fmt"
	"math"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/experiments/schema"
)

// fitPooled predicts the time per unit of a run from its marks and from marks of similar runs, which need not be
// finished: partial pooling.
//
// The clock may be coarse. If a program reads the log once per tick, a mark was reached within the tick before it;
// the difference is its lag. For a run of a few ticks, lags are nearly all of the error, and only other runs can
// reduce it. Runs have two things in common: the time per unit, and perhaps the lag of the first mark, since runs and
// the programs that read their logs are often started together. An error of a common lag does not become smaller with
// more runs. Later marks, whose lags differ, separate it from the time per unit.
//
// The logarithms of the runs' times per unit have Student's t distribution with 3 degrees of freedom around the
// common one, because some runs are far slower. The posterior of the run's own time per unit and first lag is summed
// over a grid of common times, spreads and common lags. The estimate is the median; its intercept is the expected
// time that lags add between the first and the last mark.
//
// The run needs two marks, or other runs that have them. Without other runs, it differs from fitLinear only in the
// interval.
func fitPooled(p Problem) (estimator.Estimate, error) {
	far := math.MaxInt32
	if moves(p.Own) {
		far = p.Own[len(p.Own)-1].Done
	}
	runs := [][]Mark{p.Own}
	for _, r := range p.Others {
		// Longer runs are used up to this run's progress.
		if begin := upTo(r.Marks, far); moves(begin) {
			runs = append(runs, begin)
		}
	}
	if len(p.Own) == 0 || len(runs) == 1 && !moves(p.Own) {
		return estimator.Estimate{}, fmt.Errorf("fit pooled: the speed needs two marks, one later and further than the other: "+
			"%w", estimator.ErrUnfit)
	}
	return pool(runs, p.Tick), nil
}

// moves reports whether marks show progress over time, so that a time per unit follows.
func moves(marks []Mark) bool {
	length, seconds := span(marks)
	return length > 0 && seconds > 0
}

// runDrift is the relative standard deviation between the time per unit in the rest of a training run and in its
// beginning. It was measured on complete runs of distributed training that lost no servers.
const runDrift = 0.015

// clockDF is the number of degrees of freedom of an error whose spread is known.
const clockDF = 200

// upTo returns the marks up to done units and one a little later, because marks of different runs can be a few units
// apart.
func upTo(marks []Mark, done int) []Mark {
	n := 0
	for n < len(marks) && float64(marks[n].Done) <= float64(done)*1.02 {
		n++
	}
	return marks[:n]
}

// pool estimates the first of several runs. The first may have no time per unit yet; the others must.
func pool(runs [][]Mark, tick float64) estimator.Estimate {
	assumed := false
	if tick == 0 {
		tick, assumed = clockOf(runs)
	}
	g := newGrid(runs, tick)
	e := estimator.Estimate{PaceSD: runDrift, DF: clockDF, InterceptSE: g.tick / math.Sqrt(12)}
	switch {
	case assumed:
		e.Warnings = append(e.Warnings, assumedClock)
	case tick == 0 && len(runs[0]) < 3:
		e.Warnings = append(e.Warnings, fewMarks)
	}
	if len(runs) == 1 {
		length, seconds := span(runs[0])
		e.Slope = seconds / length
		e.SlopeSE = math.Min(g.noise(runs[0]), seconds) / math.Sqrt(6) / length
		return e
	}
	likely := schema.Each(runs, g.likely)
	var lag float64
	e.Slope, e.SlopeSE, lag = g.center(g.posterior(likely))
	if g.tick > 0 {
		e.Intercept = g.tick/2 - lag // the last mark can have any lag
	}
	return e
}
