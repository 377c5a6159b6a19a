package stages

import (
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages/experiment"
)

// SearchPart is a part of an experiment that runs cells beyond the matrix, chosen from results.
type SearchPart interface {
	// Search begins a search; it returns nil if there is nothing to search.
	Search(Searched) Search
}

// Search chooses cells beyond the matrix from the results of other cells.
type Search interface {
	// Next returns the cells to run next. It is called before the first cell, and again whenever all its cells have
	// ended. over returns the record of a cell that finished or failed. The same results must give the same cells,
	// because a killed run is resumed with them.
	Next(over func(cell string) (record.Cell, bool)) ([]Beyond, error)
	// Ahead returns the largest number of cells that may follow.
	Ahead() int
}

// Beyond is a cell beyond the matrix.
type Beyond struct {
	// Name is its name in the results, and Replicate its replicate.
	Name      string
	Replicate int
	Point     experiment.Cell
	// Axes are its values of the matrix's axes. Kept is stored with the cell in the results.
	Axes []schema.Setting
	Kept *record.FeatureValue
}

// Searched is the experiment of a search.
type Searched struct {
	*experiment.Spec
	// Seed returns the seed of a replicate; replicates count from 1.
	Seed func(replicate int) int64
}

// CellPart is a part of a cell that adds to the cell's task. It also adds to the task of the simulation of a real cell,
// whose name ends in record.TwinDir.
type CellPart interface{ Complete(*Task, CellAt) error }

// CellAt returns the task of the same cell at another point, with the same folders.
type CellAt func(point experiment.Cell) (Task, error)

// TaskPart is a part of a task that is called when the cell runs. If tasks are written to files, its type must be
// registered with encoding/gob.
type TaskPart interface {
	// Begin is called before the cell runs on an engine, and may change the run. It returns a recorder of the trace,
	// and a function that adds to the cell's record at the end; either may be nil.
	Begin(*Task, scheduler.Engine, *scheduler.Run) (scheduler.Recorder, Finish, error)
}

// Finish adds to the record of a cell whose trace is complete.
type Finish func(*record.CellWriter, *record.Cell) error
