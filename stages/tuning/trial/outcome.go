package trial

import (
	"math"
	"strconv"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/record"
)

// Ref makes a cell a trial of a tuning.
type Ref struct {
	// Tuning is its index among the searches of the plan, Number counts from 1.
	Tuning   int              `json:"tuning"`
	Number   int              `json:"number"`
	Settings []record.Setting `json:"settings"`
	// Predicted is the model's expectation of the objective, with the interval that
	// holds it with a probability of 90%; nil for trials without a model. Feasible is
	// the probability that all constraints hold.
	Predicted *float64 `json:"predicted,omitempty"`
	Low       *float64 `json:"low,omitempty"`
	High      *float64 `json:"high,omitempty"`
	Feasible  *float64 `json:"feasible,omitempty"`
}

// Constraint bounds an outcome of a trial: time, loss, accuracy or cost.
type Constraint struct {
	Outcome string   `json:"outcome"`
	Min     *float64 `json:"min,omitempty"`
	Max     *float64 `json:"max,omitempty"`
}

// Reached reports whether a value is where the bound wants it.
func (c *Constraint) Reached(v float64) bool {
	return c.Min != nil && v >= *c.Min || c.Max != nil && v <= *c.Max
}

// Reach returns the outcome of a trial with a known end only: it has reached its target (nil for none) if it ends
// there and no report before its end shows when.
func (o *Outcome) Reach(target *Constraint) *Outcome {
	if target == nil || o.Crashed != "" || o.Diverged || o.Reached != nil || !target.Reached(o.Outcome(target.Outcome)) {
		return o
	}
	reached := *o
	reached.Reached = &o.Time
	return &reached
}

// Stretch is a time in which a job that is changed while it trains had the same settings.
// Times are in seconds of service.
type Stretch struct {
	Settings []record.Setting `json:"settings"`
	From     float64          `json:"from_s"`
	To       float64          `json:"to_s"`
	// Units are the epochs (or steps) that it finished in it, and Pace the median time of
	// one; 0: not known.
	Units int     `json:"units"`
	Pace  float64 `json:"pace_s,omitempty"`
	// Cost is the time that the change before it took, Restart that it was by a new start.
	Cost    float64 `json:"change_s,omitempty"`
	Restart bool    `json:"restart,omitempty"`
	// Ignored names settings of the previous change that the program has not adopted: Settings
	// are the ones it continued with.
	Ignored string `json:"ignored,omitempty"`
	// Loss and Accuracy are the last ones. Remaining is how long the job was predicted to
	// go on when the stretch began.
	Loss      *float64 `json:"loss,omitempty"`
	Accuracy  *float64 `json:"accuracy,omitempty"`
	Remaining *float64 `json:"remaining_s,omitempty"`
}

// Outcome is the result of a trial. Unknown values are nil.
type Outcome struct {
	// Stretches are the stretches of a job that was changed while it trained.
	Stretches []Stretch `json:"stretches,omitempty"`
	// Time is the service time in seconds, Units the epochs or steps that were done.
	Time  float64 `json:"time_s"`
	Units int     `json:"units,omitempty"`
	// Loss and Accuracy are the last reports, Cost is in dollars, or in the unit
	// of a table.
	Loss     *float64 `json:"loss,omitempty"`
	Accuracy *float64 `json:"accuracy,omitempty"`
	Cost     *float64 `json:"cost,omitempty"`
	// Reached is after how many seconds of service the target was reached.
	Reached *float64 `json:"reached_s,omitempty"`
	// Diverged reports that the last loss is NaN or infinite: the trial is not the best, whatever it reached before.
	Diverged bool `json:"diverged,omitempty"`
	// Crashed is the reason that the trial has no outcome; empty for one that has.
	Crashed string `json:"crashed,omitempty"`
}

// Report takes a later report of the job, whose unknown values are NaN.
func (o *Outcome) Report(loss, accuracy float64) {
	switch {
	case math.IsInf(loss, 1):
		o.Loss, o.Diverged = nil, true
	case !math.IsNaN(loss):
		o.Loss, o.Diverged = &loss, false
	}
	if !math.IsNaN(accuracy) {
		o.Accuracy = &accuracy
	}
}

// Outcome returns an outcome of a trial by its name; NaN when it is not known.
func (o *Outcome) Outcome(name string) float64 {
	var v *float64
	switch name {
	case "time":
		return o.Time
	case "loss":
		v = o.Loss
	case "accuracy":
		v = o.Accuracy
	case "cost":
		v = o.Cost
	}
	return schema.OrNaN(v)
}

// Number is the text form of a number.
func Number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// Cell is a complete cell that is a trial; Outcome is nil where it has none.
type Cell struct {
	*record.Cell
	Trial   *Ref
	Outcome *Outcome
}

// Cells are the complete trials of an experiment.
func Cells(e *record.Experiment) (list []Cell) {
	for i := range e.Beyond {
		c := &e.Beyond[i]
		if ref := record.FeatureValueOf[Ref](c.Beyond); ref != nil {
			list = append(list, Cell{c, ref, record.FeatureValueOf[Outcome](c.Outcome)})
		}
	}
	return list
}
