// Package table writes, reads and shows tables of results. A kind of table is described once, by the fields of its
// rows. It can then be written and read as CSV, exported in every format, and shown on the terminal and in the report.
// A file gets its name when it is complete. Tables that are read while they grow are written row by row instead.
package table

import (
	"slices"

	"github.com/tfexp/tfexp/experiments/schema"
)

// Table is a table to show or to export: columns, and rows of text. In tables for programs, fields have the same text
// as in CSV, and unknown fields are empty.
type Table struct {
	Columns []Column
	Rows    [][]string
	// Kept are the names of the metrics that Fit never leaves out: those that the experiment compares.
	Kept []string
	// Variants has, for each row, the separate parts of its field in the column Variant. It is nil without such a
	// column.
	Variants []Variant
	Variant  int
}

// Variant is a policy with a value for each axis.
type Variant struct {
	Policy string
	Axes   []Setting
}

// Setting is a name with a value in its canonical text form.
type Setting = schema.Setting

// New returns a table for people with columns of these titles. The first columns, as many as text says, hold text, and
// the others hold numbers.
func New(text int, titles ...string) (t Table) {
	for i, title := range titles {
		c := Column{Name: title, Kind: AsNumber}
		if i < text {
			c.Kind = AsText
		}
		t.Columns = append(t.Columns, c)
	}
	return t
}

// Add appends a row.
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

// Left returns the number of text columns before the first column of numbers.
func (t Table) Left() int {
	return max(0, slices.IndexFunc(append(slices.Clone(t.Columns), Column{Kind: AsNumber}),
		func(c Column) bool { return c.Kind != AsText }))
}

// Header returns the names of the columns.
func (t Table) Header() (names []string) {
	names = append(names, schema.Each(t.Columns, func(c Column) string { return c.Name })...)
	return names
}

// insert returns the table with more columns, the first of which gets the number at. The function argument of returns
// the values of these columns for a row.
func (t Table) insert(at int, columns []Column, of func(row int) []string) Table {
	t.Columns = slices.Insert(slices.Clone(t.Columns), at, columns...)
	t.Rows = slices.Clone(t.Rows)
	for i, row := range t.Rows {
		t.Rows[i] = slices.Insert(slices.Clone(row), at, of(i)...)
	}
	return t
}

// Apart returns the table with separate columns for the policy and for each axis, instead of the column Variant.
func (t Table) Apart() Table {
	var axes []Column
	for _, v := range t.Variants {
		for _, s := range v.Axes {
			if c := (Column{Name: s.Name}); !slices.Contains(axes, c) {
				axes = append(axes, c)
			}
		}
	}
	out := t.insert(t.Variant+1, axes, func(row int) []string {
		values := make([]string, len(axes))
		for _, s := range t.Variants[row].Axes {
			values[slices.Index(axes, Column{Name: s.Name})] = s.Value
		}
		return values
	})
	for i, v := range t.Variants {
		out.Rows[i][t.Variant] = v.Policy
	}
	out.Variants = nil
	return out
}

// Without returns the table without the columns for which drop returns true.
func (t Table) Without(drop func(Column) bool) Table {
	out := t
	out.Columns, out.Rows = nil, make([][]string, len(t.Rows))
	for i, c := range t.Columns {
		if drop(c) {
			continue
		}
		out.Columns = append(out.Columns, c)
		for k, row := range t.Rows {
			out.Rows[k] = append(out.Rows[k], row[i])
		}
	}
	return out
}
