package results

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
)

// column is one column of a table whose rows are of type T. The same columns
// write and read CSV and JSON, so the two cannot drift apart. An empty field
// is a JSON null. Fields are appended to a buffer: tables have millions of rows.
type column[T any] struct {
	name string
	text bool // quoted in JSON
	add  func([]byte, *T) []byte
	set  func(*T, string) error
}

func textColumn[T any](name string, field func(*T) *string) column[T] {
	return column[T]{
		name: name, text: true,
		add: func(b []byte, r *T) []byte { return append(b, *field(r)...) },
		set: func(r *T, s string) error { *field(r) = s; return nil },
	}
}

func intColumn[T any](name string, field func(*T) *int) column[T] {
	return column[T]{
		name: name,
		add:  func(b []byte, r *T) []byte { return strconv.AppendInt(b, int64(*field(r)), 10) },
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

// secondsColumn holds a time: a negative one, or NaN, never came about and is
// an empty field.
func secondsColumn[T any](name string, field func(*T) *float64) column[T] {
	return column[T]{
		name: name,
		add: func(b []byte, r *T) []byte {
			if !(*field(r) >= 0) {
				return b
			}
			return appendNumber(b, *field(r))
		},
		set: func(r *T, s string) error { return parse(field(r), s, -1) },
	}
}

// floatColumn holds a number; NaN and the infinities are empty fields.
func floatColumn[T any](name string, field func(*T) *float64) column[T] {
	return column[T]{
		name: name,
		add:  func(b []byte, r *T) []byte { return appendNumber(b, *field(r)) },
		set:  func(r *T, s string) error { return parse(field(r), s, math.NaN()) },
	}
}

// preciseColumn is a floatColumn that keeps six significant digits however
// small the number is, for p-values.
func preciseColumn[T any](name string, field func(*T) *float64) column[T] {
	c := floatColumn(name, field)
	c.add = func(b []byte, r *T) []byte {
		if v := *field(r); finite(v) {
			return strconv.AppendFloat(b, v, 'g', decimals, 64)
		}
		return b
	}
	return c
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

// tableWriter writes rows as CSV (RFC 4180), as encoding/csv would.
type tableWriter[T any] struct {
	columns []column[T]
	w       io.Writer
	line    []byte
	// first is how all lines begin, with the first same columns; see repeat.
	first []byte
	same  int
}

// newTableWriter writes the header: the columns, then the extra ones.
func newTableWriter[T any](w io.Writer, columns []column[T], extra []string) (*tableWriter[T], error) {
	t := &tableWriter[T]{columns: columns, w: w}
	t.line = appendHeader(nil, columns, extra)
	_, err := w.Write(t.line)
	return t, err
}

// appendHeader appends the first line of a table.
func appendHeader[T any](b []byte, columns []column[T], extra []string) []byte {
	for _, c := range columns {
		b = append(b, c.name...)
		b = append(b, ',')
	}
	return endLine(b, extra)
}

// endLine appends the extra fields to a line that ends in a comma.
func endLine(b []byte, extra []string) []byte {
	for _, e := range extra {
		b = quoteField(append(b, e...), len(b))
		b = append(b, ',')
	}
	b[len(b)-1] = '\n'
	return b
}

// repeat promises that the first columns of all rows to come are those of row.
func (t *tableWriter[T]) repeat(row *T, columns int) {
	t.first, t.same = t.fields(nil, row, t.columns[:columns]), columns
}

// fields appends columns of a row, with a comma behind each.
func (t *tableWriter[T]) fields(b []byte, row *T, columns []column[T]) []byte {
	for i := range columns {
		from := len(b)
		b = columns[i].add(b, row)
		if columns[i].text {
			b = quoteField(b, from)
		}
		b = append(b, ',')
	}
	return b
}

// write writes a row and the values of the extra columns.
func (t *tableWriter[T]) write(row *T, extra []string) error {
	b := t.fields(append(t.line[:0], t.first...), row, t.columns[t.same:])
	t.line = endLine(b, extra)
	_, err := t.w.Write(t.line)
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
		switch field := c.add(nil, row); {
		case c.text:
			raw, err := json.Marshal(string(field))
			if err != nil {
				return nil, fmt.Errorf("encode %s: %w", c.name, err)
			}
			b.Write(raw)
		case len(field) == 0:
			b.WriteString("null")
		default:
			b.Write(field)
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
