package table

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/stats"
)

// Kind is the type of the fields of a column.
type Kind int

// The kinds of columns. A field that is not known is empty in CSV and null in JSON.
const (
	// AsText is quoted in JSON, also where it looks like a number.
	AsText Kind = iota
	// AsNumber is NaN or infinite where it is not known, Time and Count are negative for never.
	AsNumber
	AsTime
	AsCount
	// AsPrecise is a Number that keeps six significant digits however small it is, for p-values.
	AsPrecise
	// AsWhole is 0, and Flag false, where the field is empty.
	AsWhole
	AsFlag
	// AsList holds numbers with spaces between them.
	AsList
	// AsLoose has the type that it looks like: the value of an axis of the matrix.
	AsLoose
)

// Column describes a column of a table.
type Column struct {
	Name string
	Kind Kind
	// Metric is the name of the metric that the column shows, if it shows one.
	Metric string
}

// Field is a column of a table whose rows are of type T. The same fields write and read CSV and JSON, so the two
// stay consistent.
type Field[T any] struct{ field }

// field is a Field for any type of rows: the code that tables share is compiled once, not for each type.
type field struct {
	Column
	offset uintptr // of the field in the row
	// Where these are set, they append the field of a row and read it.
	add func([]byte, unsafe.Pointer) []byte
	set func(unsafe.Pointer, string) error
}

// Computed is a column that is no field of its row.
func Computed[T any](name string, kind Kind, add func([]byte, *T) []byte, set func(*T, string) error) Field[T] {
	return Field[T]{field{
		Column: Column{Name: name, Kind: kind},
		add:    func(b []byte, row unsafe.Pointer) []byte { return add(b, (*T)(row)) },
		set:    func(row unsafe.Pointer, text string) error { return set((*T)(row), text) },
	}}
}

// kinds are the kinds of columns of Go's types, by the option in the tag.
var kinds = map[reflect.Type]map[string]Kind{
	reflect.TypeFor[string]():    {"": AsText},
	reflect.TypeFor[int]():       {"": AsWhole},
	reflect.TypeFor[bool]():      {"": AsFlag},
	reflect.TypeFor[float64]():   {"": AsNumber, "time": AsTime, "precise": AsPrecise},
	reflect.TypeFor[int64]():     {"count": AsCount},
	reflect.TypeFor[[]float64](): {"": AsList},
}

// FieldsOf are the columns of the fields of T that have a tag, `csv:"arrival_s,time"`: a name, and an option that is
// "time", "count" or "precise" for these kinds; else the kind follows from the type. Fields of structs that are
// embedded,
// or whose tag is `csv:",inline"`, are in their place.
func FieldsOf[T any]() []Field[T] {
	return schema.Each(fieldsOf(reflect.TypeFor[T]()), func(f field) Field[T] { return Field[T]{f} })
}

func fieldsOf(row reflect.Type) (fields []field) {
	var walk func(t reflect.Type, base uintptr)
	walk = func(t reflect.Type, base uintptr) {
		for i := range t.NumField() {
			f := t.Field(i)
			tag, tagged := f.Tag.Lookup("csv")
			name, option, _ := strings.Cut(tag, ",")
			switch {
			case f.Anonymous && !tagged && f.Type.Kind() == reflect.Struct || option == "inline":
				walk(f.Type, base+f.Offset)
			case tagged:
				kind, ok := kinds[f.Type][option]
				if !ok {
					panic(fmt.Sprintf("%s.%s: no column %q is of type %s", t, f.Name, tag, f.Type))
				}
				fields = append(fields, field{Column: Column{Name: name, Kind: kind}, offset: base + f.Offset})
			}
		}
	}
	walk(row, 0)
	return fields
}

// at points to the field of a row, which is of the type of its kind: fieldsOf has seen to that.
func at[V any](f *field, row unsafe.Pointer) *V { return (*V)(unsafe.Add(row, f.offset)) }

// append appends the field of a row: tables have millions of them.
func (f *field) append(b []byte, r unsafe.Pointer) []byte {
	if f.add != nil {
		return f.add(b, r)
	}
	switch f.Kind {
	case AsText:
		return append(b, *at[string](f, r)...)
	case AsWhole:
		return AppendInt(b, int64(*at[int](f, r)))
	case AsNumber:
		return AppendNumber(b, *at[float64](f, r))
	case AsTime:
		if v := *at[float64](f, r); v >= 0 {
			return AppendNumber(b, v)
		}
	case AsCount:
		if v := *at[int64](f, r); v >= 0 {
			return AppendInt(b, v)
		}
	case AsPrecise:
		if v := *at[float64](f, r); stats.Finite(v) {
			return strconv.AppendFloat(b, v, 'g', decimals, 64)
		}
	case AsFlag:
		return strconv.AppendBool(b, *at[bool](f, r))
	case AsList:
		for i, v := range *at[[]float64](f, r) {
			if i > 0 {
				b = append(b, ' ')
			}
			b = AppendNumber(b, v)
		}
	}
	return b
}

