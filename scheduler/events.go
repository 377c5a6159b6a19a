// Trace has the outputs and inputs of a run of the scheduler: the events and
// decisions of a trace, the states of jobs, and the notices of engines.

package scheduler

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/control"
	"github.com/tfexp/tfexp/scheduler/queue"
)

// Never is an instant later than every other.
const Never = time.Duration(math.MaxInt64)

// EventKind is the kind of an event of a job or a node. It is a byte, for a trace may have millions of events; the zero
// value is no kind. Its text is its name in files.
type EventKind uint8

// The kinds of events of a trace.
const (
	Arrive EventKind = 1 + iota
	Start
	Pause
	Resume
	ResizeJob
	Request // the workload changed the job's request
	Level   // feedback improved a waiting job's effective level
	Predict // its finished units changed the job's prediction
	Finish
	Fail
	Stop
	Retry // an attempt failed, and the job waits to be started again
	// Revoke ends an attempt because a node was lost; the job waits again.
	Revoke
	// Profiled ends an attempt that was a sample of the job; it waits to be started.
	Profiled
	// Move ends an attempt because the job is to continue on other servers; it waits again.
	Move
	// Decided is a controller's decision about a job.
	Decided
	// Reconfigure gives a job another request for its settings, before it starts or by
	// ending an attempt; the job waits (again) to be started.
	Reconfigure

	// The kinds of events of nodes that come and go. Their Job is -1.
	NodeRequest // a server was asked for
	NodeStart   // it can be used
	NodeWarning // it will be taken away at Event.Until
	NodeEnd     // it was taken away, or given back
)

var kindNames = [...]string{
	Arrive: "arrive", Start: "start", Pause: "pause", Resume: "resume", ResizeJob: "resize", Request: "request",
	Level: "level", Predict: "predict", Finish: "finish", Fail: "fail", Stop: "stop", Retry: "retry", Revoke: "revoke",
	Profiled: "profiled", Move: "move", Decided: "control", Reconfigure: "reconfigure", NodeRequest: "node_request",
	NodeStart: "node_up", NodeWarning: "node_warned", NodeEnd: "node_down",
}

