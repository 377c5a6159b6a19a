// Package format writes tables in the formats of other programs. Each format has its own file.
package format

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/scheduler/workload/csvrows"
)

// Format is a file format for tables.
type Format struct {
	// Name is the format's name on the command line: --format latex.
	Name string
	// Doc is a description of the format, without a full stop.
	Doc string
	// ForPeople reports whether the format shows rounded numbers with units and intervals, and leaves out columns
	// without any known value.
	ForPeople bool
	// Write writes a table in this format.
	Write func(io.Writer, *table.Table) error
}

var formats = schema.NewRegistry("table: format", func(f Format) string { return f.Name }, schema.Unranked)

// Register adds a format. It panics if the name is taken.
func Register(f Format) { formats.Add(f) }

// Formats lists all formats, sorted by name.
func Formats() []Format { return formats.All() }

// Rows reads a CSV table. It returns the columns, which the function column makes from the names in the header, and the
// records. A record is valid until the next one is read.
func Rows(from io.Reader, column func(name string) table.Column) ([]table.Column, iter.Seq2[[]string, error], error) {
	in := csv.NewReader(csvrows.Bound(from))
	head, err := in.Read()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, fmt.Errorf("read table: %w", err)
	}
	columns := schema.Each(head, column)
	in.ReuseRecord = true
	return columns, func(yield func([]string, error) bool) {
		for {
			row, err := in.Read()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				err = fmt.Errorf("read table: %w", err)
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}, nil
}

// ReadTable reads a whole CSV table into memory. See Rows for its arguments.
func ReadTable(from io.Reader, column func(name string) table.Column) (*table.Table, error) {
	columns, rows, err := Rows(from, column)
	if err != nil {
		return nil, err
	}
	t := &table.Table{Columns: columns}
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		t.Rows = append(t.Rows, slices.Clone(row))
	}
	for i, c := range columns {
		if c.Kind == table.AsLoose {
			t.Columns[i].Kind = looks(t, i)
		}
	}
	return t, nil
}

// looks guesses the type of a column from its values: AsNumber or AsFlag if that fits all known values, otherwise
// AsLoose.
func looks(t *table.Table, column int) table.Kind {
	numbers, flags := true, true
	for _, row := range t.Rows {
		field := row[column]
		numbers = numbers && (field == "" || table.IsNumber(field))
		flags = flags && (field == "" || field == "true" || field == "false")
	}
	switch {
	case numbers:
		return table.AsNumber
	case flags:
		return table.AsFlag
	}
	return table.AsLoose
}

// Rounded returns a table of exact values in the form for people: text columns come first, and columns without any
// known value are left out. A table without rows keeps all columns.
func Rounded(t *table.Table) *table.Table {
	var text, numbers []int
	for i, c := range t.Columns {
		switch {
		case len(t.Rows) > 0 && !slices.ContainsFunc(t.Rows, func(row []string) bool { return row[i] != "" }):
		case c.Kind.IsText() || c.Kind == table.AsFlag:
			text = append(text, i)
		default:
			numbers = append(numbers, i)
		}
	}
	var out table.Table
	for k, i := range slices.Concat(text, numbers) {
		c := t.Columns[i]
		if c.Kind = table.AsNumber; k < len(text) {
			c.Kind = table.AsText
		}
		out.Columns = append(out.Columns, c)
	}
	for _, row := range t.Rows {
		var line []string
		for k, i := range slices.Concat(text, numbers) {
			field := row[i]
			if v, err := strconv.ParseFloat(field, 64); err == nil && k >= len(text) {
				field = table.Number(v)
			}
			line = append(line, field)
		}
		out.Rows = append(out.Rows, line)
	}
	return &out
}
