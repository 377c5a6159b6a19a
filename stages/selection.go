package stages

import "github.com/tfexp/tfexp/results/record"

// SelectPart is a part of a file (experiment.Parts) that leaves out cells of the matrix until results show that they
// are needed.
type SelectPart interface {
	// Select returns the selection among the cells of the matrix; nil where it leaves out none.
	Select(cells []record.CellRef) Selection
}

// Selection chooses cells of the matrix, by their indexes, as results come in.
type Selection interface {
	// Holds reports whether a cell is left out until Next returns it.
	Holds(cell int) bool
	// Next returns the cells that are needed next; none at the end. It is called first before anything has run, and
	// again when all cells so far are over. over returns the record of a cell that finished or failed, by its name.
	Next(over func(cell string) (record.Cell, bool)) []int
	// Ahead bounds the number of cells that may still be needed.
	Ahead() int
}
