package scheduler

import (
	"fmt"
	"time"

	"github.com/tfexp/tfexp/scheduler/cluster"
)

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
	return "", false
}

// Over reports whether a job in the state is over.
func (s State) Over() bool { return s >= Finished }

// Decision says why an event that the scheduler caused came about.
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

// Recorder receives the trace as it is made, in order. What it is given holds during the call.
type Recorder interface {
	Event(*Event)
	Decision(*Decision)
}

// String is "needs 4 cores on one node, 1 are free".
func (x Lack) String() string {
	return fmt.Sprintf("needs %d %s%s, %d are free", x.Need, x.What, before(x.Where), x.Free)
}

// before puts a space before a phrase, if there is one.
func before(phrase string) string {
	if phrase == "" {
		return ""
	}
	return " " + phrase
}

// LackOf returns what is needed and more than is free: cores, GPUs or memory. It is false
// when each of them alone is not.
func LackOf(need, free cluster.Room) (l Lack, ok bool) {
	switch {
	case need.Cores > free.Cores:
		l.What, l.Need, l.Free = "cores", int64(need.Cores), int64(free.Cores)
	case need.GPUs > free.GPUs:
		l.What, l.Need, l.Free = "GPUs", int64(need.GPUs), int64(free.GPUs)
	case need.Memory > free.Memory:
		l.What, l.Need, l.Free = "bytes of memory", need.Memory, free.Memory
	default:
		return l, false
	}
	return l, true
}

// Where says in words where a job on so many nodes of a cluster needs room: where it was paused,
// if it is bound to that, or where the policy divides it.
func Where(nodes, count int, bound, divided bool) string {
	switch {
	case nodes <= 1:
		return ""
	case bound:
		return "where it was paused"
	case divided:
		return "where the policy places it"
	case count > 1:
		return fmt.Sprintf("on each of %d nodes", count)
	}
	return "on one node"
}
