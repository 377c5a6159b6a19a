package table

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/tfexp/tfexp/scheduler/workload"
)

// Live writes a table row by row: it can be read while the cell runs. It
// may be used from several goroutines.
type Live[T any] struct {
	mu    sync.Mutex // guards all
	file  *os.File   // nil once it is closed
	table *writer[T]
	err   error
}

// NewLive begins a table at path.
func NewLive[T any](path string, columns []Column[T]) (*Live[T], error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("write table: %w", err)
	}
	t, err := newWriter(f, columns, nil)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("write table: %w", err), f.Close())
	}
	return &Live[T]{file: f, table: t}, nil
}

// Add writes a row. An error of the disk is kept for Close.
func (w *Live[T]) Add(row T) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil && w.file != nil {
		w.err = w.table.Add(&row, nil)
	}
}

// Close ends the table, and returns its name and size. What is called after it
// does nothing.
func (w *Live[T]) Close() (Written, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == nil {
		return Written{}, nil
	}
	name := filepath.Base(w.file.Name())
	size, err := w.file.Seek(0, io.SeekEnd)
	if err = errors.Join(w.err, err, w.file.Sync(), w.file.Close()); err != nil {
		err = fmt.Errorf("write %s: %w", name, err)
	}
	w.file = nil
	return Written{Name: name, Size: size}, err
}

// ReadLive reads a table that may still be written: a last line without its
// end is left out.
func ReadLive[T any](f *os.File, columns []Column[T]) ([]T, error) {
	path := f.Name()
	in := csv.NewReader(workload.BoundRows(bufio.NewReader(f)))
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
		for i := range columns[:min(len(columns), len(fields))] { // an earlier version may have had fewer
			if err := columns[i].Set(&row, fields[i]); err != nil {
				return nil, fmt.Errorf("read %s: %w", path, err)
			}
		}
		rows = append(rows, row)
	}
}

// Written is a file with its size, by which a file that a power cut has torn is
// found.
type Written struct {
	Name string `json:"name"`
	Size int64  `json:"bytes"`
}
