package tell

import (
	"fmt"
	"slices"
	"strings"
)

// Registered is a kind of table that experiments leave in their folders, or its cells in theirs.
type Registered interface {
	Name() string // of its file, without the ending
	Columns() []Column
}

// tables are those of experiments and of cells, by name.
var tables, cellTables []Registered

// Register adds a kind of table in the folders of experiments; see NewSchema.
func Register[T any](file string, fields func() []Field[T]) *Schema[T] {
	return add(&tables, NewSchema(file, fields))
}

// RegisterOfCells adds a kind of table in the folders of cells.
func RegisterOfCells[T any](file string, fields func() []Field[T]) *Schema[T] {
	return add(&cellTables, NewSchema(file, fields))
}

func add[T any](to *[]Registered, s *Schema[T]) *Schema[T] {
	if slices.ContainsFunc(*to, func(r Registered) bool { return r.Name() == s.Name() }) {
		panic(fmt.Sprintf("there are two tables %s", s.File))
	}
	*to = append(*to, s)
	slices.SortFunc(*to, func(a, b Registered) int { return strings.Compare(a.Name(), b.Name()) })
	return s
}

// Tables lists the kinds of tables of experiments by name, CellTables those of cells.
func Tables() []Registered { return slices.Clone(tables) }

// CellTables lists the kinds of tables of cells by name.
func CellTables() []Registered { return slices.Clone(cellTables) }

// ColumnsOf finds the columns of a table by their names. What it has besides are the axes of the matrix.
func ColumnsOf(r Registered) func(name string) Column {
	columns := r.Columns()
	return func(name string) Column {
		for _, c := range columns {
			if c.Name == name {
				return c
			}
		}
		return Column{Name: name, Kind: AsLoose}
	}
}
