package results

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// ContainersFile is what containers used, in the folder of a cell that ran in
// containers.
const ContainersFile = "containers.csv"

// ContainerRow is a row of containers.csv: what a container used when it was
// looked at.
type ContainerRow struct {
	At  float64 // seconds
	Job string
	// CPU is in percent of one core, since the last row of the job.
	CPU float64
	// Memory is in bytes, MemoryPct in percent of the most that it may have.
	Memory, MemoryPct float64
	Cores             int // held; 0 while paused
}

var containerColumns = []column[ContainerRow]{
	secondsColumn("t_s", func(r *ContainerRow) *float64 { return &r.At }),
	textColumn("job", func(r *ContainerRow) *string { return &r.Job }),
	floatColumn("cpu_pct", func(r *ContainerRow) *float64 { return &r.CPU }),
	floatColumn("memory_bytes", func(r *ContainerRow) *float64 { return &r.Memory }),
	floatColumn("memory_pct", func(r *ContainerRow) *float64 { return &r.MemoryPct }),
	intColumn("cores", func(r *ContainerRow) *int { return &r.Cores }),
}

// ContainerWriter writes containers.csv, row by row: it can be read while the
// cell runs. It may be used from several goroutines.
type ContainerWriter struct {
	mu    sync.Mutex // guards all
	file  *os.File
	table *tableWriter[ContainerRow]
	err   error
}

// NewContainerWriter begins the file in a cell's folder.
func NewContainerWriter(dir string) (*ContainerWriter, error) {
	f, err := os.Create(filepath.Join(dir, ContainersFile))
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", ContainersFile, err)
	}
	t, err := newTableWriter(f, containerColumns, nil)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("write %s: %w", ContainersFile, err), f.Close())
	}
	return &ContainerWriter{file: f, table: t}, nil
}

// Add writes a row. An error of the disk is kept for Close.
func (w *ContainerWriter) Add(r ContainerRow) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = w.table.write(&r, nil)
	}
}

// Close ends the file.
func (w *ContainerWriter) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := errors.Join(w.err, w.file.Close()); err != nil {
		return fmt.Errorf("write %s: %w", ContainersFile, err)
	}
	return nil
}

// Containers reads containers.csv of a cell. A last line without its end is
// still being written, and left out. The error is fs.ErrNotExist for a cell
// that did not run in containers.
func (e *Experiment) Containers(c CellRef) ([]ContainerRow, error) {
	f, err := os.Open(filepath.Join(e.Dir, CellsDir, filepath.FromSlash(c.Cell), ContainersFile))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in := csv.NewReader(bufio.NewReader(f))
	in.ReuseRecord = true
	if _, err := in.Read(); err != nil {
		return nil, fmt.Errorf("read %s: %w", f.Name(), err)
	}
	var rows []ContainerRow
	for {
		fields, err := in.Read()
		if errors.Is(err, io.EOF) || errors.Is(err, csv.ErrFieldCount) {
			return rows, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", f.Name(), err)
		}
		var row ContainerRow
		for i := range containerColumns {
			if err := containerColumns[i].set(&row, fields[i]); err != nil {
				return nil, fmt.Errorf("read %s: %w", f.Name(), err)
			}
		}
		rows = append(rows, row)
	}
}
