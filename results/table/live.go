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

// Live writes a table row by row: it can be read while the cell runs. It
// may be used from several goroutines.
type Live[T any] struct{ live }

// live is a Live for any type of rows.
type live struct {
	mu   sync.Mutex   // guards all
	file *folder.File // nil once it is closed
	rows
	err error
}

// Live begins the table in a folder.
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

// Add writes a row. An error of the disk is kept for Close.
func (w *Live[T]) Add(row T) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil && w.file != nil {
		w.err = w.add(unsafe.Pointer(&row), nil)
	}
}

// Close ends the table, and returns its name and size. Calls after it do
// nothing.
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

// Written is a file with its size, by which a file that a power cut has torn is
// found.
type Written struct {
	Name string `json:"name"`
	Size int64  `json:"bytes"`
}
