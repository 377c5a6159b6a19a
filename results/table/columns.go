package table

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/tfexp/tfexp/results/stats"
)

// Column is one column of a table whose rows are of type T. The same columns
// write and read CSV and JSON, so the two cannot drift apart. An empty field
// is a JSON null. Fields are appended to a buffer: tables have millions of rows.
type Column[T any] struct {
	Name string
	Text bool // quoted in JSON
	// Add appends the field of a row; Set reads it.
	Add func([]byte, *T) []byte
	Set func(*T, string) error
	// Where one of these is set, Add appends that number, which tables of millions of rows do without it.
	whole  func(*T) *int
	number func(*T) *float64
}

// Text holds text.
func Text[T any](name string, field func(*T) *string) Column[T] {
	return Column[T]{
		Name: name, Text: true,
		Add: func(b []byte, r *T) []byte { return append(b, *field(r)...) },
		Set: func(r *T, s string) error { *field(r) = s; return nil },
	}
}

// Int holds a whole number; an empty field is 0.
func Int[T any](name string, field func(*T) *int) Column[T] {
	return Column[T]{
		Name: name, whole: field,
		Add: func(b []byte, r *T) []byte { return strconv.AppendInt(b, int64(*field(r)), 10) },
		Set: func(r *T, s string) error {
			if s == "" {
				*field(r) = 0
				return nil
			}
			n, err := strconv.Atoi(s)
			if err != nil {
				return fmt.Errorf("%q is no whole number", s)
			}
			*field(r) = n
			return nil
		},
	}
}

// Seconds holds a time: a negative one, or NaN, never came about and is
// an empty field.
func Seconds[T any](name string, field func(*T) *float64) Column[T] {
	return Column[T]{
		Name: name,
		Add: func(b []byte, r *T) []byte {
			if !(*field(r) >= 0) {
				return b
			}
			return AppendNumber(b, *field(r))
		},
		Set: func(r *T, s string) error { return parse(field(r), s, -1) },
	}
}

// Float holds a number; NaN and the infinities are empty fields.
func Float[T any](name string, field func(*T) *float64) Column[T] {
	return Column[T]{
		Name: name, number: field,
		Add: func(b []byte, r *T) []byte { return AppendNumber(b, *field(r)) },
		Set: func(r *T, s string) error { return parse(field(r), s, math.NaN()) },
	}
}

// Precise is a Float that keeps six significant digits however
// small the number is, for p-values.
func Precise[T any](name string, field func(*T) *float64) Column[T] {
	c := Float(name, field)
	c.number = nil
	c.Add = func(b []byte, r *T) []byte {
		if v := *field(r); stats.Finite(v) {
			return strconv.AppendFloat(b, v, 'g', decimals, 64)
		}
		return b
	}
	return c
}

// Bool holds true or false; an empty field is false.
func Bool[T any](name string, field func(*T) *bool) Column[T] {
	return Column[T]{
		Name: name,
		Add:  func(b []byte, r *T) []byte { return strconv.AppendBool(b, *field(r)) },
		Set: func(r *T, s string) (err error) {
			if *field(r) = false; s != "" {
				if *field(r), err = strconv.ParseBool(s); err != nil {
					return fmt.Errorf("%q is neither true nor false", s)
				}
			}
			return nil
		},
	}
}

func parse(field *float64, s string, empty float64) error {
	if s == "" {
		*field = empty
		return nil
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return fmt.Errorf("%q is no number", s)
	}
	*field = v
	return nil
}

// writer writes rows as CSV (RFC 4180), as encoding/csv would.
type writer[T any] struct {
	columns []Column[T]
	w       io.Writer
	line    []byte
	// first is how all lines begin, with the first same columns; see Repeat.
	first []byte
	same  int
}

// newWriter writes the header: the columns, then the extra ones.
func newWriter[T any](w io.Writer, columns []Column[T], extra []string) (*writer[T], error) {
	t := &writer[T]{columns: columns, w: w}
	t.line = Header(nil, columns, extra)
	_, err := w.Write(t.line)
	return t, err
}

// Header appends the first line of a table.
func Header[T any](b []byte, columns []Column[T], extra []string) []byte {
	for _, c := range columns {
		b = append(b, c.Name...)
		b = append(b, ',')
	}
	return EndLine(b, extra)
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

// Repeat promises that the first columns of all rows to come are those of row.
func (t *writer[T]) Repeat(row *T, columns int) {
	t.first, t.same = t.fields(nil, row, t.columns[:columns]), columns
}

// fields appends columns of a row, with a comma behind each.
func (t *writer[T]) fields(b []byte, row *T, columns []Column[T]) []byte {
	for i := range columns {
		switch c := &columns[i]; {
		case c.number != nil:
			b = AppendNumber(b, *c.number(row))
		case c.whole != nil:
			b = strconv.AppendInt(b, int64(*c.whole(row)), 10)
		default:
			from := len(b)
			if b = c.Add(b, row); c.Text {
				b = quoteField(b, from)
			}
		}
		b = append(b, ',')
	}
	return b
}

// Add writes a row and the values of the extra columns.
func (t *writer[T]) Add(row *T, extra []string) error {
	t.line = t.append(t.line[:0], row, extra)
	_, err := t.w.Write(t.line)
	return err
}

// append appends the line of a row.
func (t *writer[T]) append(b []byte, row *T, extra []string) []byte {
	return EndLine(t.fields(append(b, t.first...), row, t.columns[t.same:]), extra)
}

// MarshalRow writes a row as a JSON object with the columns in their order.
func MarshalRow[T any](columns []Column[T], row *T) ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, c := range columns {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Quote(c.Name))
		b.WriteByte(':')
		switch field := c.Add(nil, row); {
		case c.Text:
			raw, err := json.Marshal(string(field))
			if err != nil {
				return nil, fmt.Errorf("encode %s: %w", c.Name, err)
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

// UnmarshalRow reads what MarshalRow wrote; absent columns are as empty fields.
func UnmarshalRow[T any](columns []Column[T], raw []byte, row *T) error {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil {
		return err
	}
	for _, c := range columns {
		v, s := object[c.Name], ""
		switch {
		case len(v) == 0 || string(v) == "null":
		case c.Text:
			if err := json.Unmarshal(v, &s); err != nil {
				return fmt.Errorf("decode %s: %w", c.Name, err)
			}
		default:
			s = string(v)
		}
		if err := c.Set(row, s); err != nil {
			return fmt.Errorf("decode %s: %w", c.Name, err)
		}
	}
	return nil
}
