package table

import "github.com/tfexp/tfexp/experiments/schema"

// Registered is a kind of table that is stored in the folders of experiments or of cells.
type Registered interface {
	Name() string // name of the file without its extension
	Columns() []Column
}

// tables are the registered tables of experiments, and cellTables the registered tables of cells.
var tables, cellTables = newTables(), newTables()

func newTables() *schema.Registry[Registered] {
	return schema.NewRegistry("table: kind", Registered.Name, schema.Unranked)
}

// Register adds a kind of table to the folders of experiments. See NewSchema for the arguments.
func Register[T any](file string, fields func() []Field[T]) *Schema[T] {
	return add(tables, NewSchema(file, fields))
}

// RegisterOfCells adds a kind of table to the folders of cells. See NewSchema for the arguments.
func RegisterOfCells[T any](file string, fields func() []Field[T]) *Schema[T] {
	return add(cellTables, NewSchema(file, fields))
}

func add[T any](to *schema.Registry[Registered], s *Schema[T]) *Schema[T] {
	to.Add(s)
	return s
}

// Tables lists the kinds of tables of experiments, sorted by name.
func Tables() []Registered { return tables.All() }

// CellTables lists the kinds of tables of cells, sorted by name.
func CellTables() []Registered { return cellTables.All() }
