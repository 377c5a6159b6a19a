package record

import (
	"math"

	"github.com/tfexp/tfexp/results/tell"
)

// Remaining is there only where jobs have a target loss.
var Remaining = tell.Register[RemainingRow]("remaining.csv", nil)

// RemainingRow is a row of remaining.csv: when a job would reach its target loss, as
// a model predicted after a part of the run. Units are epochs, or steps.
type RemainingRow struct {
	Cell   string  `csv:"cell"`
	Job    string  `csv:"job"`
	Class  string  `csv:"class"`
	Target float64 `csv:"target_loss"`
	// Reached reports whether the job reached it; Loss is its last.
	Reached bool    `csv:"reached"`
	Loss    float64 `csv:"last_loss"`
	Model   string  `csv:"model"`
	// Part is the part of the run after which it was predicted, Done the units
	// until then.
	Part float64 `csv:"part"`
	Done int     `csv:"done"`
	// Predicted, with its interval Low to High, and Actual are the units from there
	// to the target. High is NaN when it may never be reached, Actual when it was
	// not.
	Predicted float64 `csv:"predicted"`
	Low       float64 `csv:"low"`
	High      float64 `csv:"high"`
	Level     float64 `csv:"level"` // of the interval
	// Never is the predicted chance that the job ends before its target.
	Never  float64 `csv:"never"`
	Actual float64 `csv:"actual"`
	// ErrorPct is (predicted − actual) / actual.
	ErrorPct float64 `csv:"error_pct"`
	Covered  bool    `csv:"covered"` // Actual is in the interval
	// PredictedSeconds and ActualSeconds are the same in service time.
	PredictedSeconds float64 `csv:"predicted_s,time"`
	ActualSeconds    float64 `csv:"actual_s,time"`
}

// Seconds converts units to service time, as it was predicted; NaN units, without
// an end, are the largest number.
func (r RemainingRow) Seconds(units float64) float64 {
	if math.IsNaN(units) {
		return math.MaxFloat64
	}
	return units * r.PredictedSeconds / r.Predicted
}
