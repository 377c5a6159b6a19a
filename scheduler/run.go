package scheduler

import (
	"context"
	"errors"
	"time"
)

// Run is one cell: jobs that a policy schedules on a cluster, through an
// engine.
type Run struct {
	Policy  RuleMaker
	Cluster Cluster
	// Jobs[i].Number is i.
	Jobs    []Job
	Resizes []Resize
	Engine  Engine
	// Online, if it is not nil, corrects the jobs' predictions while they run; the
	// engine must be a Watcher.
	Online *Online
	// Steering, if it is not nil, has the controllers beside the jobs.
	Steering *Steering
	// Outlook predicts how long jobs go on under what they hold; nil stands for
	// Proportional.
	Outlook Outlook
	// Recorder receives the trace; it may be nil.
	Recorder Recorder
	// EventsOnly keeps decisions from the Recorder, and with them the cost of
	// finding out why jobs were passed over.
	EventsOnly bool
	// Streamed leaves the results of jobs out of the outcome: each is in the event with which its job ends. Then only
	// what is open is in memory.
	Streamed bool
	// Until is the horizon: a run with open jobs is closed then. 0 stands for
	// none.
	Until time.Duration
}

// Execute runs the cell to its end: it waits with Engine.Next for jobs to end
// and for arrivals and timers to come due, takes the events of an instant in
// their order (finish, node down, warning, node up, arrival, request, timer; by
// number within each),
// dispatches, and carries the decisions out.
//
// When the context is cancelled, or the engine fails, all jobs that have
// started are stopped and waited for, and the outcome so far is returned
// beside the error. A run that reaches its horizon is closed in the same way,
// without an error. An outcome without an error has accounted for every job.
//
// The error is ErrStuck when jobs can never start, and ErrLivelock when none
// gets nearer to its end, as far as the engine can tell (Progress).
func (r Run) Execute(ctx context.Context) (Outcome, error) {
	if r.Policy == nil {
		return Outcome{}, errors.New("run: there is no policy")
	}
	rules, err := r.Policy.Rules(r)
	if err != nil {
		return Outcome{}, err
	}
	if err := CheckAll(r.Cluster, r.Jobs, r.Resizes, rules.Partial); err != nil {
		return Outcome{}, err
	}
	l := newLoop(r, rules)
	if err := l.newNodes(); err != nil {
		return Outcome{}, err
	}
	err = l.run(ctx)
	if err != nil {
		if stop := l.breakOff(ctx); stop != nil {
			err = errors.Join(err, stop)
		}
	} else {
		err = errors.Join(l.account(), l.nodes.DismissAll())
	}
	return l.outcome(), err
}
