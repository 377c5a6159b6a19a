package stages

import (
	"context"
	"time"

	"github.com/tfexp/tfexp/results/record"
)

// SelectPart is a part of an experiment (experiment.Parts) that postpones cells of the matrix until results show that
// they are needed.
type SelectPart interface {
	// Select returns the selection among the cells of the matrix; nil if all cells run.
	Select(cells []record.CellRef) Selection
}

// Selection selects cells of the matrix, by index, according to results.
type Selection interface {
	// Holds reports whether a cell must wait until Next returns it.
	Holds(cell int) bool
	// Next returns the cells that are needed next; none at the end. It is called before the first cell, and again when
	// all its cells have ended. over returns the record of a cell that finished or failed, by name.
	Next(over func(cell string) (record.Cell, bool)) []int
	// Ahead returns the largest number of cells that may still be needed.
	Ahead() int
}

// ExpectPart is a part of an experiment that predicts something about a planned run.
type ExpectPart interface {
	Expect(ctx context.Context, known Known) Expectation
}

// Known has the cells of a planned run.
type Known struct {
	Refs  []record.CellRef // the cells of the matrix
	Cells []Cell
	// Over returns the record of a cell that the run reuses, by name.
	Over func(cell string) (record.Cell, bool)
}

// Expectation is the prediction of a part: lines of text, and a value for plan --json. The zero value is no prediction.
type Expectation struct {
	Lines []ExpectedLine
	Value any
}

// ExpectedLine is one predicted fact. Took is the run's time until then; 0 if it is unknown.
type ExpectedLine struct {
	Text string
	Took time.Duration
}
