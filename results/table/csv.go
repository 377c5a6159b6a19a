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

// writer writes rows as CSV (RFC 4180), as encoding/csv would.
type writer[T any] struct{ rows }

// rows is a writer for any type of rows.
type rows struct {
	fields []field
	w      io.Writer
	line   []byte
	// first is how all lines begin, with the first same columns; see Repeat.
	first []byte
	same  int
}

// newWriter writes the header: the columns, then the extra ones.
func newWriter[T any](w io.Writer, s *Schema[T], extra []string) (*writer[T], error) {
	t := &writer[T]{rows{fields: s.fields(), w: w, line: s.Header(extra)}}
	_, err := w.Write(t.line)
	return t, err
}

// Header is the first line of a table with extra columns.
func (s *layout) Header(extra []string) (line []byte) {
	for _, f := range s.fields() {
		line = append(append(line, f.Name...), ',')
	}
	return EndLine(line, extra)
}

// EndLine appends the extra fields to a line that ends in a comma.
func EndLine(b []byte, extra []string) []byte {
	for _, e := range extra {
		b = quoteField(append(b, e...), len(b))
		b = append(b, ',')
	}
	b[len(b)-1] = '\n'
	return b
}

// Repeat promises that the first columns of all rows to come are the columns of row.
func (t *writer[T]) Repeat(row *T, columns int) {
	t.first, t.same = begin(nil, unsafe.Pointer(row), t.fields[:columns]), columns
}

// begin appends columns of a row, with a comma after each.
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

// append appends the line of a row.
func (t *rows) append(b []byte, row unsafe.Pointer, extra []string) []byte {
	return EndLine(begin(append(b, t.first...), row, t.fields[t.same:]), extra)
}

// File is a CSV file that is written.
type File[T any] struct {
	*Pending
	*writer[T]
}

// Create begins the table in a folder, with extra columns after its own.
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

// Write writes the whole table into a folder, so that it survives a power cut.
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

// Replace writes the whole table; one without rows is not there.
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

// Read reads the whole table in a folder below dir; no rows without the file.
func (s *Schema[T]) Read(dir string, at ...string) ([]T, error) {
	rows, err := s.readAll(dir, at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return rows, err
}

// ReadLive reads a table that may still be written, in a folder below dir: a last line without its
// end is left out. The error wraps fs.ErrNotExist if there is no such file.
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

// Each calls each for every row of a CSV table; each returns false to stop, and must not
// keep the row. Columns of the file that are not in the schema are skipped, so newer
// tables can be read. Of the rows, the first and every step-th after it are read. name is
// for errors.
func (s *Schema[T]) Each(r io.Reader, name string, step int, each func(*T) bool) error {
	var row T
	return s.each(r, name, step, unsafe.Pointer(&row), func() bool { return each(&row) })
}

// each is Each for a row of any type, which is set to one after the other.
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
	at := make([]int, len(fields)) // from 1 on
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
