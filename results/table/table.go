// Package table presents results: a kind of table is described once, by the fields of its rows, and is written and
// read as CSV, exported in every format, and shown on the terminal and in the report. Files appear under their
// names all at once, or, where a table can be read while it grows, row by row.
package table

import (
	"slices"

	"github.com/tfexp/tfexp/experiments/schema"
)

// Table is a table that is shown or exported: columns, and text in all fields. In a table for programs, fields are
// written as in CSV, and unknown ones are empty.
type Table struct {
	Columns []Column
	Rows    [][]string
	// Kept are the metrics that the table is about: the ones that the experiment compares.
	Kept []string
	// Variants has, for each row, the parts joined in its cell of the column Variant; nil without such a column.
	Variants []Variant
	Variant  int
}

// Variant is a policy, and the values of the axes.
type Variant struct {
	Policy string
	Axes   []Setting
}

// Setting is a name with a value in its canonical text form.
type Setting = schema.Setting

// New returns a table for people, whose first text columns hold text and the others numbers.
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

// Left is the number of columns of text before the numbers.
func (t Table) Left() int {
	return max(0, slices.IndexFunc(append(slices.Clone(t.Columns), Column{Kind: AsNumber}),
		func(c Column) bool { return c.Kind != AsText }))
}

// Header lists the names of the columns.
func (t Table) Header() (names []string) {
	names = append(names, schema.Each(t.Columns, func(c Column) string { return c.Name })...)
	return names
}

// insert returns the table with columns at a place, with the values that the function returns for the number of
// each row.
func (t Table) insert(at int, columns []Column, of func(row int) []string) Table {
	t.Columns = slices.Insert(slices.Clone(t.Columns), at, columns...)
	t.Rows = slices.Clone(t.Rows)
	for i, row := range t.Rows {
		t.Rows[i] = slices.Insert(slices.Clone(row), at, of(i)...)
	}
	return t
}

// Apart returns the table with a column for the policy and for each axis in place of the column for the
// variants.
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

// Without returns the table without the columns that drop reports.
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
