package scheduler

import (
	"context"
	"math"
	"time"
)

// Never is an instant later than every other.
const Never = time.Duration(math.MaxInt64)

// Job is what the scheduler knows of one job. All instants are since the
// start of the cell.
type Job struct {
	// Number identifies the job in its cell and breaks ties. Jobs are
	// numbered 0, 1, 2, … in the order of the workload, and Jobs[i].Number == i.
	Number int
	// Name is unique in the cell: the class and a running number, "short-3".
	Name string
	// Class is the name of the job block that it was made from.
	Class string

	Arrival time.Duration

	// Threads is the request in cores. Under a malleable allocation the job
	// holds between MinThreads (at least 1) and MaxThreads (at least Threads;
	// 0 means Threads).
	Threads    int
	MinThreads int
	MaxThreads int
	// GPUs and Memory (bytes) are requested in full or not at all.
	GPUs   int
	Memory int64
	// Nodes is the number of nodes of a gang; 0 and 1 mean a job on one node.
	// The request is then divided evenly over the nodes.
	Nodes int
	// Malleable jobs can be resized while they run; the others are rigid.
	Malleable bool
	// Retries is how often a job that failed while it ran is put back into the
	// queue, to be started anew.
	Retries int

	// Priority is the job's own level: 0 is best.
	Priority int
	// Deadline is an instant; Never when the job has none.
	Deadline time.Duration
	// User owns the job, for policies that are fair between users.
	User string
	// Predicted is the run time on the full request by the estimates that the
	// policy is given; 0 when there is no estimate, which counts as longer than
	// any. A job that is known to take no time is given a nanosecond.
	Predicted time.Duration

	// Alternatives are the requests with which a job can run, when there are several
	// or the type of GPU matters: it starts with one of them, and keeps it. The
	// first is the request above, so that a job with alternatives has at least
	// one. Such a job is rigid.
	Alternatives []Alternative
}

// Resize is a request of the workload to change a job's thread request.
type Resize struct {
	At      time.Duration
	Job     int
	Threads int
}

// Node is one machine of a cluster.
type Node struct {
	Name    string
	Threads int
	GPUs    int
	// Memory in bytes; 0 means that it is not accounted for.
	Memory int64
	// GPU is the type of its GPUs, as alternatives name it; may be empty.
	GPU string
	// Supply says when there is a server for the node, and Idle for how long one on
	// request is kept while nothing runs on it.
	Supply Supply
	Idle   time.Duration
}

// Cluster is the capacity that is scheduled. Cores (and GPUs) are numbered
// through all nodes: node 0 has cores 0 … Threads-1, node 1 goes on from there.
type Cluster struct {
	Nodes []Node
}

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
