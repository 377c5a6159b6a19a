package record

import (
	"math"
)

// WriteEstimates writes estimates.csv. A row without an actual time keeps the actual time of the same estimate in the
// existing file.
func WriteEstimates(dir string, rows []EstimateRow) error {
	old, err := Estimates.Read(dir)
	if err != nil {
		old = nil // the existing file is unusable and is replaced
	}
	rows = append([]EstimateRow(nil), rows...)
	for i := range rows {
		for _, o := range old {
			if rows[i].Actual < 0 && o.estimates(rows[i]) && math.Abs(o.Predicted-rows[i].Predicted) < 1e-6 {
				rows[i].Actual, rows[i].ActualSD, rows[i].Runs, rows[i].Covered = o.Actual, o.ActualSD, o.Runs, o.Covered
			}
		}
	}
	return ReplaceEstimates(dir, rows)
}

// ReplaceEstimates writes estimates.csv with the actual times in rows, and sets the rows' errors.
func ReplaceEstimates(dir string, rows []EstimateRow) error {
	for i := range rows {
		rows[i].ErrorPct = math.NaN()
		if rows[i].Actual > 0 && rows[i].Predicted >= 0 {
			rows[i].ErrorPct = 100 * (rows[i].Predicted - rows[i].Actual) / rows[i].Actual
		}
	}
	_, err := Estimates.Write(dir, rows)
	return err
}

// estimates reports whether two rows estimate the same job with the same model.
func (r EstimateRow) estimates(o EstimateRow) bool {
	return r.Job == o.Job && r.Hardware == o.Hardware && r.Threads == o.Threads && r.GPUs == o.GPUs &&
		r.Model == o.Model && r.Axes == o.Axes
}
