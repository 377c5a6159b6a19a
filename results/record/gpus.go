package record

import (
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/tfexp/tfexp/results/table"
)

// GPURow is what one GPU of a cell did at an instant, a row of gpus.csv. What
// the driver does not tell is negative, and an empty field.
type GPURow struct {
	// At is in seconds from the cell's start.
	At float64
	// GPU is its number in the cell's grants; Device how programs are told to
	// use it, its UUID.
	GPU    int
	Device string
	// Utilization is the percentage of the time in which it computed, Power the
	// watts that it drew, Memory the bytes in use.
	Utilization, Power float64
	Memory             int64
}

var gpuColumns = []table.Column[GPURow]{
	table.Seconds("t_s", func(r *GPURow) *float64 { return &r.At }),
	table.Int("gpu", func(r *GPURow) *int { return &r.GPU }),
	table.Text("device", func(r *GPURow) *string { return &r.Device }),
	table.Seconds("utilization_pct", func(r *GPURow) *float64 { return &r.Utilization }),
	{
		Name: "memory_bytes",
		Add: func(b []byte, r *GPURow) []byte {
			if r.Memory < 0 {
				return b
			}
			return strconv.AppendInt(b, r.Memory, 10)
		},
		Set: func(r *GPURow, s string) (err error) {
			if r.Memory = -1; s != "" {
				r.Memory, err = strconv.ParseInt(s, 10, 64)
			}
			return err
		},
	},
	table.Seconds("power_w", func(r *GPURow) *float64 { return &r.Power }),
}

// GPUWriter writes gpus.csv of a cell, row by row. Nothing appears under its
// name before Finish. Either Finish or Abort must be called.
type GPUWriter struct{ table *table.File[GPURow] }

// NewGPUWriter prepares the file in a cell's folder.
func NewGPUWriter(dir string) (*GPUWriter, error) {
	t, err := table.Create(filepath.Join(dir, GPUsFile), true, gpuColumns, nil)
	if err != nil {
		return nil, fmt.Errorf("record GPUs: %w", err)
	}
	return &GPUWriter{t}, nil
}

// Write adds a row, which can be seen at once.
func (w *GPUWriter) Write(r GPURow) error {
	err := w.table.Add(&r, nil)
	if err == nil {
		err = w.table.Flush()
	}
	if err != nil {
		return fmt.Errorf("record GPUs: %w", err)
	}
	return nil
}

// Finish gives the file its name, and returns its size for cell.json.
func (w *GPUWriter) Finish() (File, error) {
	size, err := w.table.Replace()
	if err != nil {
		return File{}, fmt.Errorf("record GPUs: %w", err)
	}
	return File{Name: GPUsFile, Size: size}, nil
}

// Abort removes what was written, unless it is finished.
func (w *GPUWriter) Abort() { w.table.Abort() }

// GPUs reads a cell's gpus.csv. A simulated cell, and one whose jobs use no
// GPUs, has none: the error wraps fs.ErrNotExist.
func (e *Experiment) GPUs(c CellRef) ([]GPURow, error) {
	f, err := e.open(c, GPUsFile)
	if err != nil {
		return nil, fmt.Errorf("read GPUs of cell %s: %w", c.Cell, err)
	}
	defer f.Close()
	var rows []GPURow
	err = table.Read(f, f.Name(), gpuColumns, 1, func(r *GPURow) bool {
		rows = append(rows, *r)
		return true
	})
	return rows, err
}
