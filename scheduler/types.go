package scheduler

import (
	"context"
	"math"
	"time"

	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/job"
)

// Never is an instant later than every other.
const Never = time.Duration(math.MaxInt64)

// The types of package cluster (capacity, requests, grants)
// under the names that engines and policies use.
type (
	Cluster = cluster.Cluster
	Node    = cluster.Node
	Supply  = cluster.Supply
	Demand  = cluster.Demand
	Room    = cluster.Room
	Grant   = cluster.Grant
	Layout  = cluster.Layout
	Part    = cluster.Part
	CoreSet = cluster.CoreSet
	Span    = cluster.Span
)

// What is to be run: the types of package job.
type (
	Job         = job.Job
	Role        = job.Role
	Resize      = job.Resize
	Alternative = job.Alternative
)

// The supplies of nodes.
const (
	Standing  = cluster.Standing
	Fixed     = cluster.Fixed
	OnRequest = cluster.OnRequest
)

// Engine carries decisions out. Job numbers are those of the cell.
//
// An error from Start means that this job could not be started; the loop
// records the job as failed and goes on. An error from the other methods ends
// the run, unless the job has ended in the meantime, which an engine reports
// by returning nil and giving notice of the end through Next.
type Engine interface {
	Start(job int, grant Grant) error
	Pause(job int) error
	Resume(job int, grant Grant) error
	Resize(job int, grant Grant) error
	// Stop ends a job for good: it checkpoints if it can, and notice of its end follows.
	Stop(job int) error
	// Next waits until there is something to give notice of or the engine's
	// clock has reached until, whichever comes first. It returns the present
	// instant and what has happened by then, in the order of CompareNotices;
	// the slice is valid until the next call. A virtual engine jumps there. It
	// returns ctx.Err() when the context is done first.
	Next(ctx context.Context, until time.Duration) (now time.Duration, news []Notice, err error)
}

// Capabilities says what an engine can do.
type Capabilities struct {
	Pause  bool
	Resize bool
	Memory bool
	GPUs   bool
}

// State is where a job is in its life.
type State string

// The states of a job. The last three are final.
const (
	Pending  State = "pending"
	Queued   State = "queued"
	Running  State = "running"
	Paused   State = "paused"
	Finished State = "finished"
	Failed   State = "failed"
	Stopped  State = "stopped"
)

// Decision says why an event that the scheduler caused came about.
type Decision struct {
	At     time.Duration
	Kind   EventKind
	Job    int
	Cores  CoreSet
	Reason string
	// Passed are the jobs before this one in the policy's order that did not
	// get to run, with the reason for each. At most MaxPassed are listed;
	// PassedMore counts the rest.
	Passed     []Passed
	PassedMore int
}

// Passed is a job that was passed over.
type Passed struct {
	Job    int
	Reason string // for people
	// Lacks is what the job needed and was not free: in each of the alternatives
	// that it can still choose among, if it has any. It is nil where something
	// else held the job back.
	Lacks []Lack
}

// Lack is something that a job needs of a node, or of each of its nodes, and that
// is not free there.
type Lack struct {
	Alternative int
	What        string // "cores", "GPUs" or "bytes of memory"
	Where       string // "on one node"; empty when there is but one
	Need, Free  int64
}

// MaxPassed bounds the list of passed-over jobs in one decision.
const MaxPassed = 8

// Recorder receives the trace as it is made, in order.
type Recorder interface {
	Event(Event)
	Decision(Decision)
}
