// This file has the events of a trace, the decisions that caused them, and the states of jobs.

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

// Never is the greatest instant. An event at it does not happen.
const Never = time.Duration(math.MaxInt64)

// EventKind is the kind of an event of a job or a node. It is one byte, because a trace may have millions of events.
// The zero value is not a kind.
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
	Predict // a report of finished units changed the job's prediction
	Finish
	Fail
	Stop
	Retry // an attempt failed, and the job waits for its next attempt
	// Revoke ends an attempt because a node was lost. The job waits for its next attempt.
	Revoke
	// Profiled ends an attempt that was a sample of the job. The job waits for its next attempt.
	Profiled
	// Move ends an attempt because the job is to continue on other servers. The job waits for its next attempt.
	Move
	// Decided is a decision of a controller about a job.
	Decided
	// Reconfigure changes a job's request to fit new settings, before its start or by ending an attempt. The job
	// then waits to be started.
	Reconfigure

	// The kinds of events of nodes that come and go. Their Event.Job is -1.
	NodeRequest // a server was requested
	NodeStart   // the node can run jobs
	NodeWarning // the node will be taken away at Event.Until
	NodeEnd     // the node was taken away, or given back
)

var kindNames = [...]string{
	Arrive: "arrive", Start: "start", Pause: "pause", Resume: "resume", ResizeJob: "resize", Request: "request",
	Level: "level", Predict: "predict", Finish: "finish", Fail: "fail", Stop: "stop", Retry: "retry", Revoke: "revoke",
	Profiled: "profiled", Move: "move", Decided: "control", Reconfigure: "reconfigure", NodeRequest: "node_request",
	NodeStart: "node_up", NodeWarning: "node_warned", NodeEnd: "node_down",
}

// String returns the name of the kind, as in files; empty for the zero value.
func (k EventKind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// MarshalText implements encoding.TextMarshaler.
func (k EventKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler. It returns an error for a text that is not the name of a kind.
func (k *EventKind) UnmarshalText(text []byte) error {
	i := slices.Index(kindNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("unknown kind of event %q", text)
	}
	*k = EventKind(i)
	return nil
}

// OfNode reports whether events of this kind are about a node. All other events are about a job.
func (k EventKind) OfNode() bool {
	return k >= NodeRequest && k <= NodeEnd
}

// Event is one line of a trace: what happened, to which job or node, and the resources that the job holds
// afterwards. The fields below Alternative are set only in events of the kinds that their comments name in
// parentheses.
type Event struct {
	At    time.Duration
	Kind  EventKind
	Job   int
	Cores cluster.CoreSet // held after the event
	GPUs  cluster.CoreSet
	// Layout is the layout of the grant with which a job of several parts starts or resumes.
	Layout *cluster.Layout
	// Beside names the job that shares its GPUs with a job that starts or resumes; nil if the GPUs are not shared.
	Beside *cluster.Beside
	// Alternative is the alternative with which a job starts or resumes, an index of Job.Alternatives.
	Alternative int
	// Migrated says that a paused job resumes on other nodes or GPUs than before its pause (Resume).
	Migrated bool
	// Reason says, as text for users, why a job or its attempt failed or was stopped, or why the job moves to other
	// servers (Fail, Stop, Retry, Revoke, Move).
	Reason string
	// Request is the new request in cores (Request, Reconfigure). Roles has the new parts of a job with several
	// parts (Reconfigure).
	Request int
	Roles   []Role
	// Control is the decision of a controller (Decided).
	Control *control.Decision
	// Levels is the change of the effective level (Level).
	Levels Levels
	// Prediction is the new prediction (Predict).
	Prediction *Prediction
	// Attempt is the progress in the attempt that ended; nil if the engine does not report it (Revoke, Move,
	// Reconfigure, Finish, Fail, Stop).
	Attempt *Attempt
	// Result is the result of the job (Finish, Fail, Stop). It is nil if Outcome.Jobs has the result. The pointer is
	// valid during the call of the recorder.
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

// Levels is a change of a job's effective level, in which 0 is best.
type Levels struct{ From, To int32 }

// Prediction is the predicted remaining time of a job, after a report of
// its finished units.
type Prediction struct {
	// Done is the number of finished epochs or steps, of Total.
	Done, Total int
	// Left is the predicted remaining run time on the full request after the report, and Before the prediction
	// before it. Never means unknown.
	Left, Before time.Duration
}

// Detail describes an event in words, without its kind and the job's resources: the reason, the new request, the
// levels, or the prediction.
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

// String returns a text such as "1 of 10 units are done: 9s left on the full request, before 1s".
func (p *Prediction) String() string {
	return fmt.Sprintf("%d of %d units are done: %s left on the full request, before %s",
		p.Done, p.Total, known(p.Left), known(p.Before))
}

// known formats a time for users, rounded to milliseconds.
func known(d time.Duration) string {
	if d == Never {
		return "not known"
	}
	return d.Round(time.Millisecond).String()
}

// State is the state of a job: waiting, running, finished. It is one byte, because there may be millions of jobs.
// The zero value is not a state.
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

// String returns the name of the state, as in files.
func (s State) String() string { return stateNames[s] }

// MarshalText writes the name.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Final returns the kind of event that ends a job in this state; ok is false if the state is not final.
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

// Over reports whether the state is final.
func (s State) Over() bool { return s >= Finished }

// Decision is the scheduler's reason for an event that it caused.
type Decision struct {
	At     time.Duration
	Kind   EventKind
	Job    int
	Cores  cluster.CoreSet
	Reason string
	// Passed are the jobs before this job in the policy's order that could not start, each with its reason. It has
	// at most MaxPassed jobs; PassedMore counts further ones.
	Passed     []Passed
	PassedMore int
}

// Passed is a job that was passed over in favor of a job behind it.
type Passed struct {
	Job    int
	Reason string // text for users
	// Lacks has the resources that were missing, for each alternative of the job. It is nil if the job did not start
	// for another reason.
	Lacks []cluster.Lack
}

// MaxPassed is the greatest number of passed-over jobs that one decision lists.
const MaxPassed = 8

// Recorder receives the events and decisions of a run, in order. The arguments are valid only during the call.
type Recorder interface {
	Event(*Event)
	Decision(*Decision)
}

// recording reports whether decisions are recorded.
func (l *loop) recording() bool { return l.Recorder != nil && !l.EventsOnly }

// decide describes a decision about a job. For a job that starts, it also lists the jobs before it that could not:
// call decide while the job is still in the queue. It returns nil at once if decisions are not recorded.
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

// whyNotAs says why a waiting job cannot start now with its present alternative. lacks has the missing resources, if
// they are the reason.
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
		return strings.TrimSpace("needs resources that are not free together " + where), nil
	}
	return lack.String(), []cluster.Lack{lack}
}
