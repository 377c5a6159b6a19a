package results

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
)

// Estimates reads estimates.csv; there are none without the file.
func (e *Experiment) Estimates() ([]EstimateRow, error) { return readEstimates(e.Dir) }

func readEstimates(dir string) ([]EstimateRow, error) {
	return readRows(dir, EstimatesFile, estimateColumns)
}

// Samples reads samples.csv; there are none without the file.
func (e *Experiment) Samples() ([]SampleRow, error) {
	return readRows(e.Dir, SamplesFile, sampleColumns)
}

// Accuracy reads accuracy.csv; there is none without the file.
func (e *Experiment) Accuracy() ([]AccuracyRow, error) {
	return readRows(e.Dir, AccuracyFile, accuracyColumns)
}

// Profiling reads profiling.csv; there is none without the file.
func (e *Experiment) Profiling() ([]ProfilingRow, error) {
	return readRows(e.Dir, ProfilingFile, profilingColumns)
}

// readRows reads a whole table of an experiment's folder; none without the file.
func readRows[T any](dir, name string, columns []column[T]) ([]T, error) {
	f, err := os.Open(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	defer f.Close()
	var rows []T
	err = readTable(f, f.Name(), columns, 1, func(r *T) bool {
		rows = append(rows, *r)
		return true
	})
	return rows, err
}

// WriteSamples writes samples.csv.
func WriteSamples(dir string, rows []SampleRow) error {
	return writeTable(filepath.Join(dir, SamplesFile), sampleColumns, rows)
}

// WriteEstimates writes estimates.csv. A row without an actual time keeps the
// one that the file has for the same estimate.
func WriteEstimates(dir string, rows []EstimateRow) error {
	old, err := readEstimates(dir)
	if err != nil {
		old = nil // it is written anew
	}
	rows = append([]EstimateRow(nil), rows...)
	for i := range rows {
		for _, o := range old {
			if rows[i].Actual < 0 && o.estimates(rows[i]) && math.Abs(o.Predicted-rows[i].Predicted) < 1e-6 {
				rows[i].Actual, rows[i].ActualSD, rows[i].Runs, rows[i].Covered = o.Actual, o.ActualSD, o.Runs, o.Covered
			}
		}
	}
	return writeEstimates(dir, rows)
}

// writeEstimates sets the rows' errors and writes estimates.csv.
func writeEstimates(dir string, rows []EstimateRow) error {
	for i := range rows {
		rows[i].ErrorPct = math.NaN()
		if rows[i].Actual > 0 && rows[i].Predicted >= 0 {
			rows[i].ErrorPct = 100 * (rows[i].Predicted - rows[i].Actual) / rows[i].Actual
		}
	}
	return writeTable(filepath.Join(dir, EstimatesFile), estimateColumns, rows)
}

// estimates tells whether both rows estimate the same job by the same model.
func (r EstimateRow) estimates(o EstimateRow) bool {
	return r.Job == o.Job && r.Hardware == o.Hardware && r.Threads == o.Threads && r.GPUs == o.GPUs &&
		r.Model == o.Model && r.Axes == o.Axes
}

// tells whether a job shows what an estimate predicts: it finished, and had
// its full request all the time.
func (r JobRow) tells(e EstimateRow) bool {
	return r.State == "finished" && r.Class == e.Job && r.Hardware == e.Hardware &&
		r.ThreadsRequested == e.Threads && r.GPUs == e.GPUs &&
		r.Resizes == 0 && r.ThreadsMean == float64(r.ThreadsRequested)
}

// within tells whether a cell's axes have all the values of an estimate's
// ("hidden=64 batch=32").
func within(axes string, have []Setting) bool {
	if axes == "" {
		return true
	}
	for _, want := range strings.Fields(axes) {
		found := false
		for _, s := range have {
			found = found || s.Name+"="+strings.ReplaceAll(s.Value, " ", "") == want
		}
		if !found {
			return false
		}
	}
	return true
}
