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

// Kind is the type of a column's values.
type Kind int

// The kinds of columns. An unknown value is an empty field in CSV, and null in JSON.
const (
	// AsText values are always quoted in JSON, even if they look like numbers.
	AsText Kind = iota
	// AsNumber values are NaN or infinite if they are unknown. AsTime and AsCount values are negative for events that
	// never occurred.
	AsNumber
	AsTime
	AsCount
	// AsPrecise values keep six significant digits however small they are: p-values.
	AsPrecise
	// AsWhole values are 0, and AsFlag values false, if the field is empty.
	AsWhole
	AsFlag
	// AsList values are numbers, separated by spaces.
	AsList
	// AsLoose values are written in JSON as the type that they look like: values of axes of the matrix.
	AsLoose
)

// Column describes a column of a table.
type Column struct {
	Name string
	Kind Kind
	// Metric is the name of the metric that the column shows; empty for other columns.
	Metric string
}

// Field is a column of a table whose rows are of type T. It writes and reads both CSV and JSON.
type Field[T any] struct{ field }

// field is the part of Field that does not depend on the type of the rows. Its code is compiled only once.
type field struct {
	Column
	offset uintptr // offset of the field in the row
	// Computed columns have these functions, which append the value of a row to text and set it from text.
	add func([]byte, unsafe.Pointer) []byte
	set func(unsafe.Pointer, string) error
}

// Computed returns a column whose values are not stored in a field of the row. The function add appends the value of a
// row to text, and set changes the row according to text.
func Computed[T any](name string, kind Kind, add func([]byte, *T) []byte, set func(*T, string) error) Field[T] {
	return Field[T]{field{
		Column: Column{Name: name, Kind: kind},
		add:    func(b []byte, row unsafe.Pointer) []byte { return add(b, (*T)(row)) },
		set:    func(row unsafe.Pointer, text string) error { return set((*T)(row), text) },
	}}
}

// kinds are the kinds of columns by the type of the Go field and the option in its tag.
var kinds = map[reflect.Type]map[string]Kind{
	reflect.TypeFor[string]():    {"": AsText},
	reflect.TypeFor[int]():       {"": AsWhole},
	reflect.TypeFor[bool]():      {"": AsFlag},
	reflect.TypeFor[float64]():   {"": AsNumber, "time": AsTime, "precise": AsPrecise},
	reflect.TypeFor[int64]():     {"count": AsCount},
	reflect.TypeFor[[]float64](): {"": AsList},
}

// FieldsOf returns a column for each field of T that has a tag such as `csv:"arrival_s,time"`: the column's name and,
// for some kinds, the option "time", "count" or "precise". Without an option, the type of the field determines the
// kind. Structs that are embedded, or whose tag is `csv:",inline"`, are replaced by their own fields.
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

// at returns a pointer to the field f of a row. V must be its type, which fieldsOf has checked.
func at[V any](f *field, row unsafe.Pointer) *V { return (*V)(unsafe.Add(row, f.offset)) }

// append appends the value of the field in row r to b. It must be fast: tables have millions of fields.
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

// read sets the field in row r from the text s.
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

// parse sets *to to the value that the function read returns for s, or to empty if s is empty. The error says that s
// isNot.
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

// Schema is a kind of table: the name of its file, and the columns of its rows, which are of type T.
type Schema[T any] struct{ layout }

// layout is the part of Schema that does not depend on the type of the rows.
type layout struct {
	File   string
	fields func() []field
}

// NewSchema returns a kind of table with the columns that the function fields returns; it is called on first use. If
// fields is nil, the columns are FieldsOf[T].
func NewSchema[T any](file string, fields func() []Field[T]) *Schema[T] {
	if fields == nil {
		fields = FieldsOf[T]
	}
	return &Schema[T]{layout{file, sync.OnceValue(func() []field {
		return schema.Each(fields(), func(f Field[T]) field { return f.field })
	})}}
}

// Only returns the table with only the columns that names lists.
func (s *Schema[T]) Only(names []string) *Schema[T] {
	fields := slices.DeleteFunc(slices.Clone(s.fields()), func(f field) bool { return !slices.Contains(names, f.Name) })
	return &Schema[T]{layout{s.File, func() []field { return fields }}}
}

// Name returns the name of the file without its extension.
func (s *layout) Name() string { return strings.TrimSuffix(s.File, ".csv") }

// Columns returns the table's columns.
func (s *layout) Columns() (columns []Column) {
	return schema.Each(s.fields(), func(f field) Column { return f.Column })
}

// Marshal returns a row as a JSON object whose members are in the order of the columns.
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

// Unmarshal sets a row from the output of Marshal. Absent members count as empty fields.
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

// AppendValue appends a field to line as a JSON value. If a column of numbers has a field that is not a number, as
// tables of other programs may, that field is written as text.
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

// IsNumber reports whether a field is a number in the syntax of both Go and JSON.
func IsNumber(field string) bool {
	_, err := strconv.ParseFloat(field, 64)
	return err == nil && json.Valid([]byte(field))
}

// IsText reports whether fields of this kind are shown as text.
func (k Kind) IsText() bool { return k == AsText || k == AsList || k == AsLoose }
