package table

import "github.com/tfexp/tfexp/experiments/schema"

// Registered is a kind of table that experiments leave in their folders, or its cells in theirs.
type Registered interface {
	Name() string // of its file, without the ending
	Columns() []Column
}

// tables are the registered tables of experiments and of cells, by name.
var tables, cellTables = newTables(), newTables()

func newTables() *schema.Registry[Registered] {
	return schema.NewRegistry("table: kind", Registered.Name, schema.Unranked)
}

// Register adds a kind of table in the folders of experiments; see NewSchema.
func Register[T any](file string, fields func() []Field[T]) *Schema[T] {
	return add(tables, NewSchema(file, fields))
}

// RegisterOfCells adds a kind of table in the folders of cells.
func RegisterOfCells[T any](file string, fields func() []Field[T]) *Schema[T] {
	return add(cellTables, NewSchema(file, fields))
}

func add[T any](to *schema.Registry[Registered], s *Schema[T]) *Schema[T] {
	to.Add(s)
	return s
}

// Tables lists the kinds of tables of experiments by name, CellTables the tables of cells.
func Tables() []Registered { return tables.All() }

// CellTables lists the kinds of tables of cells by name.
func CellTables() []Registered { return cellTables.All() }
