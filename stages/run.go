package stages

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tfexp/tfexp/stages/experiment"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/gpu"
	"github.com/tfexp/tfexp/results/record"
)

// Run is a run of an experiment as its stages see it. The pipeline makes it.
type Run struct {
	// Dir is the experiment's folder of results.
	Dir string
	// Plan is the plan of the experiment. Cells may be added during the run.
	Plan *record.Plan
	// Parallel bounds the simulated cells that run side by side; 0 means one a core.
	Parallel int
	// GPUs is where GPUs are found; nil means this machine's, as far as this
	// process may use them.
	GPUs gpu.Source
	// Place may run cells elsewhere; nil: all cells run in this process.
	Place Place

	Experiment
	Sampling
	PastRuns
	CellQueue
	Shards
	CellFolders
	Pieces
	Engines
	Log

	made    atomic.Int64
	opened  sync.Once
	results *record.Experiment
	damaged error
}

// Results are the results of the run, for stages that read RunSummary: nothing changes them any more. They are read once,
// and no stage may change them.
func (r *Run) Results() (*record.Experiment, error) {
	r.opened.Do(func() { r.results, r.damaged = record.Open(r.Dir) })
	return r.results, r.damaged
}

// Made reports how many things (pictures, files) a stage with a key has made, for
// the progress that is shown; without it they count as one.
func (r *Run) Made(n int) { r.made.Store(int64(n)) }

// TakeMade returns the number that Made was last called with, at least 1, and
// forgets it.
func (r *Run) TakeMade() int { return max(1, int(r.made.Swap(0))) }

// Experiment is an experiment in plain values.
type Experiment interface {
	// Cell returns a cell by its index in the plan.
	Cell(i int) Cell
	// Settings are the values of the blocks that a stage adds, by its name. A block
	// that may occur once has one entry, with the defaults if the file lacks it.
	Settings(stage string) []schema.Settings
	// Estimates fits the samples that are known. The warnings are of jobs that
	// have no estimate.
	Estimates() (rows []record.EstimateRow, warnings []record.Warning)
	// SampleRows are the rows of samples.csv.
	SampleRows() []record.SampleRow
	// File is the content of the experiment file.
	File() *experiment.Spec
	// Beyond describes a cell at a point outside the matrix, with a name, and returns the description of its key:
	// of the point, and of its other dependencies.
	Beyond(point experiment.Cell, name string, depends []KeyLine, dirs Folders) (Task, string, error)
}

// CellQueue has the cells of a run, for the stage that runs them.
type CellQueue interface {
	// Pending returns the cells to run now, as indexes into the plan, in the order
	// of their runs. Finished cells are left out, and restored from the cache.
	// Called again, it returns cells that follow from the results so far; none at
	// the end.
	Pending(context.Context) ([]int, error)
	// FollowingCells counts the cells that may follow from the results so far.
	FollowingCells() int
	// Description describes the key of a cell.
	Description(i int) string
	// Begin notes that a cell begins, and returns its folder, which is empty but
	// for the cell's key; "" for one that is in a shard.
	Begin(i int) (dir string, err error)
	// End records a cell that is over, and keeps it if it finished.
	End(i int, cell record.Cell, took time.Duration) error
	// Reused counts the cells that needed no work.
	Reused() int
	// Predicted is how long a real cell will take; 0 when that is not known.
	Predicted(i int) time.Duration
}

// Shards are the files with the cells that have no folder (results/record).
type Shards interface {
	// Sharded reports whether a cell is a line in a shard; AddToShard puts it there.
	Sharded(i int) bool
	AddToShard(i int, cell record.Cell) error
	// RefreshShards finds the cells that other processes have put into shards; ShardCell returns a cell that is complete.
	RefreshShards() error
	ShardCell(i int) (record.Cell, bool)
}

// CellFolders are the folders of cells and of their twins.
type CellFolders interface {
	// Folder returns the folder of a cell, or of its twin; State how a complete
	// cell there ended.
	Folder(cell string) string
	State(cell string) (state string, ok bool)
	// Complete reports whether the folder of a cell is complete, and was written
	// under the key with a description; Prepare empties it for that.
	Complete(cell, description string) bool
	Prepare(cell, description string) (dir string, err error)
}

// Pieces are the pieces in which stages keep their work.
type Pieces interface {
	// PlannedPieces returns the planned pieces of a stage, by its name, in the order in
	// which it listed them.
	PlannedPieces(stage string) []PlannedPiece
	// KeepPiece keeps a piece, with its time in seconds.
	KeepPiece(stage string, piece Piece, made []byte, seconds float64) error
}

// Engines are the opened engines of a run.
type Engines interface {
	// Site returns the opened engine of a kind, by its name; nil for simulated
	// ones.
	Site(kind string) engine.Session
	// PredictReal predicts the total time of the real cells, by the known samples;
	// cells with an unknown time count as 0.
	PredictReal(context.Context) (time.Duration, error)
}

// Log takes the reports of a stage.
type Log interface {
	// Warn keeps a doubt about the results, of one cell or (with "") of all.
	Warn(code, cell, text string)
	// Note adds a line to the journal.
	Note(Note) error
	// Observe reports progress. It may be called from any goroutine.
	Observe(Progress)
}

// Note is a line of the journal.
type Note struct {
	Event, Unit, State, Text string
	Seconds                  float64
	// Key is the hash of a finished output.
	Key string
}

// ProgressKind is the kind of event that a Progress reports.
type ProgressKind string

// The kinds of progress.
const (
	StageStart  ProgressKind = "stage_start" // a stage begins; Total units
	StageEnd    ProgressKind = "stage_end"   // a stage is over
	UnitStart   ProgressKind = "unit_start"  // a sample, a cell, a picture begins
	UnitUpdate  ProgressKind = "unit_update" // the states of a cell's jobs changed, or one of them reported
	UnitEnd     ProgressKind = "unit_end"    // it is over; Err when it failed
	WarningSeen ProgressKind = "warning"     // Text is for people
)

// Progress is a step of a run, for views.
type Progress struct {
	Kind  ProgressKind
	Stage string // the stage's name
	Unit  string // a job that is sampled, or a cell
	// Done and Total count the stage's units; Reused the ones that needed no work.
	Done, Total, Reused int
	// Standing is the state of the running cell. Its time is the simulated time; 0 for real cells.
	Standing record.CellProgress
	// Training are its jobs that run and have reported, in the order of their starts.
	Training []LatestReport
	// Elapsed is since the unit (or, at StageEnd, the stage) began.
	Elapsed time.Duration
	// Left is the time left for the whole stage, by the estimates and the finished cells; 0 when unknown. LeastLeft and
	// MostLeft bound it at the level of the intervals.
	Left, LeastLeft, MostLeft time.Duration
	Text                      string
	Err                       error
}

// Place is where cells run other than in this process, such as on a batch system.
type Place interface {
	// Away reports whether the user has asked for the place: what this machine lacks does not matter then.
	Away() bool
	// Working reports whether cells of an earlier run are at work in an experiment's folder.
	Working(dir string) (bool, error)
	// Run runs cells of a run, by their index, and returns the ones that must run here. It calls over with each cell that has
	// ended, and its duration. The error is a *Detached when it leaves cells there without waiting for their end.
	Run(ctx context.Context, r *Run, cells []int,
		over func(cell int, out record.Cell, took time.Duration) error) (here []int, err error)
}

// Detached is returned when cells run on at a place without this process: a run that follows collects them.
type Detached struct {
	// Text says which cells are left where, for people.
	Text string
}

func (*Detached) Error() string { return "cells are left to run elsewhere" }
