package stages

import (
	"context"
	"time"

	"github.com/tfexp/tfexp/results/record"
)

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

// ExpectPart is a part of a file that says what to expect of a run, when it is planned.
type ExpectPart interface {
	Expect(ctx context.Context, known Known) Expectation
}

// Known has the cells of a run that is planned.
type Known struct {
	Refs  []record.CellRef // the cells of the matrix
	Cells []Cell
	// Over returns the record of a cell that the run reuses, by its name.
	Over func(cell string) (record.Cell, bool)
}

// Expectation is a forecast by a part of a file: lines of text, and a value for plan --json. The zero value is no forecast.
type Expectation struct {
	Lines []ExpectedLine
	Value any
}

// ExpectedLine is one fact, and how long the run takes until then; 0 for no time.
type ExpectedLine struct {
	Text string
	Took time.Duration
}