// read reads the field of a row.
func (f *field) read(r unsafe.Pointer, s string) (err error) {
	if f.set != nil {
		return f.set(r, s)
	}
	switch f.Kind {
	case AsText:
		*at[string](f, r) = s
	case AsWhole:
		err = parse(at[int](f, r), s, 0, "no whole number", strconv.Atoi)
	case AsCount:
		err = parse(at[int64](f, r), s, -1, "no whole number", func(s string) (int64, error) {
			return strconv.ParseInt(s, 10, 64)
		})
	case AsNumber, AsPrecise:
		err = parse(at[float64](f, r), s, math.NaN(), "no number", parseFloat)
	case AsTime:
		err = parse(at[float64](f, r), s, -1, "no number", parseFloat)
	case AsFlag:
		err = parse(at[bool](f, r), s, false, "neither true nor false", strconv.ParseBool)
	case AsList:
		list := at[[]float64](f, r)
		*list = nil
		for _, text := range strings.Fields(s) {
			var v float64
			if err := parse(&v, text, 0, "no number", parseFloat); err != nil {
				return err
			}
			*list = append(*list, v)
		}
	}
	return err
}

func parseFloat(s string) (float64, error) { return strconv.ParseFloat(s, 64) }

// parse reads a value, which is the empty value without text.
func parse[V any](to *V, s string, empty V, isNot string, read func(string) (V, error)) error {
	if *to = empty; s == "" {
		return nil
	}
	v, err := read(s)
	if err != nil {
		return fmt.Errorf("%q is %s", s, isNot)
	}
	*to = v
	return nil
}

// Schema is a kind of table: a file whose rows are of type T.
type Schema[T any] struct{ layout }

// layout is a Schema for any type of rows.
type layout struct {
	File   string
	fields func() []field
}

// NewSchema returns a kind of table with the columns that fields lists, on first use, or without it with the columns
// of FieldsOf.
func NewSchema[T any](file string, fields func() []Field[T]) *Schema[T] {
	if fields == nil {
		fields = FieldsOf[T]
	}
	return &Schema[T]{layout{file, sync.OnceValue(func() []field {
		return schema.Each(fields(), func(f Field[T]) field { return f.field })
	})}}
}

// Only is the same table with some of its columns.
func (s *Schema[T]) Only(names []string) *Schema[T] {
	fields := slices.DeleteFunc(slices.Clone(s.fields()), func(f field) bool { return !slices.Contains(names, f.Name) })
	return &Schema[T]{layout{s.File, func() []field { return fields }}}
}

// Name is the name of the file without its extension.
func (s *layout) Name() string { return strings.TrimSuffix(s.File, ".csv") }

// Columns describes the columns.
func (s *layout) Columns() (columns []Column) {
	return schema.Each(s.fields(), func(f field) Column { return f.Column })
}

// Marshal writes a row as a JSON object with the columns in their order.
func (s *Schema[T]) Marshal(row *T) ([]byte, error) { return s.marshal(unsafe.Pointer(row)), nil }

func (s *layout) marshal(row unsafe.Pointer) []byte {
	b := []byte{'{'}
	for i, f := range s.fields() {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(strconv.AppendQuote(b, f.Name), ':')
		b = AppendValue(b, string(f.append(nil, row)), f.Kind)
	}
	return append(b, '}')
}

// Unmarshal reads the output of Marshal; absent columns count as empty fields.
func (s *Schema[T]) Unmarshal(raw []byte, row *T) error { return s.unmarshal(raw, unsafe.Pointer(row)) }

func (s *layout) unmarshal(raw []byte, row unsafe.Pointer) error {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil {
		return err
	}
	for _, f := range s.fields() {
		v, text := object[f.Name], ""
		switch {
		case len(v) == 0 || string(v) == "null":
		case f.Kind == AsText:
			if err := json.Unmarshal(v, &text); err != nil {
				return fmt.Errorf("decode %s: %w", f.Name, err)
			}
		default:
			text = string(v)
		}
		if err := f.read(row, text); err != nil {
			return fmt.Errorf("decode %s: %w", f.Name, err)
		}
	}
	return nil
}

// AppendValue appends a field as JSON. A malformed number, in a table of somebody else, is text.
func AppendValue(line []byte, field string, kind Kind) []byte {
	switch {
	case kind == AsText || kind == AsList:
	case field == "":
		return append(line, "null"...)
	case field == "true" || field == "false" || IsNumber(field):
		return append(line, field...)
	}
	quoted, _ := json.Marshal(field)
	return append(line, quoted...)
}

// IsNumber reports whether a field is a number of Go and of JSON.
func IsNumber(field string) bool {
	_, err := strconv.ParseFloat(field, 64)
	return err == nil && json.Valid([]byte(field))
}

// IsText reports whether fields of the kind are text for people.
func (k Kind) IsText() bool { return k == AsText || k == AsList || k == AsLoose }
