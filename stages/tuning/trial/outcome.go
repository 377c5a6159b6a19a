package trial

import (
	"math"
	"strconv"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/record"
)

// Ref identifies a cell as a trial of a tuning.
type Ref struct {
	// Tuning is the index of the search in the plan. Number is the trial's number within its search, from 1.
	Tuning   int              `json:"tuning"`
	Number   int              `json:"number"`
	Settings []record.Setting `json:"settings"`
	// Predicted is the model's mean of the objective, and Low to High its 90% interval. Feasible is the probability
	// that all constraints hold. All are nil for trials that no model chose.
	Predicted *float64 `json:"predicted,omitempty"`
	Low       *float64 `json:"low,omitempty"`
	High      *float64 `json:"high,omitempty"`
	Feasible  *float64 `json:"feasible,omitempty"`
}

// Constraint is a bound on an outcome of a trial: time, loss, accuracy or cost.
type Constraint struct {
	Outcome string   `json:"outcome"`
	Min     *float64 `json:"min,omitempty"`
	Max     *float64 `json:"max,omitempty"`
}

// Reached reports whether a value keeps the bound.
func (c *Constraint) Reached(v float64) bool {
	return c.Min != nil && v >= *c.Min || c.Max != nil && v <= *c.Max
}

// Reach completes the outcome of a trial if only its end is known. If the outcome reaches the target, Reached is
// the trial's time. A nil target changes nothing.
func (o *Outcome) Reach(target *Constraint) *Outcome {
	if target == nil || o.Crashed != "" || o.Diverged || o.Reached != nil || !target.Reached(o.Outcome(target.Outcome)) {
		return o
	}
	reached := *o
	reached.Reached = &o.Time
	return &reached
}

// Stretch is a period in which the settings of a job that is tuned while it trains did not change. Times are in seconds
// of service.
type Stretch struct {
	Settings []record.Setting `json:"settings"`
	From     float64          `json:"from_s"`
	To       float64          `json:"to_s"`
	// Units is the number of epochs (or steps) finished in the period. Pace is the median time of one; 0 if unknown.
	Units int     `json:"units"`
	Pace  float64 `json:"pace_s,omitempty"`
	// Cost is the time that the change before the period took. Restart reports whether the program was restarted for
	// it.
	Cost    float64 `json:"change_s,omitempty"`
	Restart bool    `json:"restart,omitempty"`
	// Ignored names settings of the previous change that the program did not adopt. Settings has the values with which
	// the program continued.
	Ignored string `json:"ignored,omitempty"`
	// Loss and Accuracy are the last reported values. Remaining is the remaining time of the job that was predicted
	// when the period began.
	Loss      *float64 `json:"loss,omitempty"`
	Accuracy  *float64 `json:"accuracy,omitempty"`
	Remaining *float64 `json:"remaining_s,omitempty"`
}

// Outcome is the result of a trial. A nil value is unknown.
type Outcome struct {
	// Stretches are the periods between changes of a job that was tuned while it trained; empty for other trials.
	Stretches []Stretch `json:"stretches,omitempty"`
	// Time is the service time in seconds. Units is the number of finished epochs or steps.
	Time  float64 `json:"time_s"`
	Units int     `json:"units,omitempty"`
	// Loss and Accuracy are the last reported values. Cost is in the currency of the experiment, or in the unit of a
	// table.
	Loss     *float64 `json:"loss,omitempty"`
	Accuracy *float64 `json:"accuracy,omitempty"`
	Cost     *float64 `json:"cost,omitempty"`
	// Reached is the service time in seconds until the target was reached; nil if it was not.
	Reached *float64 `json:"reached_s,omitempty"`
	// Diverged reports whether the last loss is NaN or infinite. Such a trial is never the best, even if it reached its
	// target before.
	Diverged bool `json:"diverged,omitempty"`
	// Crashed is the reason why the trial has no outcome; empty if it has an outcome.
	Crashed string `json:"crashed,omitempty"`
}

// Report sets the outcome to the values of a later report. NaN means that the report lacks the value.
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

// Outcome returns the value of an outcome by its name; NaN if it is unknown.
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

// Number returns a number as text.
func Number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// Cell is a finished cell that is a trial. Outcome is nil if the trial has no outcome.
type Cell struct {
	*record.Cell
	Trial   *Ref
	Outcome *Outcome
}

// Cells returns the finished trials of an experiment.
func Cells(e *record.Experiment) (list []Cell) {
	for i := range e.Beyond {
		c := &e.Beyond[i]
		if ref := record.FeatureValueOf[Ref](c.Beyond); ref != nil {
			list = append(list, Cell{c, ref, record.FeatureValueOf[Outcome](c.Outcome)})
		}
	}
	return list
}
