// Trace has what a run of the scheduler leaves behind and is told: the events
// and decisions of a trace, the states of jobs, and the notices of engines.

package scheduler

import (
	"fmt"
	"math"
	"time"

	"github.com/tfexp/tfexp/scheduler/cluster"
)

// Never is an instant later than every other.
const Never = time.Duration(math.MaxInt64)

// EventKind says what happened to a job.
type EventKind string

// The kinds of events of a trace.
const (
	Arrive    EventKind = "arrive"
	Start     EventKind = "start"
	Pause     EventKind = "pause"
	Resume    EventKind = "resume"
	ResizeJob EventKind = "resize"
	Request   EventKind = "request" // the workload changed the job's request
	Level     EventKind = "level"   // feedback improved a waiting job's effective level
	Predict   EventKind = "predict" // its finished units changed the job's prediction
	Finish    EventKind = "finish"
	Fail      EventKind = "fail"
	Stop      EventKind = "stop"
	Retry     EventKind = "retry" // an attempt failed, and the job waits to be started again
	// Revoke ends an attempt because a node was lost; the job waits again.
	Revoke EventKind = "revoke"
	// Profiled ends an attempt that was a sample of the job; it waits to be started.
	Profiled EventKind = "profiled"
	// Move ends an attempt because the job is to go on elsewhere; it waits again.
	Move EventKind = "move"
	// Decided is a controller's decision about a job.
	Decided EventKind = "control"
	// Reconfigure gives a job another request for its settings, before it starts or by
	// ending an attempt; the job waits (again) to be started.
	Reconfigure EventKind = "reconfigure"
)

// The kinds of events of nodes that come and go. Their Job is -1.
const (
	NodeRequest EventKind = "node_request" // a server was asked for
	NodeStart   EventKind = "node_up"      // it can be used
	NodeWarning EventKind = "node_warned"  // it will be taken away at Event.Until
	NodeEnd     EventKind = "node_down"    // it was taken away, or given back
)

// OfNode reports whether events of this kind are about a node, and not about a job.
func (k EventKind) OfNode() bool {
	return k == NodeRequest || k == NodeStart || k == NodeWarning || k == NodeEnd
}

// Event is one line of a trace: what happened to which job, or node, and what the job
// holds from then on. The fields below Alternative belong to some kinds of
// events only, and are zero in the others.
type Event struct {
	At    time.Duration
	Kind  EventKind
	Job   int
	Cores cluster.CoreSet // held after the event
	GPUs  cluster.CoreSet
	// Layout is that of the grant with which a job of several parts starts or resumes.
	Layout *cluster.Layout
	// Beside is the job whose GPUs a job that starts or resumes shares; nil for GPUs of its own.
	Beside *cluster.Beside
	// Alternative is the one with which a job starts or resumes, an index of
	// its alternatives.
	Alternative int
	// Migrated says that a paused job goes on on other nodes than those on which it was
	// paused, or with other GPUs (Resume).
	Migrated bool
	// Reason says why a job or its attempt failed or was stopped, or is to go on
	// elsewhere, for people (Fail, Stop, Retry, Revoke, Move).
	Reason string
	// Request is the new request in cores (Request, Reconfigure), and Roles the new
	// parts of a job that has several (Reconfigure).
	Request int
	Roles   []Role
	// Control is a controller's decision (Decided).
	Control *Control
	// Levels is the change of the effective level (Level).
	Levels Levels
	// Prediction is the new prediction (Predict).
	Prediction *Prediction
	// Attempt is what an attempt came to that has ended, as far as the engine knows
	// (Revoke, Move, Reconfigure, Finish, Fail, Stop).
	Attempt *Attempt
	// Result is what became of the job, where the outcome of the run does not have it (Finish, Fail, Stop). It holds
	// during the call of the recorder.
	Result *Result
	// Node is the node's index in the cluster (events of nodes, Revoke).
	Node int
	// Server is what was asked for (NodeRequest).
	Server *Server
	// Until is when the node will be taken away (NodeWarning).
	Until time.Duration
	// Revoked says that the node was taken away, and not given back (NodeEnd).
	Revoked bool
}

// Levels is a change of a job's effective level; 0 is best.
type Levels struct{ From, To int32 }

// Prediction is how long a job is predicted to go on, after a report of the
// units that it has finished.
type Prediction struct {
	// Done of Total units, epochs or steps, are finished.
	Done, Total int
	// Left is the predicted run time that is left on the full request, and
	// Before the one before the report; Never means unknown.
	Left, Before time.Duration
}

// Detail returns in words what an event says besides its kind and what the job
// holds: the reason, the new request, the levels, or the prediction.
func (e *Event) Detail() string {
	switch e.Kind {
	case Request:
		return fmt.Sprintf("%d cores", e.Request)
	case Reconfigure:
		return fmt.Sprintf("%d cores", e.Request)
	case Decided:
		if e.Control != nil {
			return e.Control.String()
		}
	case Level:
		return fmt.Sprintf("from level %d to %d", e.Levels.From, e.Levels.To)
	case Predict:
		if e.Prediction != nil {
			return e.Prediction.String()
		}
	case NodeWarning:
		return fmt.Sprintf("until %s", e.Until)
	case NodeEnd:
		if e.Revoked {
			return "taken away"
		}
		return "given back"
	}
	return e.Reason
}

// String is "1 of 10 units are done: 9s left on the full request, before 1s".
func (p *Prediction) String() string {
	return fmt.Sprintf("%d of %d units are done: %s left on the full request, before %s",
		p.Done, p.Total, known(p.Left), known(p.Before))
}

// known is a time for people, to the millisecond.
func known(d time.Duration) string {
	if d == Never {
		return "not known"
	}
	return d.Round(time.Millisecond).String()
}
