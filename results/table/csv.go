package table

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"unsafe"

	"github.com/tfexp/tfexp/results/folder"
)

// writer writes rows of type T as CSV (RFC 4180), in the same form as encoding/csv.
type writer[T any] struct{ rows }

// rows is the part of writer that does not depend on the type of the rows.
type rows struct {
	fields []field
	w      io.Writer
	line   []byte
	// first is the text of the first columns (same is their number), if they are equal in all rows; see Repeat.
	first []byte
	same  int
}

// newWriter returns a writer after it has written the header: the names of the table's columns, then of the extra ones.
func newWriter[T any](w io.Writer, s *Schema[T], extra []string) (*writer[T], error) {
	t := &writer[T]{rows{fields: s.fields(), w: w, line: s.Header(extra)}}
	_, err := w.Write(t.line)
	return t, err
}

// Header returns the first line of a table with extra columns.
func (s *layout) Header(extra []string) (line []byte) {
	for _, f := range s.fields() {
		line = append(append(line, f.Name...), ',')
	}
	return EndLine(line, extra)
}

// EndLine appends the extra fields to the line b, which ends in a comma, and ends the line.
func EndLine(b []byte, extra []string) []byte {
	for _, e := range extra {
		b = quoteField(append(b, e...), len(b))
		b = append(b, ',')
	}
	b[len(b)-1] = '\n'
	return b
}

// After Repeat, the writer assumes that in all following rows the first columns have the same values as in row. They
// are then formatted only once.
func (t *writer[T]) Repeat(row *T, columns int) {
	t.first, t.same = begin(nil, unsafe.Pointer(row), t.fields[:columns]), columns
}

// begin appends the fields of a row to b, with a comma after each.
func begin(b []byte, row unsafe.Pointer, fields []field) []byte {
	for i := range fields {
		from, f := len(b), &fields[i]
		if b = f.append(b, row); f.Kind == AsText {
			b = quoteField(b, from)
		}
		b = append(b, ',')
	}
	return b
}

// Add writes a row and the values of the extra columns.
func (t *writer[T]) Add(row *T, extra []string) error { return t.add(unsafe.Pointer(row), extra) }

func (t *rows) add(row unsafe.Pointer, extra []string) error {
	t.line = t.append(t.line[:0], row, extra)
	_, err := t.w.Write(t.line)
	return err
}

// append appends the line of a row to b.
func (t *rows) append(b []byte, row unsafe.Pointer, extra []string) []byte {
	return EndLine(begin(append(b, t.first...), row, t.fields[t.same:]), extra)
}

// File is a CSV file in the course of being written.
type File[T any] struct {
	*Pending
	*writer[T]
}

// Create begins the file of a table in the folder dir. The extra columns come after the table's own.
func (s *Schema[T]) Create(dir string, durable bool, extra []string) (*File[T], error) {
	p, err := NewPending(filepath.Join(dir, s.File), durable)
	if err != nil {
		return nil, err
	}
	t, err := newWriter(p, s, extra)
	if err != nil {
		p.Abort()
		return nil, fmt.Errorf("write %s: %w", s.File, err)
	}
	return &File[T]{p, t}, nil
}

// Write writes the whole table into the folder dir. The file survives a power failure after Write has returned.
func (s *Schema[T]) Write(dir string, rows []T) (Written, error) {
	t, err := s.Create(dir, true, nil)
	if err != nil {
		return Written{}, err
	}
	defer t.Abort()
	for i := range rows {
		if err := t.Add(&rows[i], nil); err != nil {
			return Written{}, fmt.Errorf("write %s: %w", s.File, err)
		}
	}
	size, err := t.Replace()
	return Written{Name: s.File, Size: size}, err
}

// Replace writes the whole table into the folder dir. If there are no rows, it removes the file.
func (s *Schema[T]) Replace(dir string, rows []T) error {
	if len(rows) > 0 {
		_, err := s.Write(dir, rows)
		return err
	}
	if err := folder.Remove(filepath.Join(dir, s.File)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove an old table: %w", err)
	}
	return nil
}

// Read reads the whole table in a folder below dir. Without the file, it returns no rows and no error.
func (s *Schema[T]) Read(dir string, at ...string) ([]T, error) {
	rows, err := s.readAll(dir, at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return rows, err
}

// ReadLive reads a table that may still grow, in a folder below dir. It ignores an incomplete last line. The error
// wraps fs.ErrNotExist if the file does not exist.
func (s *Schema[T]) ReadLive(dir string, at ...string) ([]T, error) {
	rows, err := s.readAll(dir, at)
	if errors.Is(err, csv.ErrFieldCount) {
		return rows, nil
	}
	return rows, err
}

func (s *Schema[T]) readAll(dir string, at []string) (rows []T, err error) {
	f, err := folder.Open(dir, append(at, s.File)...)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", s.File, err)
	}
	defer f.Close()
	err = s.Each(f, f.Name(), 1, func(r *T) bool {
		rows = append(rows, *r)
		return true
	})
	return rows, err
}

// Each calls the function each for rows of the CSV table r: for the first row and then for every step-th. The function
// returns false to stop, and must not keep the row. Each ignores columns that the schema does not have, so that it can
// read tables of newer versions. Errors mention the table by name.
func (s *Schema[T]) Each(r io.Reader, name string, step int, each func(*T) bool) error {
	var row T
	return s.each(r, name, step, unsafe.Pointer(&row), func() bool { return each(&row) })
}

// each does the work of Each for rows of any type. It writes the values of each row into row.
func (s *layout) each(r io.Reader, name string, step int, row unsafe.Pointer, each func() bool) error {
	in := newRecords(r)
	header, err := in.next()
	if err != nil {
		return fmt.Errorf("read header of %s: %w", name, noEOF(err))
	}
	place := map[string]int{}
	for i, h := range header {
		place[h] = i + 1
	}
	in.width = len(header)
	fields := s.fields()
	at := make([]int, len(fields)) // place of each field in the file, counted from 1; 0 if the file lacks it
	for i, f := range fields {
		at[i] = place[f.Name]
	}
	for {
		values, err := in.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		for i := range fields {
			text := ""
			if at[i] > 0 {
				text = values[at[i]-1]
			}
			if err := fields[i].read(row, text); err != nil {
				return &folder.DamagedError{Path: name, Line: in.line,
					Reason: fmt.Sprintf("column %s: %v", fields[i].Name, err)}
			}
		}
		if !each() {
			return nil
		}
		for range step - 1 {
			if err := in.skip(); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return fmt.Errorf("read %s: %w", name, err)
			}
		}
	}
}
