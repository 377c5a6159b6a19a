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
	// Dir is the experiment's own folder, where it is not called after the experiment (it was renamed).
	Dir string
	// Version is tfexp's, for run.json; Command is the command line.
	Version string
	Command []string
	// Vars and VarFiles are values of sensitive variables for Resume, as decode.Options has them: results do not keep
	// these.
	Vars, VarFiles []string
	// Share lets others on this machine read a folder that Run makes. Else only this user can.
	Share bool
	// Parallel bounds the simulated cells that run side by side; 0 means one a core.
	Parallel int
	// Fresh ignores the content of the cache.
	Fresh bool
	// Asked are requests for this run, each of a type of the feature that it is for.
	Asked experiment.Parts
	// GPUs is the source of GPUs; nil means this machine's, as far as this
	// process may use them.
	GPUs gpu.Source
	// Fetch lets images be fetched while planning, where the file asks for it:
	// the plan depends on the fetched images.
	Fetch bool
	// Source returns the cells; nil means all points of the matrix.
	Source func(*instantiate.Experiment) Source
	// Place may run cells elsewhere; nil: all cells run in this process.
	Place stages.Place
	// Observe, if it is not nil, is called with progress, from any goroutine.
	Observe func(Progress)
}

// Plan is the plan of a run. Run executes exactly this plan.
type Plan struct {
	record.Plan
	// Dir is the experiment's folder.
	Dir string
	// Work has an entry for each of Plan.Cells, in the same order.
	Work []CellWork
	// Pieces are the pieces of work of stages, stage by stage, such as samples of jobs.
	Pieces []PieceWork
	// Stale are cells on disk that are no longer in the plan; a run removes
	// their folders (their outputs stay in the cache).
	Stale []string

	x      *instantiate.Experiment
	stages []*stages.Stage // in the order in which they run
	source Source
	// onDisk are the folders of cells that existed when the plan was made and are of no cell in the plan.
	onDisk map[string]bool
	// exhausted is set when the source has no more cells.
	exhausted bool
	// cells correspond to Plan.Cells by index; keys are their keys.
	cells   []*instantiate.Cell
	keys    []*store.Key
	records record.Records
	// shards hold the cells without separate folders, and numbers has the index of each cell by its name.
	shards  *record.Shards
	numbers map[string]int
	// needed has the hashes of the pieces that a cell which runs will want.
	needed map[string]bool
	// unavailable is the error about something that an engine of the experiment lacks.
	unavailable error
	options     Options
}

// CellWork says whether a cell runs, and why.
type CellWork struct {
	Reuse bool `json:"reuse"`
	// Reason is a phrase: "finished earlier", "new", "policy.quantum changed".
	Reason  string         `json:"reason"`
	Changes []store.Change `json:"changes,omitempty"`
	// Predicted is the cell's duration by simulation with the fitted estimates;
	// 0 if it is unknown yet, or almost zero.
	Predicted time.Duration `json:"-"`
}

// PieceWork says whether a piece of a stage's work is made, and why.
type PieceWork struct {
	Stage *stages.Stage
	stages.Piece
	Reuse   bool
	Reason  string
	Changes []store.Change

	hash string
	done bool // the run has made it, or failed to
}

// Progress is a step of a run, for views.
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

// ErrInterrupted is returned when the context was canceled: finished work is
// kept and the run can be resumed.
var ErrInterrupted = errors.New("interrupted")

// Detached is returned when cells run on elsewhere: the run can be resumed to collect them.
type Detached = stages.Detached

// ErrNothingToResume is returned when no unfinished run is found.
var ErrNothingToResume = errors.New("nothing to resume")
