package results

import (
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

// NewContainerWriter begins containers.csv in a cell's folder.
func NewContainerWriter(dir string) (*LiveTable[ContainerRow], error) {
	return newLiveTable(filepath.Join(dir, ContainersFile), containerColumns)
}

// Containers reads containers.csv of a cell; fs.ErrNotExist for one that did
// not run in containers.
func (e *Experiment) Containers(c CellRef) ([]ContainerRow, error) {
	return readLive(e.cellPath(c.Cell, ContainersFile), containerColumns)
}

// LiveTable writes a table row by row: it can be read while the cell runs. It
// may be used from several goroutines.
type LiveTable[T any] struct {
	mu    sync.Mutex // guards all
	file  *os.File   // nil once it is closed
	table *tableWriter[T]
	err   error
}

func newLiveTable[T any](path string, columns []column[T]) (*LiveTable[T], error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("write table: %w", err)
	}
	t, err := newTableWriter(f, columns, nil)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("write table: %w", err), f.Close())
	}
	return &LiveTable[T]{file: f, table: t}, nil
}

// Add writes a row. An error of the disk is kept for Close.
func (w *LiveTable[T]) Add(row T) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil && w.file != nil {
		w.err = w.table.write(&row, nil)
	}
}

// Close ends the table, and returns its size for cell.json. What is called
// after it does nothing.
func (w *LiveTable[T]) Close() (File, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == nil {
		return File{}, nil
	}
	name := filepath.Base(w.file.Name())
	size, err := w.file.Seek(0, io.SeekEnd)
	if err = errors.Join(w.err, err, w.file.Sync(), w.file.Close()); err != nil {
		err = fmt.Errorf("write %s: %w", name, err)
	}
	w.file = nil
	return File{Name: name, Size: size}, err
}
