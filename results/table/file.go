package table

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tfexp/tfexp/results/folder"
)

// Write writes a whole table, which survives a power cut.
func Write[T any](path string, columns []Column[T], rows []T) error {
	t, err := Create(path, true, columns, nil)
	if err != nil {
		return err
	}
	defer t.Abort()
	for i := range rows {
		if err := t.Add(&rows[i], nil); err != nil {
			return fmt.Errorf("write %s: %w", filepath.Base(path), err)
		}
	}
	if _, err := t.Replace(); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	return nil
}

// ReadAll reads a whole table ; no rows without the file.
func ReadAll[T any](dir, name string, columns []Column[T]) ([]T, error) {
	f, err := folder.Open(dir, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	defer f.Close()
	var rows []T
	err = Read(f, f.Name(), columns, 1, func(r *T) bool {
		rows = append(rows, *r)
		return true
	})
	return rows, err
}

// WriteOrRemove writes a table; one without rows is not there.
func WriteOrRemove[T any](path string, columns []Column[T], rows []T) error {
	if len(rows) > 0 {
		return Write(path, columns, rows)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove an old table: %w", err)
	}
	return nil
}
