package scheduler

import (
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/tfexp/tfexp/scheduler/cluster"
)

// Extension is an extension of the kernel that a feature brings. It keeps its state itself, and acts on the run through
// a Kernel. It may be a JobExtension as well.
type Extension interface {
	// Notice takes a notice of the engine, if it is for the extension.
	Notice(n *Notice) (taken bool, err error)
	// NextInstant returns the next instant at which the extension is to act; Never for none. Reached is called when
	// the run has reached it; now may be later, on a real clock.
	NextInstant() time.Duration
	Reached(now time.Duration)
	// BeforeDispatch and AfterDispatch are called once an instant, before and after the decisions.
	BeforeDispatch() error
	AfterDispatch() error
	// Pending reports whether the extension waits for a notice of the engine, although no job runs.
	Pending() bool
	// Stalled is called when nothing is to come and jobs wait. It reports whether it has changed that.
	Stalled() (changed bool, err error)
	// Finish ends the extension, at the end of a run without errors.
	Finish() error
}

// JobExtension is an Extension that follows the jobs, and restricts where they start.
type JobExtension interface {
	// Arrived is called when a job has arrived, before it waits, and Ended when it is final.
	Arrived(job int32)
	Ended(job int32)
	// Started is called when an attempt of a job starts, Requeued when it was ended and the job is to wait again,
	// with the work that it keeps, as run time on its full request.
	Started(job int32)
	Requeued(job int32, work time.Duration)
	// Placed is called when a job holds a grant on other nodes, or with other parts, than before, and Leaves when it
	// leaves the nodes of its grant.
	Placed(JobView)
	Leaves(JobView)
	// Limit restricts the nodes on which a job may start, in its need per node.
	Limit(job int32, need *cluster.Room)
}

// Kernel is a run under way, for an Extension.
type Kernel interface {
	View
	// Emit records an event that happens now.
	Emit(Event)
	// EndAttempt ends the attempt of a job that has started, by a method of the engine. After the event the job waits
	// again, with the work that the attempt kept. When the run is broken off, the job is stopped.
	EndAttempt(job int32, end func(job int) (Attempt, error), e Event) error
	// ContinueWithout lets a running job continue without its parts on a node that is lost. It returns false for a
	// job that cannot.
	ContinueWithout(job, node int32, why string) (bool, error)
	// MissingParts yields the needs of the parts that running jobs lack.
	MissingParts() iter.Seq[cluster.Room]
	// WorkOf returns the finished work of a job in an attempt that has run for a time, as run time on its full request.
	WorkOf(job int32, a *Attempt) time.Duration
	// Fail ends a job that waits, and dispatches.
	Fail(job int32, why string) error
	// Choose sets the present alternative of a waiting job.
	Choose(job, alternative int32)
	// Stopping reports whether the run is broken off.
	Stopping() bool
}

// newSupply makes the extension that keeps the nodes that come and go; nil where none is linked in.
var newSupply func(*Run, *cluster.Machine, Kernel) (Extension, error)

// RegisterSupply makes the extension known that keeps the nodes that come and go.
func RegisterSupply(keep func(*Run, *cluster.Machine, Kernel) (Extension, error)) { newSupply = keep }

// supply makes the extension of a run whose nodes come and go.
func (l *loop) supply() (extension, error) {
	keep := newSupply
	if l.rules.Supply != nil {
		keep = l.rules.Supply
	}
	if keep == nil {
		return nil, errors.New("cluster: there are nodes that come and go, and no extension that keeps them")
	}
	x, err := keep(&l.Run, l.machine, l)
	if err != nil {
		return nil, err
	}
	jobs, _ := x.(JobExtension)
	return &ofFeature{Extension: x, l: l, jobs: jobs}, nil
}

// ofFeature is the extension of a feature.
type ofFeature struct {
	noHooks
	Extension
	l    *loop
	jobs JobExtension // nil if it does not follow jobs
}

func (f *ofFeature) arrived(j *jobState) error {
	if f.jobs != nil {
		f.jobs.Arrived(j.number)
	}
	return nil
}

func (f *ofFeature) changed(j *jobState, c change, work time.Duration) {
	if f.jobs == nil {
		return
	}
	switch c {
	case attemptStarts:
		f.jobs.Started(j.number)
	case placed:
		f.jobs.Placed(JobView{f.l, j})
	case leaves:
		f.jobs.Leaves(JobView{f.l, j})
	case requeued:
		f.jobs.Requeued(j.number, work)
	case ends:
		f.jobs.Ended(j.number)
	}
}

func (f *ofFeature) limit(j *jobState, need *cluster.Room) {
	if f.jobs != nil {
		f.jobs.Limit(j.number, need)
	}
}

func (f *ofFeature) notice(n *Notice) (bool, error) { return f.Notice(n) }
func (f *ofFeature) nextInstant() time.Duration     { return f.NextInstant() }
func (f *ofFeature) reached(now time.Duration)      { f.Reached(now) }
func (f *ofFeature) beforeDispatch() error          { return f.BeforeDispatch() }
func (f *ofFeature) afterDispatch() error           { return f.AfterDispatch() }
func (f *ofFeature) pending() bool                  { return f.Pending() }
func (f *ofFeature) stalled() (bool, error)         { return f.Stalled() }
func (f *ofFeature) finish() error                  { return f.Finish() }

// Emit implements Kernel.
func (l *loop) Emit(e Event) {
	l.detector.Progressed()
	l.emit(e)
}

// EndAttempt implements Kernel.
func (l *loop) EndAttempt(job int32, end func(int) (Attempt, error), e Event) error {
	j := l.state(job)
	attempt, err := l.endAttempt(j, end)
	if err != nil {
		return fmt.Errorf("%s job %q: %w", e.Kind, j.job.Name, err)
	}
	if e.Kind == Revoke {
		l.result(j).Revocations++
	}
	if l.ending.stopping {
		j.state = Stopped
		l.close(j, Stop, e.Reason)
		return nil
	}
	e.Job, e.Attempt = int(job), &attempt
	l.requeue(j, &attempt, e)
	return nil
}

// ContinueWithout implements Kernel.
func (l *loop) ContinueWithout(job, node int32, why string) (bool, error) {
	j := l.state(job)
	if !l.survives(j, on(node)) {
		return false, nil
	}
	l.roles.Note(job, l.byFirstStart)
	return true, l.without(j, on(node), why)
}

// MissingParts implements Kernel.
func (l *loop) MissingParts() iter.Seq[cluster.Room] {
	return func(yield func(cluster.Room) bool) {
		for _, number := range l.roles.Amiss() {
			j := l.state(number)
			if !j.booked || j.state != Running {
				continue
			}
			for _, p := range l.lacks(j) {
				need := l.needOf(j, p.Role)
				if need.Cores == 0 && need.GPUs == 0 {
					continue // another part is there too
				}
				if !yield(need) {
					return
				}
			}
		}
	}
}

// WorkOf implements Kernel.
func (l *loop) WorkOf(job int32, a *Attempt) time.Duration {
	j := l.state(job)
	return l.ProgressModel.Past(j.job, l.measured(j, a, a.Ran))
}

// Fail implements Kernel.
func (l *loop) Fail(job int32, why string) error {
	j := l.state(job)
	l.settleTime(j)
	l.queue.Remove(job)
	j.state = Failed
	l.close(j, Fail, why)
	return l.dispatch()
}

// Stopping implements Kernel.
func (l *loop) Stopping() bool { return l.ending.stopping }
