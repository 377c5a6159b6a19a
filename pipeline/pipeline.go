// Package pipeline turns an experiment into cells and stages, and runs the work
// that is not in the cache: plan → profile → estimate → execute → tables,
// pictures, report. A stage's output is addressed by the hash of a labeled
// description of all its inputs. So an edit reruns only the affected stages,
// and every miss can be explained.
package pipeline

import (
	"errors"
	"time"

	"github.com/tfexp/tfexp/hardware/gpu"
	"github.com/tfexp/tfexp/pipeline/instantiate"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/experiment"
)

// Options are the settings of a run.
type Options struct {
	// Out is the folder of results; the experiment's own folder is Out/<name>.
	Out string
	// Dir is the experiment's own folder if its name is not the experiment's, as after a renaming.
	Dir string
	// Version is the version of tfexp and Command the command line, both for run.json.
	Version string
	Command []string
	// Vars and VarFiles set sensitive variables for Resume, in the form of decode.Options. Results do not keep their
	// values.
	Vars, VarFiles []string
	// Share lets other users of this machine read a folder that Run makes. Otherwise only this user can.
	Share bool
	// Parallel is the largest number of cells simulated at the same time; 0 means one per core.
	Parallel int
	// Fresh runs all cells, even if the cache holds them.
	Fresh bool
	// Asked has the requests of command-line options for this run. Each is of a type that its feature defines.
	Asked experiment.Parts
	// GPUs finds the GPUs; nil means the GPUs of this machine that the process may use.
	GPUs gpu.Source
	// Fetch allows planning to fetch images if the file says so: the plan depends on the fetched images.
	Fetch bool
	// Source returns the cells; nil means all points of the matrix.
	Source func(*instantiate.Experiment) Source
	// Place may run cells elsewhere, such as in a batch system; nil means that all cells run in this process.
	Place stages.Place
	// Observe is called with the progress, from any goroutine, unless it is nil.
	Observe func(Progress)
}

// Plan is the plan of a run. Run executes exactly this plan.
type Plan struct {
	record.Plan
	// Dir is the experiment's folder.
	Dir string
	// Work has one entry for each element of Plan.Cells, in the same order.
	Work []CellWork
	// Pieces are the pieces of work of the stages, such as samples of jobs, in the order of the stages.
	Pieces []PieceWork
	// Stale are the cells on disk that are no longer in the plan. A run removes their folders; their outputs stay in
	// the cache.
	Stale []string

	x      *instantiate.Experiment
	stages []*stages.Stage // in the order in which they run
	source Source
	// onDisk are the cells that had a folder when the plan was made and that are not in the plan (so far).
	onDisk map[string]bool
	// exhausted is set when the source has no more cells.
	exhausted bool
	// cells and keys have one element for each element of Plan.Cells, in the same order.
	cells   []*instantiate.Cell
	keys    []*store.Key
	records record.Records
	// shards hold the cells without separate folders. numbers is the index in Plan.Cells of each cell, by its name.
	shards  *record.Shards
	numbers map[string]int
	// needed are the hashes of the keys of pieces that the cells that will run need.
	needed map[string]bool
	// unavailable is the error of an engine that lacks something; nil means that all engines can be used.
	unavailable error
	options     Options
}

// CellWork says whether a cell runs, and why.
type CellWork struct {
	Reuse bool `json:"reuse"`
	// Reason is a phrase: "finished earlier", "new", "policy.quantum changed".
	Reason  string         `json:"reason"`
	Changes []store.Change `json:"changes,omitempty"`
	// Predicted is the duration of the cell, simulated with the fitted estimates; 0 means that it is unknown.
	Predicted time.Duration `json:"-"`
}

// PieceWork says whether a piece of a stage's work must be made, and why.
type PieceWork struct {
	Stage *stages.Stage
	stages.Piece
	Reuse   bool
	Reason  string
	Changes []store.Change

	hash string
	done bool // the run has tried to make the piece, with or without success
}

// Progress is one step of a run, for views that show the progress.
type Progress = stages.Progress

// Outcome is the result of a run.
type Outcome struct {
	Dir                 string
	Reused, Ran, Failed int
	Warnings            []record.Warning
	// Report is the path of report.html.
	Report  string
	Elapsed time.Duration
}

// ErrInterrupted is returned when the context was canceled. Finished work is kept, and the run can be resumed.
var ErrInterrupted = errors.New("interrupted")

// Detached is returned when cells continue to run elsewhere. Resuming the run collects their results.
type Detached = stages.Detached

// ErrNothingToResume is returned when no unfinished run is found.
var ErrNothingToResume = errors.New("nothing to resume")
