package table

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"unsafe"

	"github.com/tfexp/tfexp/results/folder"
)

// Live is a table that is written row by row, so that others can read it while the cell runs. Several goroutines may
// use it at the same time.
type Live[T any] struct{ live }

// live is the part of Live that does not depend on the type of the rows.
type live struct {
	mu   sync.Mutex   // guards all fields
	file *folder.File // nil after Close
	rows
	err error
}

// Live begins the file of a table in the folder dir.
func (s *Schema[T]) Live(dir string) (*Live[T], error) {
	f, err := folder.Create(filepath.Join(dir, s.File))
	if err != nil {
		return nil, fmt.Errorf("write table: %w", err)
	}
	t, err := newWriter(f, s, nil)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("write table: %w", err), f.Close())
	}
	return &Live[T]{live{file: f, rows: t.rows}}, nil
}

// Add writes a row. Close returns an error that occurs here.
func (w *Live[T]) Add(row T) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil && w.file != nil {
		w.err = w.add(unsafe.Pointer(&row), nil)
	}
}

// Close ends the table, and returns its name and size. Later calls do nothing.
func (w *live) Close() (Written, error) {
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

// Written is the name and the size of a complete file. A file of another size has been damaged, for example by a power
// failure.
type Written struct {
	Name string `json:"name"`
	Size int64  `json:"bytes"`
}
