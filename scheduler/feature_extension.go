package scheduler

import (
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/tfexp/tfexp/scheduler/cluster"
)

// Extension is an extension of the scheduler that a feature implements, such as for servers that come and go. It has
// its own state, and acts on the run through a Kernel. It may also implement JobExtension.
type Extension interface {
	// Notice handles a notice of the engine. It reports whether the notice was for the extension.
	Notice(n *Notice) (taken bool, err error)
	// NextInstant returns the next instant at which Reached is to be called; Never if it is not to be called. On a
	// real clock, now may be later than that instant.
	NextInstant() time.Duration
	Reached(now time.Duration)
	// BeforeDispatch and AfterDispatch are called once an instant: before the decisions, and after them.
	BeforeDispatch() error
	AfterDispatch() error
	// Pending reports whether the run must go on although no job runs, because the extension expects a notice of the
	// engine.
	Pending() bool
	// Stalled is called when jobs wait but no event is due. It reports whether the extension has done something that
	// leads to an event.
	Stalled() (changed bool, err error)
	// Finish is called at the end of a run that had no error.
	Finish() error
}

// JobExtension is an Extension that is called about jobs, and can restrict the nodes on which they start.
type JobExtension interface {
	// Arrived is called when a job has arrived, before it is queued. Ended is called when its state is final.
	Arrived(job int32)
	Ended(job int32)
	// Started is called when an attempt of a job starts. Requeued is called when an attempt has ended and the job
	// waits again; work is the finished work that it keeps, as run time on its full request.
	Started(job int32)
	Requeued(job int32, work time.Duration)
	// Placed is called when a job gets other nodes or parts than before. Leaves is called before a job leaves the
	// nodes of its grant.
	Placed(JobView)
	Leaves(JobView)
	// Limit removes nodes on which a job may not start from need, the job's need per node.
	Limit(job int32, need cluster.Room) cluster.Room
}

// Kernel is the scheduler as an Extension sees it.
type Kernel interface {
	View
	// Emit records an event at the present instant.
	Emit(Event)
	// EndAttempt ends the attempt of a started job by end, a method of the engine, and records the event e. The job
	// then waits again, with the finished work that it keeps. While the run is being ended early, the job is stopped
	// instead.
	EndAttempt(job int32, end func(job int) (Attempt, error), e Event) error
	// ContinueWithout makes a running job continue without its parts on a lost node. It returns false for a job that
	// cannot.
	ContinueWithout(job, node int32, why string) (bool, error)
	// MissingParts yields the resources that each missing part of a running job needs.
	MissingParts() iter.Seq[cluster.Room]
	// WorkOf returns the finished work of a job in an attempt, as run time on its full request. The attempt has only
	// the service times Ran, Began and Saved.
	WorkOf(job int32, a *Attempt) time.Duration
	// Fail ends a waiting job as failed, and dispatches.
	Fail(job int32, why string) error
	// Choose sets the alternative with which a waiting job would start.
	Choose(job, alternative int32)
	// Stopping reports whether the run is being ended early.
	Stopping() bool
}

// newSupply makes the extension that adds and removes nodes; nil if the build has no such feature.
var newSupply func(*Run, *cluster.Machine, Kernel) (Extension, error)

// RegisterSupply registers the function that makes the extension which adds and removes nodes.
func RegisterSupply(keep func(*Run, *cluster.Machine, Kernel) (Extension, error)) { newSupply = keep }

// supply returns the extension that adds and removes the nodes of a run.
func (l *loop) supply() (extension, error) {
	keep := newSupply
	if l.rules.Supply != nil {
		keep = l.rules.Supply
	}
	if keep == nil {
		return nil, errors.New("cluster: some nodes come and go, but this build of tfexp has no feature that supplies them")
	}
	x, err := keep(&l.Run, l.machine, l)
	if err != nil {
		return nil, err
	}
	jobs, _ := x.(JobExtension)
	return &ofFeature{Extension: x, l: l, jobs: jobs}, nil
}

// ofFeature is an extension that calls the Extension of a feature.
type ofFeature struct {
	noHooks
	Extension
	l    *loop
	jobs JobExtension // nil if the feature does not implement it
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

func (f *ofFeature) limit(j *jobState, need cluster.Room) cluster.Room {
	if f.jobs == nil {
		return need
	}
	return f.jobs.Limit(j.number, need)
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
					continue // the node has another part of the job
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
