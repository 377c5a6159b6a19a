package scheduler

import (
	"context"
	"errors"
	"math"
	"time"
)

// Run is one run of the scheduler: it schedules the jobs of a cell on a cluster by a policy, through an engine.
type Run struct {
	Policy  SchedulingPolicy
	Cluster Cluster
	// Jobs[i].Number is i.
	Jobs []Job
	// Drawn, if not nil, replaces Jobs for policies that do not need all jobs in memory.
	Drawn   JobPager
	Resizes []Resize
	Engine  Engine
	// Seed is the seed of the policy's random numbers.
	Seed int64
	// Online, if not nil, corrects the predictions of running jobs. The engine must then be a Watcher.
	Online *Online
	// Steering, if not nil, has the controllers of the jobs.
	Steering *Steering
	// ProgressModel predicts the remaining times of jobs; nil means Proportional.
	ProgressModel ProgressModel
	// Recorder receives the trace; nil if nobody needs it.
	Recorder Recorder
	// EventsOnly says that the Recorder gets no decisions. The scheduler then does not compute why jobs were passed
	// over, which takes time.
	EventsOnly bool
	// Streamed says that the outcome has no results of jobs. The last event of each job has its result instead. Only
	// open jobs are then in memory.
	Streamed bool
	// Until is the horizon, at which a run with open jobs is ended; 0 means no horizon.
	Until time.Duration
}

// Execute runs the cell to its end. In a loop, it waits with Engine.Next for the next event, handles the events of
// an instant, and dispatches. The events of an instant are ordered: finish, node down, warning, node up, arrival,
// request, timer; in each of them by number.
//
// When the context is canceled or the engine fails, Execute stops all jobs that have started, and waits for their
// ends. It returns the outcome so far with the error. A run that reaches its horizon is ended in the same way, but
// without an error. An outcome without an error has a final state for every job that has arrived.
//
// The error is ErrStuck if jobs can never start. It is ErrLivelock if no job makes progress, and the engine is a
// Simulator.
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

// requests returns jobs that together have all requests of the run: all jobs, or those that Drawn names.
func (r *Run) requests() []Job {
	if r.Drawn != nil {
		return r.Drawn.Requests()
	}
	return r.Jobs
}

// Outcome is the result of a run.
type Outcome struct {
	// Jobs has the result of each job, by number; nil if the run is Streamed.
	Jobs []Result
	// End is the instant of the last event.
	End time.Duration
	// Closed is the horizon if the run was ended at it; 0 if all jobs ended before. Jobs that had arrived are then
	// Stopped, the others Pending.
	Closed time.Duration
	// Undone counts the jobs that were stopped or never arrived.
	Undone Undone
	// Events is the number of events in the trace, and Instants the number of handled instants.
	Events, Instants int
}

// Undone counts jobs that did not end by themselves: Started were stopped after a start, Waited were stopped without
// a start, and Missing had not arrived when the run ended.
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
	// State is final, unless the run ended with an error.
	State State
	// Reason is why the job failed or was stopped.
	Reason string
	// FirstStart and Finish are Never if they did not happen. Finish is also set for a job that failed or was
	// stopped.
	FirstStart, Finish time.Duration
	// Waiting is the time between arrival and end in which the job held no resources, and Service the time in which
	// it ran. Their sum is the JCT.
	Waiting, Service time.Duration
	// CoreTime is the attained service: service time × cores. It is at most math.MaxInt64.
	CoreTime time.Duration
	// Cores is the number of cores in the job's first grant.
	Cores int
	// Alternative is the index of the alternative with which the job started; 0 for a job without alternatives.
	Alternative int
	// Preemptions is the number of pauses. Resizes is the number of changes of the job's resources while it ran.
	// Restarts is the number of failed attempts that were followed by another attempt.
	Preemptions, Resizes, Restarts int
	// Migrations is the number of resumes on other nodes or GPUs than before the pause.
	Migrations int
	// Reconfigurations is the number of attempts that ended to change settings.
	Reconfigurations int
	// Revocations is the number of attempts that ended because a node was lost. LostWork is the work that was
	// repeated because of that. Checkpoints and Restore are the times spent on writing and reading checkpoints; 0 if
	// the engine does not report them.
	Revocations                    int
	LostWork, Checkpoints, Restore time.Duration
}

// Add adds the overheads of an attempt to the result.
func (r *Result) Add(a *Attempt) {
	r.Checkpoints += a.Checkpoints
	r.Restore += a.Restore
	r.LostWork += a.Redone
}

// output passes events and decisions to a recorder. It reuses the memory of the previous ones.
type output struct {
	to       Recorder // nil: there is no recorder
	plain    Event    // the last event that the method tell made; most of its fields are always zero
	event    Event    // the last event from emit
	decision Decision
}

// Send passes an event to the recorder.
func (o *output) Send(e *Event) {
	if o.to != nil {
		o.to.Event(e)
	}
}

// Describe stores a decision, in place of the previous one.
func (o *output) Describe(d Decision) *Decision {
	o.decision = d
	return &o.decision
}

// Decision passes a decision from Describe to the recorder. It ignores nil.
func (o *output) Decision(d *Decision) {
	if d != nil {
		o.to.Decision(d)
	}
}

// hearing is a Recorder that passes each event to the policy (OnEvent), then to another recorder.
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

// Sample implements ClusterActions. While the sample runs, the job has the predicted run time of the sample.
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

// attemptEnded puts a job whose sample has ended into the queue, with all of its work before it. It reports whether
// the attempt was a sample.
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
