package marks

import (
	"fmt"
	"math"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/experiments/schema"
)

// fitPooled predicts the pace of a run from its marks and from the marks of
// similar runs, which need not be finished: partial pooling.
//
// The clock of the marks may be coarse: a watcher that looks once per tick marks
// progress that was made some time within the tick before, its lag. For a run
// shorter than a few ticks this is nearly all of the error, and only other runs can
// reduce it. Two things are common to runs, both as far as the marks say: the pace,
// and the lag of the first mark, since a program that launches runs and their
// watchers has them begin alike. A common lag is an error that no number of runs
// averages out. Later marks of the runs, whose lags differ, separate it from the
// pace.
//
// The logarithms of the runs' paces are Student's t about the common one, with 3
// degrees of freedom, since some runs are far slower than the rest. The posterior
// of the run's own pace and first lag is summed over a grid of common paces,
// spreads and common lags. The estimate is the median of the pace; its intercept
// is the expected time that lags add from the first mark to the last.
//
// It needs two marks of the run, or others that have them; without others it differs from fitLinear by its interval alone.
func fitPooled(p Problem) (estimator.Estimate, error) {
	far := math.MaxInt32
	if moves(p.Own) {
		far = p.Own[len(p.Own)-1].Done
	}
	runs := [][]Mark{p.Own}
	for _, r := range p.Others {
		// Of longer runs, only the marks up to this run's progress.
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

// moves reports whether marks show a pace.
func moves(marks []Mark) bool {
	length, seconds := span(marks)
	return length > 0 && seconds > 0
}

// runDrift is the relative difference of the pace of the rest of a training run
// from the pace of its beginning: a standard deviation, measured on complete runs
// of distributed training, those that lost servers on the way left out.
const runDrift = 0.015

// clockDF are the degrees of freedom of an error whose spread is known.
const clockDF = 200

// upTo is the marks of the first units, and of one that is a little later: marks
// of one length of work are a few units apart from run to run.
func upTo(marks []Mark, done int) []Mark {
	n := 0
	for n < len(marks) && float64(marks[n].Done) <= float64(done)*1.02 {
		n++
	}
	return marks[:n]
}

// pool estimates the first of several runs, which may have no pace yet. The others have one.
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
		e.Intercept = g.tick/2 - lag // the last mark's lag may be any
	}
	return e
}
