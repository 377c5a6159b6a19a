// Package ledger replays the events of a trace to the states of its jobs: which
// jobs wait, which run, their resources, and since when. All readers of traces
// use it, while a cell runs and afterwards. Only the validator replays traces
// with separate code, since its purpose is to check.
package ledger

import (
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// Job is the state of one job after the events so far. Instants are since the
// start of the cell.
type Job struct {
	// Since is when the present state began, or the present holding: a resize
	// begins another.
	Since time.Duration
	// FirstStart is Never until it comes.
	FirstStart time.Duration
	// Cores and GPUs are the numbers that it holds.
	Cores, GPUs int32
	// Alternative is the alternative that it started or resumed with last.
	Alternative int32
	// Pauses, Resizes and Retries count the events of these kinds.
	Pauses, Resizes, Retries int32

	state scheduler.State
}

// NewJob returns a job before its first event.
func NewJob() Job { return Job{state: scheduler.Pending, FirstStart: scheduler.Never} }

// State returns where the job is in its life.
func (j *Job) State() scheduler.State { return j.state }

// Runs reports whether the job runs.
func (j *Job) Runs() bool { return j.state == scheduler.Running }

// Waits reports whether the job waits: it has arrived, is not over, and holds nothing.
func (j *Job) Waits() bool { return j.state == scheduler.Queued || j.state == scheduler.Paused }

// Over reports whether the job has ended.
func (j *Job) Over() bool { return j.state.Over() }

// End returns when the job ended; Never before.
func (j *Job) End() time.Duration {
	if j.Over() {
		return j.Since
	}
	return scheduler.Never
}

// Counts are the jobs by state.
type Counts struct {
	Pending, Queued, Running, Paused, Finished, Failed, Stopped int
}

// Waiting counts the jobs that have arrived, are not over, and hold nothing.
func (c Counts) Waiting() int { return c.Queued + c.Paused }

// Ledger is the replay of one trace.
type Ledger struct {
	jobs        []Job
	counts      [scheduler.Stopped + 1]int
	cores, gpus int
}

// New returns a ledger for a trace with the given number of jobs.
func New(jobs int) *Ledger {
	l := &Ledger{jobs: make([]Job, 0, jobs)}
	for range jobs {
		l.Add()
	}
	return l
}

// Add adds a job, pending, and returns its number: for readers of traces that
// meet the jobs one by one.
func (l *Ledger) Add() int {
	l.jobs = append(l.jobs, NewJob())
	l.Expect(1)
	return len(l.jobs) - 1
}

// Expect counts jobs that the caller keeps, for Apply.
func (l *Ledger) Expect(jobs int) { l.counts[scheduler.Pending] += jobs }

// Len returns the number of jobs.
func (l *Ledger) Len() int { return len(l.jobs) }

// Job returns the state of a job; it is valid until the next Add.
func (l *Ledger) Job(number int) *Job { return &l.jobs[number] }

// Counts returns how many jobs are in each state.
func (l *Ledger) Counts() Counts {
	c := &l.counts
	return Counts{c[scheduler.Pending], c[scheduler.Queued], c[scheduler.Running], c[scheduler.Paused], c[scheduler.Finished], c[scheduler.Failed], c[scheduler.Stopped]}
}

// Held returns how many cores and GPUs the jobs hold together.
func (l *Ledger) Held() (cores, gpus int) { return l.cores, l.gpus }

// Takes reports whether an event is about a job that exists and is not over.
// The others change nothing: they are for the validator to find.
func (l *Ledger) Takes(e *scheduler.Event) bool {
	return uint(e.Job) < uint(len(l.jobs)) && !l.jobs[e.Job].Over()
}

// Step is the change of a job's holdings by an event.
type Step struct {
	// Ended reports whether a span ended in which the job held the same cores
	// and GPUs, which lasted Held; Began reports whether another began. A resize
	// does both.
	Ended, Began bool
	Held         time.Duration
	Cores, GPUs  int32 // in the span that ended
}

// Event takes the next event. It ignores one that Takes refuses.
func (l *Ledger) Event(e *scheduler.Event) Step { return l.EventAt(e, e.At) }

// EventAt is Event for an instant that differs slightly from the event's.
func (l *Ledger) EventAt(e *scheduler.Event, at time.Duration) Step {
	if !l.Takes(e) {
		return Step{}
	}
	return l.Apply(&l.jobs[e.Job], e, at)
}

// Apply is EventAt for a job that the caller keeps, and that is not over.
func (l *Ledger) Apply(j *Job, e *scheduler.Event, at time.Duration) Step {
	switch e.Kind {
	case scheduler.Arrive:
		return l.move(j, at, scheduler.Queued)
	case scheduler.Start, scheduler.Resume:
		s := l.move(j, at, scheduler.Running)
		l.hold(j, e, &s)
		j.Alternative = int32(e.Alternative)
		j.FirstStart = min(j.FirstStart, at)
		return s
	case scheduler.ResizeJob:
		if j.state != scheduler.Running {
			return Step{}
		}
		s := l.move(j, at, scheduler.Running)
		l.hold(j, e, &s)
		j.Resizes++
		return s
	case scheduler.Pause:
		j.Pauses++
		return l.move(j, at, scheduler.Paused)
	case scheduler.Retry:
		j.Retries++
		return l.move(j, at, scheduler.Queued)
	case scheduler.Revoke, scheduler.Move, scheduler.Profiled:
		return l.move(j, at, scheduler.Queued)
	case scheduler.Reconfigure:
		if j.state == scheduler.Queued {
			return Step{} // it has not started
		}
		return l.move(j, at, scheduler.Queued)
	case scheduler.Finish:
		return l.move(j, at, scheduler.Finished)
	case scheduler.Fail:
		return l.move(j, at, scheduler.Failed)
	case scheduler.Stop:
		return l.move(j, at, scheduler.Stopped)
	}
	return Step{} // a new request, level or prediction, a decision: the holdings stay the same
}

// move changes a job's state; the job holds nothing in it yet.
func (l *Ledger) move(j *Job, at time.Duration, to scheduler.State) (s Step) {
	if j.state == scheduler.Running {
		s = Step{Ended: true, Held: at - j.Since, Cores: j.Cores, GPUs: j.GPUs}
		l.cores -= int(j.Cores)
		l.gpus -= int(j.GPUs)
		j.Cores, j.GPUs = 0, 0
	}
	l.counts[j.state]--
	l.counts[to]++
	j.state, j.Since = to, at
	return s
}

// hold sets a job's holdings to the holdings of the event.
func (l *Ledger) hold(j *Job, e *scheduler.Event, s *Step) {
	s.Began = true
	j.Cores, j.GPUs = int32(e.Cores.Count()), int32(e.GPUs.Count())
	l.cores += int(j.Cores)
	l.gpus += int(j.GPUs)
}
