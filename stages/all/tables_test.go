package all_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/table"
)

// fill gives each field of a row a different value.
func fill(v reflect.Value, next *int) {
	*next++
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), next)
			}
		}
	case reflect.Float64:
		v.SetFloat(float64(*next) + 0.25)
	case reflect.Int, reflect.Int64, reflect.Int32:
		v.SetInt(int64(*next))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString("a, \"text\" " + strings.Repeat("x", *next%7))
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[[]float64]() {
			v.Set(reflect.ValueOf([]float64{float64(*next), 0.5}))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), next)
	}
}

// comesBack writes rows of a table and reads them again: one row with all values set, and one with none.
func comesBack(t *testing.T, kind table.Registered) {
	dir := reflect.ValueOf(t.TempDir())
	call := func(name string, args ...reflect.Value) reflect.Value {
		out := reflect.ValueOf(kind).MethodByName(name).Call(args)
		if err := out[len(out)-1]; !err.IsNil() {
			t.Fatalf("%s: %v", kind.Name(), err)
		}
		return out[0]
	}
	of := reflect.ValueOf(kind).MethodByName("Marshal").Type().In(0).Elem()
	rows := reflect.MakeSlice(reflect.SliceOf(of), 2, 2)
	next := 0
	fill(rows.Index(0), &next)
	var written [2]string
	for i := range written {
		for k := range rows.Len() {
			written[i] += string(call("Marshal", rows.Index(k).Addr()).Bytes()) + "\n"
		}
		call("Replace", dir, rows)
		if rows = call("Read", dir); rows.Len() != 2 {
			t.Fatalf("%s: %d rows", kind.Name(), rows.Len())
		}
	}
	if written[0] != written[1] {
		t.Errorf("%s: what was\n%scomes back as\n%s", kind.Name(), written[0], written[1])
	}
	if line, _, _ := strings.Cut(written[0], "\n"); strings.Contains(line, "null") {
		t.Errorf("%s: a field is empty though all values are known: %s", kind.Name(), line)
	}
}

// Each registered table reads its own output.
func TestRowsComeBack(t *testing.T) {
	for _, kind := range slices.Concat(table.Tables(), table.CellTables()) {
		if kind.Name() != "metrics" { // the metrics are not fields
			comesBack(t, kind)
		}
	}
}
