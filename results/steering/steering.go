// Package steering has the rows of what controllers decided about the jobs of a cell.
package steering

import (
	"path/filepath"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
)

// FileName is what controllers decided about the jobs of a cell, in the cell's folder.
const FileName = "decisions.csv"

// Row is a row of it: a decision about a job. What is not known is NaN.
type Row struct {
	At         float64 // seconds
	Job        string
	Controller string
	// Epoch and Step are finished; Loss and Accuracy are as the job reported them last.
	Epoch, Step    int
	Loss, Accuracy float64
	// Used is the service time so far, Left what is left of the budget.
	Used, Left    float64
	Threads, GPUs int // held
	// Settings and After are those before and after, as text "batch=32 ps=1".
	Settings, After string
	// Action is what was decided; How is "in place" or "restart" for settings that changed, or "refused".
	Action, How string
	// Remaining is the predicted time to the end without a change, within Low and High;
	// Gain and Cost are what the change was predicted to save and to cost; Sure is the
	// chance that it pays.
	Remaining, Low, High, Gain, Cost, Sure float64
	// ActualRemaining, ActualGain and ActualCost are what they turned out to be.
	ActualRemaining, ActualGain, ActualCost float64
	// Took says whether the program is known to run with the settings: yes, no, or empty.
	Took string
	// Probabilities are those of all actions, as text "0.1 0.9".
	Probabilities string
	// AccuracyBefore and AccuracyAfter are those of the last report before and the first after it.
	AccuracyBefore, AccuracyAfter float64
	Reason                        string
}

var columns = []table.Column[Row]{
	table.Seconds("t_s", func(r *Row) *float64 { return &r.At }),
	table.Text("job", func(r *Row) *string { return &r.Job }),
	table.Text("controller", func(r *Row) *string { return &r.Controller }),
	table.Int("epoch", func(r *Row) *int { return &r.Epoch }),
	table.Int("step", func(r *Row) *int { return &r.Step }),
	table.Float("loss", func(r *Row) *float64 { return &r.Loss }),
	table.Float("accuracy", func(r *Row) *float64 { return &r.Accuracy }),
	table.Float("used_s", func(r *Row) *float64 { return &r.Used }),
	table.Float("time_left_s", func(r *Row) *float64 { return &r.Left }),
	table.Int("threads", func(r *Row) *int { return &r.Threads }),
	table.Int("gpus", func(r *Row) *int { return &r.GPUs }),
	table.Text("settings", func(r *Row) *string { return &r.Settings }),
	table.Text("new_settings", func(r *Row) *string { return &r.After }),
	table.Text("action", func(r *Row) *string { return &r.Action }),
	table.Text("how", func(r *Row) *string { return &r.How }),
	table.Float("remaining_s", func(r *Row) *float64 { return &r.Remaining }),
	table.Float("remaining_low_s", func(r *Row) *float64 { return &r.Low }),
	table.Float("remaining_high_s", func(r *Row) *float64 { return &r.High }),
	table.Float("gain_s", func(r *Row) *float64 { return &r.Gain }),
	table.Float("cost_s", func(r *Row) *float64 { return &r.Cost }),
	table.Float("sure", func(r *Row) *float64 { return &r.Sure }),
	table.Float("actual_remaining_s", func(r *Row) *float64 { return &r.ActualRemaining }),
	table.Float("actual_gain_s", func(r *Row) *float64 { return &r.ActualGain }),
	table.Float("actual_cost_s", func(r *Row) *float64 { return &r.ActualCost }),
	table.Text("took", func(r *Row) *string { return &r.Took }),
	table.Text("probabilities", func(r *Row) *string { return &r.Probabilities }),
	table.Float("accuracy_before", func(r *Row) *float64 { return &r.AccuracyBefore }),
	table.Float("accuracy_after", func(r *Row) *float64 { return &r.AccuracyAfter }),
	table.Text("reason", func(r *Row) *string { return &r.Reason }),
}

// Write writes decisions.csv into a cell's folder, and returns the file.
func Write(dir string, rows []Row) (record.File, error) {
	f, err := table.Create(filepath.Join(dir, FileName), true, columns, nil)
	if err != nil {
		return record.File{}, err
	}
	defer f.Abort()
	for i := range rows {
		if err := f.Add(&rows[i], nil); err != nil {
			return record.File{}, err
		}
	}
	size, err := f.Replace()
	return record.File{Name: FileName, Size: size}, err
}

// Of reads decisions.csv of a cell; none where it has no such file.
func Of(e *record.Experiment, c record.CellRef) ([]Row, error) {
	return table.ReadAll(e.Dir, filepath.Join(record.CellsDir, c.Cell, FileName), columns)
}

// In reads decisions.csv of the cell in a folder; none where it has no such file.
func In(dir string) ([]Row, error) {
	return table.ReadAll(dir, FileName, columns)
}
