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

// Run is a run of an experiment, with the methods that stages need. The pipeline creates it.
type Run struct {
	// Dir is the experiment's folder of results.
	Dir string
	// Plan is the plan of the experiment. Cells may be added during the run.
	Plan *record.Plan
	// Parallel is the largest number of simulated cells that run at once; 0 means one for each core.
	Parallel int
	// GPUs is the source of GPUs; nil means the GPUs of this machine that this process may use.
	GPUs gpu.Source
	// Place can run cells elsewhere; nil means that all run in this process.
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

// Results returns the results of the run, for stages that read RunSummary. The results are read once and shared, so
// stages must not change them.
func (r *Run) Results() (*record.Experiment, error) {
	r.opened.Do(func() { r.results, r.damaged = record.Open(r.Dir) })
	return r.results, r.damaged
}

// Made sets how many things (pictures, files) a stage with a key has made, for the progress display. Without this call,
// a stage counts as one thing.
func (r *Run) Made(n int) { r.made.Store(int64(n)) }

// TakeMade returns the number that Made has set, at least 1, and resets it.
func (r *Run) TakeMade() int { return max(1, int(r.made.Swap(0))) }

// Experiment has the methods of an experiment that stages need.
type Experiment interface {
	// Cell returns a cell by its index in the plan.
	Cell(i int) Cell
	// Settings returns the values of the blocks that a stage has added, by the stage's name. If the block may occur at
	// most once, there is one entry, with the defaults if the file lacks the block.
	Settings(stage string) []schema.Settings
	// Estimates fits all known samples. warnings are about jobs without an estimate.
	Estimates() (rows []record.EstimateRow, warnings []record.Warning)
	// SampleRows returns the rows of samples.csv.
	SampleRows() []record.SampleRow
	// File returns the decoded experiment file.
	File() *experiment.Spec
	// Beyond returns the task of a cell outside the matrix, and the description of its key. The key has the cell's
	// point and the lines in depends.
	Beyond(point experiment.Cell, name string, depends []KeyLine, dirs Folders) (Task, string, error)
}

// CellQueue has the cells of a run, for the stage that runs them.
type CellQueue interface {
	// Pending returns the cells to run now, as indices into the plan, in the order in which they run. It omits finished
	// cells, and restores them from the cache. Later calls return cells that follow from the results so far, and
	// finally none.
	Pending(context.Context) ([]int, error)
	// FollowingCells returns the largest number of cells that may follow from the results so far.
	FollowingCells() int
	// Description returns the description of a cell's key.
	Description(i int) string
	// Begin records that a cell begins, and returns its folder, which contains only the cell's key. dir is empty for a
	// cell in a shard.
	Begin(i int) (dir string, err error)
	// End records a cell that has ended, and stores it in the cache if it finished.
	End(i int, cell record.Cell, took time.Duration) error
	// Reused returns the number of cells that needed no work.
	Reused() int
	// Predicted returns how long a real cell will take; 0 if unknown.
	Predicted(i int) time.Duration
}

// Shards are files with cells that have no folder (see results/record).
type Shards interface {
	// Sharded reports whether a cell belongs in a shard. AddToShard writes it there.
	Sharded(i int) bool
	AddToShard(i int, cell record.Cell) error
	// RefreshShards reads the cells that other processes have added to shards. ShardCell returns a complete cell.
	RefreshShards() error
	ShardCell(i int) (record.Cell, bool)
}

// CellFolders are the folders of cells and of the simulations of real cells.
type CellFolders interface {
	// Folder returns the folder of a cell. State returns how a complete cell in it ended.
	Folder(cell string) string
	State(cell string) (state string, ok bool)
	// Complete reports whether the folder of a cell is complete and has a key with this description. Prepare empties
	// the folder for a cell with this description.
	Complete(cell, description string) bool
	Prepare(cell, description string) (dir string, err error)
}

// Pieces are separately stored parts of a stage's work.
type Pieces interface {
	// PlannedPieces returns the pieces of a stage, in the order in which the stage listed them.
	PlannedPieces(stage string) []PlannedPiece
	// KeepPiece stores a piece, with the seconds that it took.
	KeepPiece(stage string, piece Piece, made []byte, seconds float64) error
}

// Engines are the opened engines of a run.
type Engines interface {
	// Site returns the opened engine with this name; nil for simulated engines.
	Site(kind string) engine.Session
	// PredictReal predicts the total time of the real cells from the known samples. Cells with an unknown time count as
	// 0.
	PredictReal(context.Context) (time.Duration, error)
}

// Log receives the reports of a stage.
type Log interface {
	// Warn records a warning about the results of one cell; with an empty name, of all cells.
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
	// Key is the hash of the key of a finished output.
	Key string
}

// ProgressKind is the kind of a Progress.
type ProgressKind string

// The kinds of progress.
const (
	StageStart  ProgressKind = "stage_start" // a stage begins, with Total units
	StageEnd    ProgressKind = "stage_end"   // a stage has ended
	UnitStart   ProgressKind = "unit_start"  // a sample, a cell or a picture begins
	UnitUpdate  ProgressKind = "unit_update" // the states of a cell's jobs changed, or a job reported
	UnitEnd     ProgressKind = "unit_end"    // the unit has ended; Err is set if it failed
	WarningSeen ProgressKind = "warning"     // Text is a warning for people
)

// Progress is a step of a run, for progress displays.
type Progress struct {
	Kind  ProgressKind
	Stage string // name of the stage
	Unit  string // the job of a sample, or a cell
	// Done and Total count the stage's units. Reused counts the units that needed no work.
	Done, Total, Reused int
	// Standing is the progress of the running cell. Its time is simulated time; 0 for real cells.
	Standing record.CellProgress
	// Training has the last reports of the cell's running jobs, in the order of their starts.
	Training []LatestReport
	// Elapsed is the time since the unit began; at StageEnd, since the stage began.
	Elapsed time.Duration
	// Left is the predicted remaining time of the stage; 0 if unknown. LeastLeft and MostLeft are its interval.
	Left, LeastLeft, MostLeft time.Duration
	Text                      string
	Err                       error
}

// Place is where cells run outside this process, such as a batch system.
type Place interface {
	// Away reports whether the user has selected the place. Then it does not matter if this machine lacks something
	// that cells need.
	Away() bool
	// Working reports whether cells of an earlier run in this folder are still at the place.
	Working(dir string) (bool, error)
	// Run runs cells, given by index, and returns the cells that must run in this process. It calls over for each cell
	// that has ended, with its duration. The error is a *Detached if cells continue at the place and the run does not
	// wait for them.
	Run(ctx context.Context, r *Run, cells []int,
		over func(cell int, out record.Cell, took time.Duration) error) (here []int, err error)
}

// Detached is returned if cells continue at a place after the run. A later run collects them.
type Detached struct {
	// Text says for the user which cells continue, and where.
	Text string
}

func (*Detached) Error() string { return "cells are left to run elsewhere" }
