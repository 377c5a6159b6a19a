// Package parquet is the format Apache Parquet of tables.
package parquet

import (
	"fmt"
	"io"
	"reflect"
	"strconv"

	"github.com/parquet-go/parquet-go"

	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/results/table/format"
)

func init() {
	format.Register(format.Format{
		Name: "parquet", Doc: "Apache Parquet, for pandas, DuckDB and the like; what is not known is null",
		Write: write,
	})
}

// write writes a table whose columns are known only at run time: the type of its rows is made from them.
func write(w io.Writer, t *table.Table) error {
	fields := make([]reflect.StructField, len(t.Columns))
	for i, c := range t.Columns {
		of := reflect.TypeFor[*float64]()
		switch {
		case c.Kind.IsText():
			of = reflect.TypeFor[*string]()
		case c.Kind == table.AsFlag:
			of = reflect.TypeFor[*bool]()
		}
		fields[i] = reflect.StructField{Name: fmt.Sprintf("Column%d", i), Type: of,
			Tag: reflect.StructTag(fmt.Sprintf("parquet:%q", c.Name+",optional,snappy"))}
	}
	row := reflect.New(reflect.StructOf(fields))
	out := parquet.NewWriter(w, parquet.SchemaOf(row.Interface()))
	for _, cells := range t.Rows {
		for i, field := range cells {
			value, err := pointer(fields[i].Type, field)
			if err != nil {
				return fmt.Errorf("column %s: %w", t.Columns[i].Name, err)
			}
			row.Elem().Field(i).Set(value)
		}
		if err := out.Write(row.Interface()); err != nil {
			return fmt.Errorf("write parquet: %w", err)
		}
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("write parquet: %w", err)
	}
	return nil
}

// pointer returns a field as a value of a type; nil for one that is not known.
func pointer(of reflect.Type, field string) (reflect.Value, error) {
	if field == "" {
		return reflect.Zero(of), nil
	}
	switch of {
	case reflect.TypeFor[*float64]():
		v, err := strconv.ParseFloat(field, 64)
		return reflect.ValueOf(&v), err
	case reflect.TypeFor[*bool]():
		v, err := strconv.ParseBool(field)
		return reflect.ValueOf(&v), err
	}
	return reflect.ValueOf(&field), nil
}
