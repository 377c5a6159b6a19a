package results

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// ProgressFile is what the programs of a cell reported while they ran.
const ProgressFile = "progress.csv"

// ProgressRow is a row of progress.csv: a progress line of a program, and when
// it came.
type ProgressRow struct {
	At    float64 // seconds
	Job   string
	Epoch int // finished, as are the steps
	Step  int
	// Loss, Accuracy and the wall Seconds of the epoch are NaN where the program
	// does not say.
	Loss, Accuracy, Seconds float64
	Threads                 int // in use; 0 where it does not say
}

var progressColumns = []column[ProgressRow]{
	secondsColumn("t_s", func(r *ProgressRow) *float64 { return &r.At }),
	textColumn("job", func(r *ProgressRow) *string { return &r.Job }),
	intColumn("epoch", func(r *ProgressRow) *int { return &r.Epoch }),
	intColumn("step", func(r *ProgressRow) *int { return &r.Step }),
	floatColumn("loss", func(r *ProgressRow) *float64 { return &r.Loss }),
	floatColumn("accuracy", func(r *ProgressRow) *float64 { return &r.Accuracy }),
	floatColumn("seconds", func(r *ProgressRow) *float64 { return &r.Seconds }),
	intColumn("threads", func(r *ProgressRow) *int { return &r.Threads }),
}

// NewProgressWriter begins progress.csv in a cell's folder.
func NewProgressWriter(dir string) (*LiveTable[ProgressRow], error) {
	return newLiveTable(filepath.Join(dir, ProgressFile), progressColumns)
}

// Progress reads progress.csv of a cell; fs.ErrNotExist where it has none.
func (e *Experiment) Progress(c CellRef) ([]ProgressRow, error) {
	return readLive(e.cellPath(c.Cell, ProgressFile), progressColumns)
}

// readLive reads a table that may still be written: a last line without its
// end is left out.
func readLive[T any](path string, columns []column[T]) ([]T, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in := csv.NewReader(bufio.NewReader(f))
	in.ReuseRecord = true
	if _, err := in.Read(); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	var rows []T
	for {
		fields, err := in.Read()
		if errors.Is(err, io.EOF) || errors.Is(err, csv.ErrFieldCount) {
			return rows, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		var row T
		for i := range columns {
			if err := columns[i].set(&row, fields[i]); err != nil {
				return nil, fmt.Errorf("read %s: %w", path, err)
			}
		}
		rows = append(rows, row)
	}
}
