package stages

import (
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages/experiment"
)

// SearchPart is a part of a file whose cells are beyond the matrix, and follow from results.
type SearchPart interface {
	// Search begins a search; nil for none.
	Search(Searched) Search
}

// Search finds cells beyond the matrix by the results of others.
type Search interface {
	// Next returns the cells to run next. It is called before anything has run, and again whenever all cells so far
	// are over: over then returns the record of a cell that finished or failed. The same results must lead to the same
	// cells, so that a killed run resumes with these.
	Next(over func(cell string) (record.Cell, bool)) ([]Beyond, error)
	// Ahead bounds the number of cells that may follow.
	Ahead() int
}

// Beyond is a cell beyond the matrix.
type Beyond struct {
	// Name is its name in the results, and Replicate its replicate.
	Name      string
	Replicate int
	Point     experiment.Cell
	// Axes are the values of the matrix's axes at which it is, and Kept is kept with it in the results.
	Axes []schema.Setting
	Kept *record.FeatureValue
}

// Searched is an experiment in which cells are searched.
type Searched struct {
	*experiment.Spec
	// Seed returns the seed of a replicate, from 1.
	Seed func(replicate int) int64
}

// CellPart is a part of a cell that adds to its task, and to the task of its twin, whose name ends in record.TwinDir.
type CellPart interface{ Complete(*Task, CellAt) error }

// CellAt returns the task of the same cell at another point, in the same folders.
type CellAt func(point experiment.Cell) (Task, error)

// TaskPart is a part of a task that takes part in the run of its cell. Where tasks are written down for other processes,
// encoding/gob knows its type.
type TaskPart interface {
	// Begin is called before the cell runs on an engine. It may change the run, and returns what records the trace and
	// what adds to the record of the cell when it is over; either may be nil.
	Begin(*Task, scheduler.Engine, *scheduler.Run) (scheduler.Recorder, Finish, error)
}

// Finish adds to the record of a cell whose trace is complete.
type Finish func(*record.CellWriter, *record.Cell) error
