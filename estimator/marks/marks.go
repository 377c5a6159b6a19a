// Package marks predicts the run time of a training from the rows of its log alone: the finished units and their times, by
// a clock that may be coarse.
package marks

import (
	"fmt"
	"slices"

	"github.com/tfexp/tfexp/estimator"
)

// Mark says that Done units were finished At seconds after the run's first mark,
// according to its log.
type Mark struct {
	Done int     `json:"done"`
	At   float64 `json:"at_s"`
}

// Run is another run of the same job, which may still be under way.
type Run struct {
	Marks []Mark
	// Length is in units of work, Seconds the time from the first mark to the end; 0 of a run that is not finished.
	Length  int
	Seconds float64
}

// Problem is the input of a model: one run, and other runs.
type Problem struct {
	Own    []Mark
	Others []Run
	// Tick is the resolution of the clock of all marks, in seconds: the progress of a mark was reached up to one tick before
	// it (for example with a watcher that looks once a minute). With 0 it is estimated.
	Tick float64
}

// models has the models, in the order of the documentation. Pooled is one that only marks have.
var models = []struct {
	name string
	fit  func(Problem) (estimator.Estimate, error)
}{
	{"linear", func(p Problem) (estimator.Estimate, error) { return fitLinear(p.Own, p.Tick) }},
	{Pooled, fitPooled},
	{"history", fitHistory},
	{"auto", fitAuto},
}

// Pooled is the name of the model that combines a run with other unfinished runs.
const Pooled = "pooled"

// Fit returns the estimate of a run by a model; known is false where marks do not have this model.
func Fit(model string, p Problem) (e estimator.Estimate, known bool, err error) {
	for _, m := range models {
		if m.name == model {
			e, err = m.fit(p)
			if e.Model == "" {
				e.Model = model
			}
			return e, true, err
		}
	}
	return e, false, nil
}

// fitHistory predicts a run from finished runs that began like it (see alike). With few finished runs it treats the run
// as one more draw from them (see pool). A run that was far slower than the others has little weight.
func fitHistory(p Problem) (estimator.Estimate, error) {
	var past []Run
	runs := [][]Mark{p.Own}
	for _, r := range p.Others {
		if r.Seconds > 0 && r.Length > 0 {
			past = append(past, r)
		}
		if moves(r.Marks) {
			runs = append(runs, r.Marks)
		}
	}
	if moves(p.Own) {
		if e, ok := alike(p.Own, past); ok {
			return e, nil
		}
	}
	whole := slices.ContainsFunc(past, func(r Run) bool { return moves(r.Marks) })
	if len(p.Own) == 0 || !whole {
		return estimator.Estimate{}, fmt.Errorf("fit history: no finished run of this job: %w", estimator.ErrUnfit)
	}
	return pool(runs, p.Tick), nil
}

// fitAuto fits history, which uses the most data, or else pooled.
func fitAuto(p Problem) (estimator.Estimate, error) {
	e, err := fitHistory(p)
	if e.Model = "history"; err != nil {
		e, err = fitPooled(p)
		e.Model = Pooled
	}
	return e, err
}

func square(x float64) float64 { return x * x }
