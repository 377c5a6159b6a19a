// Package marks predicts the run time of a training from the rows of its log alone: how many units were finished
// when, by a clock that may be coarse.
package marks

import (
	"fmt"
	"slices"

	"github.com/tfexp/tfexp/estimator"
)

// Mark is a row of a run's log: Done units were finished At seconds after the first row.
type Mark struct {
	Done int     `json:"done"`
	At   float64 `json:"at_s"`
}

// Run is another run of the same job. It may still run.
type Run struct {
	Marks []Mark
	// Length is the number of units of work. Seconds is the time from the first mark to the end; 0 for a run that has
	// not finished.
	Length  int
	Seconds float64
}

// Problem is the input of a model: one run, and other runs.
type Problem struct {
	Own    []Mark
	Others []Run
	// Tick is the resolution of the clock in seconds: the progress of a mark was reached at most one tick before it,
	// as when a program reads the log once a minute. 0 means that it is estimated.
	Tick float64
}

// models are all models, in the order of the documentation. Only marks have the model pooled.
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

// Fit returns the estimate of a run by a model. known is false if there is no such model for marks.
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

// fitHistory predicts a run from finished runs that began similarly (see alike). With few finished runs, it treats
// the run as one more run like them (see pool). Runs that were far slower than the others have little weight.
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

// fitAuto uses the model history, which uses the most data, and pooled if that fails.
func fitAuto(p Problem) (estimator.Estimate, error) {
	e, err := fitHistory(p)
	if e.Model = "history"; err != nil {
		e, err = fitPooled(p)
		e.Model = Pooled
	}
	return e, err
}

func square(x float64) float64 { return x * x }
