package results

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
)

// column is one column of a table whose rows are of type T. The same columns
// write and read CSV and JSON, so the two cannot drift apart. An empty field
// is a JSON null.
type column[T any] struct {
	name string
	text bool // quoted in JSON
	get  func(*T) string
	set  func(*T, string) error
}

func textColumn[T any](name string, field func(*T) *string) column[T] {
	return column[T]{
		name: name, text: true,
		get: func(r *T) string { return *field(r) },
		set: func(r *T, s string) error { *field(r) = s; return nil },
	}
}

func intColumn[T any](name string, field func(*T) *int) column[T] {
	return column[T]{
		name: name,
		get:  func(r *T) string { return strconv.Itoa(*field(r)) },
		set: func(r *T, s string) error {
			if s == "" {
				*field(r) = 0
				return nil
			}
			n, err := strconv.Atoi(s)
			*field(r) = n
			return err
		},
	}
}

// decimals is the number of digits after the point: times are rounded to a
// microsecond when they are recorded, so they are printed exactly.
const decimals = 6

// secondsColumn holds a time: a negative one, or NaN, never came about and is
// an empty field.
func secondsColumn[T any](name string, field func(*T) *float64) column[T] {
	return column[T]{
		name: name,
		get: func(r *T) string {
			if !(*field(r) >= 0) {
				return ""
			}
			return number(*field(r))
		},
		set: func(r *T, s string) error { return parse(field(r), s, -1) },
	}
}

// floatColumn holds a number; NaN and the infinities are empty fields.
func floatColumn[T any](name string, field func(*T) *float64) column[T] {
	return column[T]{
		name: name,
		get:  func(r *T) string { return number(*field(r)) },
		set:  func(r *T, s string) error { return parse(field(r), s, math.NaN()) },
	}
}

// preciseColumn is a floatColumn that keeps six significant digits however
// small the number is, for p-values.
func preciseColumn[T any](name string, field func(*T) *float64) column[T] {
	c := floatColumn(name, field)
	c.get = func(r *T) string {
		if v := *field(r); finite(v) {
			return strconv.FormatFloat(v, 'g', decimals, 64)
		}
		return ""
	}
	return c
}

func number(v float64) string {
	if !finite(v) {
		return ""
	}
	if v == 0 {
		v = 0 // never "-0.000000"
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func parse(field *float64, s string, empty float64) error {
	if s == "" {
		*field = empty
		return nil
	}
	v, err := strconv.ParseFloat(s, 64)
	*field = v
	return err
}

// tableWriter writes rows as CSV.
type tableWriter[T any] struct {
	columns []column[T]
	csv     *csv.Writer
	record  []string
}

// newTableWriter writes the header: the columns, then the extra ones.
func newTableWriter[T any](w io.Writer, columns []column[T], extra []string) (*tableWriter[T], error) {
	t := &tableWriter[T]{columns: columns, csv: csv.NewWriter(w)}
	for _, c := range columns {
		t.record = append(t.record, c.name)
	}
	return t, t.csv.Write(append(t.record, extra...))
}

// write writes a row and the values of the extra columns.
func (t *tableWriter[T]) write(row *T, extra []string) error {
	t.record = t.record[:0]
	for _, c := range t.columns {
		t.record = append(t.record, c.get(row))
	}
	t.record = append(t.record, extra...)
	return t.csv.Write(t.record)
}

func (t *tableWriter[T]) flush() error {
	t.csv.Flush()
	return t.csv.Error()
}

// readTable calls each for every row of a CSV table, with the values of the
// extra columns by name. Columns of neither kind are skipped, so newer tables
// can be read; each returns false to stop. name is for errors.
func readTable[T any](r io.Reader, name string, columns []column[T], extra []string, each func(row T, extra []string) bool) error {
	in := csv.NewReader(r)
	in.ReuseRecord = true
	header, err := in.Read()
	if err != nil {
		return fmt.Errorf("read header of %s: %w", name, noEOF(err))
	}
	place := map[string]int{}
	for i, h := range header {
		place[h] = i
	}
	at := make([]int, len(columns))
	for i, c := range columns {
		p, ok := place[c.name]
		if !ok {
			p = -1
		}
		at[i] = p
	}
	for {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		var row T
		for i, c := range columns {
			s := ""
			if at[i] >= 0 {
				s = record[at[i]]
			}
			if err := c.set(&row, s); err != nil {
				line, _ := in.FieldPos(max(at[i], 0))
				return fmt.Errorf("read %s: line %d, column %s: %w", name, line, c.name, err)
			}
		}
		values := make([]string, len(extra))
		for i, e := range extra {
			if p, ok := place[e]; ok {
				values[i] = record[p]
			}
		}
		if !each(row, values) {
			return nil
		}
	}
}

// noEOF turns the end of an empty file into an unexpected one.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// marshalRow writes a row as a JSON object with the columns in their order.
func marshalRow[T any](columns []column[T], row *T) ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, c := range columns {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Quote(c.name))
		b.WriteByte(':')
		switch s := c.get(row); {
		case c.text:
			raw, err := json.Marshal(s)
			if err != nil {
				return nil, fmt.Errorf("encode %s: %w", c.name, err)
			}
			b.Write(raw)
		case s == "":
			b.WriteString("null")
		default:
			b.WriteString(s)
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// unmarshalRow reads what marshalRow wrote; absent columns are as empty fields.
func unmarshalRow[T any](columns []column[T], raw []byte, row *T) error {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil {
		return err
	}
	for _, c := range columns {
		v, s := object[c.name], ""
		switch {
		case len(v) == 0 || string(v) == "null":
		case c.text:
			if err := json.Unmarshal(v, &s); err != nil {
				return fmt.Errorf("decode %s: %w", c.name, err)
			}
		default:
			s = string(v)
		}
		if err := c.set(row, s); err != nil {
			return fmt.Errorf("decode %s: %w", c.name, err)
		}
	}
	return nil
}