// String is the name of the kind; empty for none.
func (k EventKind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// MarshalText implements encoding.TextMarshaler.
func (k EventKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler. A text that is no name of a kind is an error.
func (k *EventKind) UnmarshalText(text []byte) error {
	i := slices.Index(kindNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("there is no event %q", text)
	}
	*k = EventKind(i)
	return nil
}

// OfNode reports whether events of this kind are about a node, and not about a job.
func (k EventKind) OfNode() bool {
	return k >= NodeRequest && k <= NodeEnd
}

// Event is one line of a trace: the event, its job or node, and the job's holdings
// from then on. The fields below Alternative belong to some kinds of events only, and
// are zero in the others.
type Event struct {
	At    time.Duration
	Kind  EventKind
	Job   int
	Cores cluster.CoreSet // held after the event
	GPUs  cluster.CoreSet
	// Layout is the layout of the grant with which a job of several parts starts or resumes.
	Layout *cluster.Layout
	// Beside is the job whose GPUs a job that starts or resumes shares; nil if its GPUs are not shared.
	Beside *cluster.Beside
	// Alternative is the alternative of a job that starts or resumes, an index of
	// its alternatives.
	Alternative int
	// Migrated says that a paused job resumes on other nodes, or with other GPUs, than
	// before its pause (Resume).
	Migrated bool
	// Reason says why a job or its attempt failed or was stopped, or is to
	// continue on other servers, for people (Fail, Stop, Retry, Revoke, Move).
	Reason string
	// Request is the new request in cores (Request, Reconfigure), and Roles the new
	// parts of a job that has several (Reconfigure).
	Request int
	Roles   []Role
	// Control is a controller's decision (Decided).
	Control *control.Decision
	// Levels is the change of the effective level (Level).
	Levels Levels
	// Prediction is the new prediction (Predict).
	Prediction *Prediction
	// Attempt is the progress of an ended attempt, if the engine knows it (Revoke,
	// Move, Reconfigure, Finish, Fail, Stop).
	Attempt *Attempt
	// Result is the result of the job, if the outcome of the run does not have it (Finish, Fail, Stop). It is valid
	// during the call of the recorder.
	Result *Result
	// Node is the node's index in the cluster (events of nodes, Revoke).
	Node int
	// Server is the requested server (NodeRequest).
	Server *Server
	// Until is when the node will be taken away (NodeWarning).
	Until time.Duration
	// Revoked says that the node was taken away, and not given back (NodeEnd).
	Revoked bool
}

// Levels is a change of a job's effective level; 0 is best.
type Levels struct{ From, To int32 }

// Prediction is the predicted remaining time of a job, after a report of
// its finished units.
type Prediction struct {
	// Done of Total units, epochs or steps, are finished.
	Done, Total int
	// Left is the predicted run time that is left on the full request, and
	// Before the one before the report; Never means unknown.
	Left, Before time.Duration
}

// Detail describes an event in words, without its kind and the job's holdings:
// the reason, the new request, the levels, or the prediction.
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

// known formats a time for people, rounded to milliseconds.
func known(d time.Duration) string {
	if d == Never {
		return "not known"
	}
	return d.Round(time.Millisecond).String()
}

// State is where a job is in its life. It is a byte, for there may be millions of jobs; the zero value is no state.
type State uint8

// The states of a job. The last three are final.
const (
	Pending State = iota + 1
	Queued
	Running
	Paused
	Finished
	Failed
	Stopped
)

var stateNames = [...]string{"", "pending", "queued", "running", "paused", "finished", "failed", "stopped"}

// String returns the name of the state, as files have it.
func (s State) String() string { return stateNames[s] }

// MarshalText writes the name.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Final returns the kind of event that ends a job in the state; ok is false for one that is not final.
func (s State) Final() (end EventKind, ok bool) {
	switch s {
	case Finished:
		return Finish, true
	case Failed:
		return Fail, true
	case Stopped:
		return Stop, true
	}
	return 0, false
}

// Over reports whether a job in the state is over.
func (s State) Over() bool { return s >= Finished }

// Decision is the reason of an event that the scheduler caused.
type Decision struct {
	At     time.Duration
	Kind   EventKind
	Job    int
	Cores  cluster.CoreSet
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
	// Lacks has the resources that the job needed and that were not free, for
	// each alternative that it can still choose. It is nil if something else
	// held the job back.
	Lacks []cluster.Lack
}

// MaxPassed bounds the list of passed-over jobs in one decision.
const MaxPassed = 8

// Recorder receives the trace as it is made, in order. Its arguments are valid during the call.
type Recorder interface {
	Event(*Event)
	Decision(*Decision)
}

// recording reports whether decisions are recorded.
func (l *loop) recording() bool { return l.Recorder != nil && !l.EventsOnly }

// decide describes a decision about a job. For one that starts, it names the
// jobs before it that did not: call it while the job is still in the queue.
// It costs nothing when decisions are not recorded.
func (l *loop) decide(kind EventKind, j *jobState, cores CoreSet, why string) *Decision {
	if !l.recording() {
		return nil
	}
	d := l.out.Describe(Decision{At: l.now, Kind: kind, Job: int(j.number), Cores: cores, Reason: why})
	if kind != Start && kind != Resume {
		return d
	}
	mine := l.queue.KeyOf(j.number)
	d.PassedMore = l.queue.Before(mine)
	next := func(after queue.Key) int32 { return l.queue.Next(after, queue.Anyone) }
	k := next(queue.Front)
	for ; k != noJob && len(d.Passed) < MaxPassed && l.queue.KeyOf(k).Less(mine); k = next(l.queue.KeyOf(k)) {
		why, lacks := l.whyNot(l.state(k))
		d.Passed = append(d.Passed, Passed{Job: int(k), Reason: why, Lacks: lacks})
	}
	d.PassedMore -= len(d.Passed)
	return d
}

// whyNotAs says why a waiting job cannot start now, in its present alternative, and
// which resources it lacks, if that is the reason.
func (l *loop) whyNotAs(j *jobState) (why string, lacks []cluster.Lack) {
	cores := l.atLeast(j)
	need, count := l.needs(j, cores)
	home := l.home(j)
	if _, ok := l.fitIn(l.machine.Free, j, cores, nil); ok {
		return l.rules.Admission.HeldBack(l, j.number), nil
	}
	where := cluster.Where(len(l.machine.Free), count, home != nil && !l.movable(j), j.job.Divided)
	lack, some := cluster.LackOf(need, cluster.MaxFree(l.machine.Free, need, home))
	lack.Alternative, lack.Where = int(j.alternative), where
	if !some {
		return strings.TrimSpace("needs more "+where) + " than is free together", nil
	}
	return lack.String(), []cluster.Lack{lack}
}
