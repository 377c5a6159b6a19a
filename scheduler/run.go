package scheduler

import (
	"context"
	"errors"
	"math"
	"time"
)

// Run is one cell: jobs that a policy schedules on a cluster, through an
// engine.
type Run struct {
	Policy  SchedulingPolicy
	Cluster Cluster
	// Jobs[i].Number is i.
	Jobs []Job
	// Drawn, if it is not nil, takes the place of Jobs, for a policy that asks for them one by one.
	Drawn   JobPager
	Resizes []Resize
	Engine  Engine
	// Seed is for the random numbers of the policy.
	Seed int64
	// Online, if it is not nil, corrects the jobs' predictions while they run; the
	// engine must be a Watcher.
	Online *Online
	// Steering, if it is not nil, has the controllers of the jobs.
	Steering *Steering
	// ProgressModel predicts the remaining times of jobs with their present
	// resources; nil means Proportional.
	ProgressModel ProgressModel
	// Recorder receives the trace; it may be nil.
	Recorder Recorder
	// EventsOnly keeps decisions from the Recorder, and with them the cost of
	// finding out why jobs were passed over.
	EventsOnly bool
	// Streamed leaves the results of jobs out of the outcome: the last event of a job has its result. Then only open
	// jobs are in memory.
	Streamed bool
	// Until is the horizon: a run with open jobs is closed then. 0 means
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
// started are stopped and waited for, and the outcome so far is returned with
// the error. A run that reaches its horizon is closed in the same way,
// without an error. An outcome without an error has accounted for every job.
//
// The error is ErrStuck when jobs can never start, and ErrLivelock when no
// job gets nearer to its end, if the engine knows (Progress).
func (r Run) Execute(ctx context.Context) (Outcome, error) {
	if r.Policy == nil {
		return Outcome{}, errors.New("run: there is no policy")
	}
	rules, err := r.Policy.Rules(r)
	if err != nil {
		return Outcome{}, err
	}
	if err := CheckAll(r.Cluster, r.requests(), r.Resizes, rules.Partial); err != nil {
		return Outcome{}, err
	}
	l, err := newLoop(r, rules)
	if err != nil {
		return Outcome{}, err
	}
	err = l.run(ctx)
	if err != nil {
		if stop := l.breakOff(ctx); stop != nil {
			err = errors.Join(err, stop)
		}
	} else {
		err = errors.Join(l.account(), l.extensions.finish())
	}
	return l.outcome(), err
}

// requests returns the jobs, or, for drawn jobs, jobs with all different requests.
func (r *Run) requests() []Job {
	if r.Drawn != nil {
		return r.Drawn.Requests()
	}
	return r.Jobs
}

// Outcome is the outcome of a run.
type Outcome struct {
	// Jobs has a result for each job, by number; nil if the run is Streamed.
	Jobs []Result
	// End is the instant of the last event.
	End time.Duration
	// Closed is the horizon, when the run was closed at it: the jobs that had
	// arrived are stopped, the others pending. 0 when all jobs ended before.
	Closed time.Duration
	// Undone counts the jobs that were stopped or never arrived.
	Undone Undone
	// Events and Instants count the events of the trace, and the
	// instants at which the scheduler looked.
	Events, Instants int
}

// Undone counts jobs that did not end by themselves: jobs stopped after their start, jobs stopped before, and jobs that
// had not arrived when the run was closed.
type Undone struct{ Started, Waited, Missing int }

// count counts a job that was stopped.
func (u *Undone) count(r *Result) {
	if r.FirstStart == Never {
		u.Waited++
	} else {
		u.Started++
	}
}

// Sum returns the total number of these jobs.
func (u Undone) Sum() int { return u.Started + u.Waited + u.Missing }

// Result is the result of a job. Instants are since the start of the cell.
type Result struct {
	// State is final, unless the run was broken off.
	State State
	// Reason is why the job failed or was stopped.
	Reason string
	// FirstStart and Finish are Never when they did not come about. A job
	// that failed or was stopped has a Finish as well.
	FirstStart, Finish time.Duration
	// Waiting is the time between arrival and end in which the job held
	// nothing; Service the time in which it ran. Together they are the JCT.
	Waiting, Service time.Duration
	// CoreTime is the service time times the cores held: the attained service.
	// It stops counting at math.MaxInt64.
	CoreTime time.Duration
	// Cores is the job's first grant of cores.
	Cores int
	// Alternative is the index of the alternative with which the job started; 0 for a job without alternatives.
	Alternative int
	// Preemptions counts pauses; Resizes counts changes of its holdings while
	// it ran; Restarts counts the attempts that failed and were repeated.
	Preemptions, Resizes, Restarts int
	// Migrations counts its resumes on other nodes, or with other GPUs, than before its
	// last pause.
	Migrations int
	// Reconfigurations counts the attempts that ended for a change of settings.
	Reconfigurations int
	// Revocations counts the attempts that ended because a node was lost. LostWork is
	// the work repeated because of that. Checkpoints and Restore are the times spent
	// on writing and reading checkpoints, if the engine reports them.
	Revocations                    int
	LostWork, Checkpoints, Restore time.Duration
}

// Add adds the overheads of an attempt.
func (r *Result) Add(a *Attempt) {
	r.Checkpoints += a.Checkpoints
	r.Restore += a.Restore
	r.LostWork += a.Redone
}

// output hands a trace on to a recorder. Each event is put where the one before it was, so that none takes memory.
type output struct {
	to       Recorder // may be nil: then nothing is handed on
	plain    Event    // the last frequent event: the method tell sets a few fields; the others are zero
	event    Event    // the last event from emit
	decision Decision
}

// Send hands on an event.
func (o *output) Send(e *Event) {
	if o.to != nil {
		o.to.Event(e)
	}
}

// Describe begins a decision; the one before it is gone.
func (o *output) Describe(d Decision) *Decision {
	o.decision = d
	return &o.decision
}

// Decision passes on a decision that Describe began, unless it is nil.
func (o *output) Decision(d *Decision) {
	if d != nil {
		o.to.Decision(d)
	}
}

// hearing passes each event to the policy first, and then on.
type hearing struct {
	to    Recorder // may be nil
	hears func(*Event)
}

func (h hearing) Event(e *Event) {
	h.hears(e)
	if h.to != nil {
		h.to.Event(e)
	}
}

func (h hearing) Decision(d *Decision) { h.to.Decision(d) }

// Sample implements Actions. While the sample runs, a part of the run time is predicted.
func (l *loop) Sample(job, cores int32, nodes []int32, part float64, why string) error {
	j := l.state(job)
	if l.predictions.samples == nil {
		l.predictions.samples = map[int32]time.Duration{}
		l.extensions = append(l.extensions, samples{l: l})
		l.ownJobs()
	}
	whole := j.job.Predicted
	l.predictions.samples[job], j.job.Predicted = whole, time.Duration(math.Round(part*float64(whole)))
	if err := l.start(j, cores, nodes, why); err != nil || j.state != Running {
		return err
	}
	return l.fixed.simulator.Sample(int(job), j.grant, part)
}

// samples is the extension of runs with samples of jobs.
type samples struct {
	noHooks
	l *loop
}

// attemptEnded takes the end of an attempt, and reports whether it was a sample: the job waits to be started with all of
// its work before it.
func (s samples) attemptEnded(j *jobState, n *Notice) bool {
	l := s.l
	whole, was := l.predictions.samples[j.number]
	if !was || n.State != Finished {
		return false
	}
	delete(l.predictions.samples, j.number)
	j.job.Predicted = whole
	if l.rules.Sampled != nil {
		l.rules.Sampled(j.number, j.alternative)
	}
	l.requeue(j, &Attempt{}, Event{Kind: Profiled, Job: int(j.number)})
	return true
}
