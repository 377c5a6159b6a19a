// Outlook predicts how long jobs go on under what they hold.

package scheduler

import (
	"math"
	"math/bits"
	"time"
)

// never is longer than can be said.
const never = time.Duration(math.MaxInt64)

// Outlook predicts how long jobs go on under what they hold. Shortest-first
// orders, reservations and plans ask it; it need not be what happens.
type Outlook interface {
	// Done returns what a stretch of service with so many cores, on all nodes together, counts for, in a unit of the
	// outlook's own, in which the stretches of an attempt are added up.
	Done(job *Job, cores int, stretch time.Duration) time.Duration
	// Past returns the run time on the job's full request that such a sum stands for.
	Past(job *Job, done time.Duration) time.Duration
	// Predict returns how long a job goes on with so many cores that has so much
	// run time left on its full request; the greatest duration for longer than can be said.
	Predict(job *Job, left time.Duration, cores int) time.Duration
}

// Proportional is the outlook in which jobs progress in proportion to their
// cores. What is done is core time.
type Proportional struct{}

// Done implements Outlook.
func (Proportional) Done(_ *Job, cores int, stretch time.Duration) time.Duration {
	return CoreTime(stretch, cores)
}

// Past implements Outlook.
func (Proportional) Past(job *Job, done time.Duration) time.Duration {
	return done / time.Duration(job.Threads)
}

// Predict implements Outlook.
func (Proportional) Predict(job *Job, left time.Duration, cores int) time.Duration {
	if cores == job.Threads {
		return left
	}
	scaled := CoreTime(left, job.Threads)
	if scaled == math.MaxInt64 {
		return never
	}
	return scaled / time.Duration(cores)
}

// CoreTime returns d times cores, and stops at the greatest duration.
func CoreTime(d time.Duration, cores int) time.Duration {
	if d > 0 && cores > 0 {
		if high, low := bits.Mul64(uint64(d), uint64(cores)); high > 0 || low > math.MaxInt64 {
			return math.MaxInt64
		}
	}
	return d * time.Duration(cores)
}

// Plus returns a sum that stops at the greatest duration.
func Plus(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// Account is what the jobs of a run have done, in the unit of an outlook. Where that is core time, it has only what
// is to be taken off the core time of a job.
type OutlookAccount struct {
	jobs int
	done []time.Duration // by job; nil where what is done is core time
	lost []time.Duration // by job, the core time of attempts that failed; nil until one has
	base []time.Duration // by job, what it had done when its attempt began; nil with lost
}

// NewAccount returns the account of a run of so many jobs.
func NewOutlookAccount(of Outlook, jobs int) OutlookAccount {
	if _, proportional := of.(Proportional); proportional { // its sums are the core times, which are kept anyway
		return OutlookAccount{jobs: jobs}
	}
	return OutlookAccount{jobs: jobs, done: make([]time.Duration, jobs)}
}

// ByCores reports whether what is done is core time.
func (a *OutlookAccount) ByCores() bool { return a.done == nil }

// Done returns what a job has done in the stretches of its attempt that have ended, in which it has had so much
// core time.
func (a *OutlookAccount) Done(job int32, coreTime time.Duration) time.Duration {
	switch {
	case a.done != nil:
		return a.done[job]
	case a.lost != nil:
		return coreTime - a.lost[job]
	}
	return coreTime
}

// Add adds what a job has done in a stretch.
func (a *OutlookAccount) Add(job int32, done time.Duration) { a.done[job] = Plus(a.done[job], done) }

// Base returns what a job had done when its attempt began.
func (a *OutlookAccount) Base(job int32) time.Duration {
	if a.base == nil {
		return 0
	}
	return a.base[job]
}

// Set makes what a job has done so much, and so much of it done when its attempt began, of the core time that it
// has had.
func (a *OutlookAccount) Set(job int32, done, base, coreTime time.Duration) {
	if a.lost == nil {
		a.lost, a.base = make([]time.Duration, a.jobs), make([]time.Duration, a.jobs)
	}
	a.lost[job], a.base[job] = coreTime-done, base
	if a.done != nil {
		a.done[job] = done
	}
}

// Curves is the outlook in which each job has a speed by the number of its cores. What is done is
// run time on the full request.
type SpeedCurves struct {
	// Speed returns how fast a job is on so many cores, in any unit of its own; above 0.
	Speed func(job *Job, cores int) float64
}

// Done implements Outlook.
func (c SpeedCurves) Done(job *Job, cores int, stretch time.Duration) time.Duration {
	return scaled(stretch, c.Speed(job, cores), c.Speed(job, job.Threads))
}

// Past implements Outlook.
func (SpeedCurves) Past(_ *Job, done time.Duration) time.Duration { return done }

// Predict implements Outlook.
func (c SpeedCurves) Predict(job *Job, left time.Duration, cores int) time.Duration {
	return scaled(left, c.Speed(job, job.Threads), c.Speed(job, cores))
}

// scaled returns d times a ratio, and stops at the greatest duration.
func scaled(d time.Duration, by, of float64) time.Duration {
	if by == of || d == never {
		return d
	}
	if t := math.Round(float64(d) * by / of); t < float64(never) {
		return time.Duration(t)
	}
	return never
}

// Training is what an elastic job knows of its own speed.
type Training interface {
	// Goodput returns how fast it expects to make progress on so many GPUs of a type (empty for
	// that on which it was measured) of so many nodes, with the best batch for them; 0 before it has run.
	Goodput(gpu string, nodes, gpus int) float64
	// MostGPUs returns the greatest number of GPUs that it has run on.
	MostGPUs() int
	// Limit returns the greatest number of GPUs that it can use.
	Limit() int
	// StepTime returns how long a step takes with the batch that its user asked for, on so
	// many GPUs of as few nodes of this size as can be; in seconds.
	StepTime(gpus, perNode int) float64
	// Steps returns how many such steps are left.
	Steps() float64
}
