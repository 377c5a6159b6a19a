// Package ledger computes the states of jobs from the events of a trace: which jobs wait, which run, since when, and
// on how many cores and GPUs. All readers of traces use it, except the validator: its checks must be independent.
package ledger

import (
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// Job is the state of a job after the events so far. Instants are since the start of the cell.
type Job struct {
	// Since is the start of the present state. A resize of a running job also sets it.
	Since time.Duration
	// FirstStart is the instant of the first start; Never before it.
	FirstStart time.Duration
	// Cores and GPUs are the numbers of cores and GPUs that the job holds.
	Cores, GPUs int32
	// Alternative is the alternative of the last start or resume, as an index.
	Alternative int32
	// Pauses, Resizes and Retries are the numbers of these events so far.
	Pauses, Resizes, Retries int32

	state scheduler.State
}

// NewJob returns a job before its first event.
func NewJob() Job { return Job{state: scheduler.Pending, FirstStart: scheduler.Never} }

// State returns the state of the job.
func (j *Job) State() scheduler.State { return j.state }

// Runs reports whether the job runs.
func (j *Job) Runs() bool { return j.state == scheduler.Running }

// Waits reports whether the job waits: it has arrived, is not over, and holds no resources.
func (j *Job) Waits() bool { return j.state == scheduler.Queued || j.state == scheduler.Paused }

// Over reports whether the job has ended.
func (j *Job) Over() bool { return j.state.Over() }

// End returns the instant at which the job ended; Never before it.
func (j *Job) End() time.Duration {
	if j.Over() {
		return j.Since
	}
	return scheduler.Never
}

// Counts is the number of jobs in each state.
type Counts struct {
	Pending, Queued, Running, Paused, Finished, Failed, Stopped int
}

// Waiting returns the number of jobs that have arrived, are not over, and hold no resources.
func (c Counts) Waiting() int { return c.Queued + c.Paused }

// Ledger has the states of the jobs of one trace.
type Ledger struct {
	jobs        []Job
	counts      [scheduler.Stopped + 1]int
	cores, gpus int
}

// New returns a ledger for a trace with the given number of jobs, before its first event.
func New(jobs int) *Ledger {
	l := &Ledger{jobs: make([]Job, 0, jobs)}
	for range jobs {
		l.Add()
	}
	return l
}

// Add adds a pending job and returns its number. Readers use it for traces whose number of jobs they do not know.
func (l *Ledger) Add() int {
	l.jobs = append(l.jobs, NewJob())
	l.Expect(1)
	return len(l.jobs) - 1
}

// Expect counts pending jobs whose Job values the caller keeps, for use with Apply.
func (l *Ledger) Expect(jobs int) { l.counts[scheduler.Pending] += jobs }

// Len returns the number of jobs.
func (l *Ledger) Len() int { return len(l.jobs) }

// Job returns the state of a job. The pointer is valid until the next call of Add.
func (l *Ledger) Job(number int) *Job { return &l.jobs[number] }

// Counts returns the number of jobs in each state.
func (l *Ledger) Counts() Counts {
	c := &l.counts
	return Counts{c[scheduler.Pending], c[scheduler.Queued], c[scheduler.Running], c[scheduler.Paused], c[scheduler.Finished], c[scheduler.Failed], c[scheduler.Stopped]}
}

// Held returns the numbers of cores and GPUs that all jobs hold together.
func (l *Ledger) Held() (cores, gpus int) { return l.cores, l.gpus }

// Takes reports whether an event is about a job that exists and is not over. The ledger ignores other events; the
// validator reports them.
func (l *Ledger) Takes(e *scheduler.Event) bool {
	return uint(e.Job) < uint(len(l.jobs)) && !l.jobs[e.Job].Over()
}

// Step says how an event changed the resources that a job holds.
type Step struct {
	// Ended says that a period ended in which the job held the same resources; Held is its length. Began says that
	// another such period began. A resize sets both.
	Ended, Began bool
	Held         time.Duration
	Cores, GPUs  int32 // numbers that the job held in the period that ended
}

// Event handles the next event, and returns its effect. It ignores an event for which Takes is false.
func (l *Ledger) Event(e *scheduler.Event) Step { return l.EventAt(e, e.At) }

// EventAt is Event with another instant than the event's own.
func (l *Ledger) EventAt(e *scheduler.Event, at time.Duration) Step {
	if !l.Takes(e) {
		return Step{}
	}
	return l.Apply(&l.jobs[e.Job], e, at)
}

// Apply is EventAt for a job that the caller keeps. The job must not be over.
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
			return Step{} // the job has not started
		}
		return l.move(j, at, scheduler.Queued)
	case scheduler.Finish:
		return l.move(j, at, scheduler.Finished)
	case scheduler.Fail:
		return l.move(j, at, scheduler.Failed)
	case scheduler.Stop:
		return l.move(j, at, scheduler.Stopped)
	}
	return Step{} // other kinds of events do not change the job's resources
}

// move gives a job another state and ends the period in which it held resources.
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

// hold gives a job the resources in an event.
func (l *Ledger) hold(j *Job, e *scheduler.Event, s *Step) {
	s.Began = true
	j.Cores, j.GPUs = int32(e.Cores.Count()), int32(e.GPUs.Count())
	l.cores += int(j.Cores)
	l.gpus += int(j.GPUs)
}
