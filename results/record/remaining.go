package record

import (
	"math"
	"path/filepath"

	"github.com/tfexp/tfexp/results/table"
)

// RemainingRow is a row of remaining.csv: when a job would reach its target loss, as
// a model predicted after a part of the run. Units are epochs, or steps.
type RemainingRow struct {
	Cell, Job, Class string
	Target           float64
	// Reached reports whether the job reached it; Loss is its last.
	Reached bool
	Loss    float64
	Model   string
	// Part is the part of the run after which it was predicted, Done the units
	// until then.
	Part float64
	Done int
	// Predicted, with its interval Low to High, and Actual are the units from there
	// to the target. High is NaN when it may never be reached, Actual when it was
	// not.
	Predicted, Low, High, Actual float64
	Level                        float64 // of the interval
	// Never is the predicted chance that the job ends before its target.
	Never float64
	// ErrorPct is (predicted − actual) / actual.
	ErrorPct float64
	Covered  bool // Actual is in the interval
	// PredictedSeconds and ActualSeconds are the same in service time.
	PredictedSeconds, ActualSeconds float64
}

// Seconds converts units to service time, as it was predicted; NaN units, without
// an end, are the largest number.
func (r RemainingRow) Seconds(units float64) float64 {
	if math.IsNaN(units) {
		return math.MaxFloat64
	}
	return units * r.PredictedSeconds / r.Predicted
}

var remainingColumns = []table.Column[RemainingRow]{
	table.Text("cell", func(r *RemainingRow) *string { return &r.Cell }),
	table.Text("job", func(r *RemainingRow) *string { return &r.Job }),
	table.Text("class", func(r *RemainingRow) *string { return &r.Class }),
	table.Float("target_loss", func(r *RemainingRow) *float64 { return &r.Target }),
	table.Bool("reached", func(r *RemainingRow) *bool { return &r.Reached }),
	table.Float("last_loss", func(r *RemainingRow) *float64 { return &r.Loss }),
	table.Text("model", func(r *RemainingRow) *string { return &r.Model }),
	table.Float("part", func(r *RemainingRow) *float64 { return &r.Part }),
	table.Int("done", func(r *RemainingRow) *int { return &r.Done }),
	table.Float("predicted", func(r *RemainingRow) *float64 { return &r.Predicted }),
	table.Float("low", func(r *RemainingRow) *float64 { return &r.Low }),
	table.Float("high", func(r *RemainingRow) *float64 { return &r.High }),
	table.Float("level", func(r *RemainingRow) *float64 { return &r.Level }),
	table.Float("never", func(r *RemainingRow) *float64 { return &r.Never }),
	table.Float("actual", func(r *RemainingRow) *float64 { return &r.Actual }),
	table.Float("error_pct", func(r *RemainingRow) *float64 { return &r.ErrorPct }),
	table.Bool("covered", func(r *RemainingRow) *bool { return &r.Covered }),
	table.Seconds("predicted_s", func(r *RemainingRow) *float64 { return &r.PredictedSeconds }),
	table.Seconds("actual_s", func(r *RemainingRow) *float64 { return &r.ActualSeconds }),
}

// WriteRemaining writes remaining.csv; it removes the file when there are no rows.
func WriteRemaining(dir string, rows []RemainingRow) error {
	return table.WriteOrRemove(filepath.Join(dir, RemainingFile), remainingColumns, rows)
}

// Remaining reads remaining.csv; there are no rows without the file.
func (e *Experiment) Remaining() ([]RemainingRow, error) {
	return table.ReadAll(e.Dir, RemainingFile, remainingColumns)
}
