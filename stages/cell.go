package stages

import (
	"errors"
	"time"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
)

// ErrNoEstimate is wrapped when a job has neither a run time nor samples.
var ErrNoEstimate = errors.New("there is no estimate")

// Cell is a cell of the matrix, in plain values.
type Cell interface {
	// Simulated returns the task of a simulated cell with its engine. The error
	// wraps ErrNoEstimate when the run time of a job is not known; the task then
	// has all but the jobs and the engine.
	Simulated() (Task, error)
	// Twin returns the task that simulates a real cell from the fitted estimates,
	// and the description of its key. The error wraps ErrNoEstimate when a job has
	// no estimate.
	Twin() (Task, string, error)
}

// Task is a cell, ready to run.
type Task struct {
	// Dir is the folder that receives the records.
	Dir     string
	Setup   record.Setup
	Records record.Records
	// Logs is the folder with the jobs' output, "<job>.log"; empty for cells
	// whose jobs do not run.
	Logs    string
	Policy  scheduler.RuleMaker
	Resizes []scheduler.Resize
	Engine  scheduler.Engine
	// Online is as in scheduler.Run.
	Online *scheduler.Online
	// Until is the horizon at which the cell is closed; 0 for none.
	Until time.Duration
	// Watch is told of the jobs' states as they change, in the goroutine of
	// the loop; it may be nil.
	Watch func(Counts)
	// Begun is called with the first event, when all that is kept to the end of
	// the cell is there; it may be nil.
	Begun func()
	// Finally, called when the trace is complete and before it is recorded,
	// adds what only the caller knows: warnings, the load of the machine.
	Finally func(*record.Cell)
}

// Counts are the jobs of a cell by state.
type Counts struct {
	Waiting, Running, Done, Failed, Total int
}
