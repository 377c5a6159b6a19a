// This file predicts the remaining times of jobs on their present resources.

package scheduler

import (
	"math"
	"math/bits"
	"time"
)

// never is the greatest duration: a time that is unknown or too long.
const never = time.Duration(math.MaxInt64)

// ProgressModel computes the progress of jobs, and predicts their remaining times. Shortest-first orders,
// reservations and plans use the predictions, which may be wrong.
type ProgressModel interface {
	// Done returns the progress of a job in a time of service on the given number of cores, on all nodes together.
	// Each model has its own unit of progress; values of one attempt are added up.
	Done(job *Job, cores int, stretch time.Duration) time.Duration
	// Past converts such a sum to run time on the job's full request.
	Past(job *Job, done time.Duration) time.Duration
	// Predict converts a remaining run time on the full request to a remaining time on the given number of cores. It
	// returns the greatest duration if the result does not fit.
	Predict(job *Job, left time.Duration, cores int) time.Duration
}

// Proportional is the progress model in which the speed of a job is proportional to its cores. The unit of progress
// is core time.
type Proportional struct{}

// Done implements ProgressModel.
func (Proportional) Done(_ *Job, cores int, stretch time.Duration) time.Duration {
	return CoreTime(stretch, cores)
}

// Past implements ProgressModel.
func (Proportional) Past(job *Job, done time.Duration) time.Duration {
	return done / time.Duration(job.Threads)
}

// Predict implements ProgressModel.
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

// CoreTime returns d × cores, but at most the greatest duration.
func CoreTime(d time.Duration, cores int) time.Duration {
	if d > 0 && cores > 0 {
		if high, low := bits.Mul64(uint64(d), uint64(cores)); high > 0 || low > math.MaxInt64 {
			return math.MaxInt64
		}
	}
	return d * time.Duration(cores)
}

// Plus returns a + b, but at most the greatest duration.
func Plus(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// progressAccount has the progress of each job of a run, in the unit of the progress model. If the unit is core
// time, it has only what differs from the core time in jobState.
type progressAccount struct {
	jobs int
	done []time.Duration // progress by job; nil if the unit is core time
	lost []time.Duration // by job, the core time of failed attempts; nil before the first failure
	base []time.Duration // by job, its progress when its attempt began; nil before the first failure
}

// newProgressAccount returns the account of a run with the given number of jobs.
func newProgressAccount(of ProgressModel, jobs int) progressAccount {
	if _, proportional := of.(Proportional); proportional { // core times are in jobState already
		return progressAccount{jobs: jobs}
	}
	return progressAccount{jobs: jobs, done: make([]time.Duration, jobs)}
}

// ByCores reports whether the unit of progress is core time.
func (a *progressAccount) ByCores() bool { return a.done == nil }

// Done returns the progress of a job in its attempt, without the present period of running. coreTime is the job's
// core time over all attempts.
func (a *progressAccount) Done(job int32, coreTime time.Duration) time.Duration {
	switch {
	case a.done != nil:
		return a.done[job]
	case a.lost != nil:
		return coreTime - a.lost[job]
	}
	return coreTime
}

// Add adds to the progress of a job.
func (a *progressAccount) Add(job int32, done time.Duration) { a.done[job] = Plus(a.done[job], done) }

// Base returns the progress of a job when its attempt began.
func (a *progressAccount) Base(job int32) time.Duration {
	if a.base == nil {
		return 0
	}
	return a.base[job]
}

// Set sets the progress of a job, and its progress when its attempt began. coreTime is the job's core time over all
// attempts.
func (a *progressAccount) Set(job int32, done, base, coreTime time.Duration) {
	if a.lost == nil {
		a.lost, a.base = make([]time.Duration, a.jobs), make([]time.Duration, a.jobs)
	}
	a.lost[job], a.base[job] = coreTime-done, base
	if a.done != nil {
		a.done[job] = done
	}
}

// SpeedCurves is the progress model in which the speed of a job depends on its number of cores. The unit of progress
// is run time on the full request.
type SpeedCurves struct {
	// Speed returns the speed of a job on the given number of cores; it is greater than 0. Only ratios of a job's
	// speeds are used, so any unit will do.
	Speed func(job *Job, cores int) float64
}

// Done implements ProgressModel.
func (c SpeedCurves) Done(job *Job, cores int, stretch time.Duration) time.Duration {
	return scaled(stretch, c.Speed(job, cores), c.Speed(job, job.Threads))
}

// Past implements ProgressModel.
func (SpeedCurves) Past(_ *Job, done time.Duration) time.Duration { return done }

// Predict implements ProgressModel.
func (c SpeedCurves) Predict(job *Job, left time.Duration, cores int) time.Duration {
	return scaled(left, c.Speed(job, job.Threads), c.Speed(job, cores))
}

// scaled returns d × by / of, but at most the greatest duration.
func scaled(d time.Duration, by, of float64) time.Duration {
	if by == of || d == never {
		return d
	}
	if t := math.Round(float64(d) * by / of); t < float64(never) {
		return time.Duration(t)
	}
	return never
}

// Training is the true speed of an elastic job, which only a simulator knows.
type Training interface {
	// Goodput returns the speed of progress on a number of GPUs and nodes, with the best batch size for them; 0
	// before the job has run. An empty gpu means the type of GPU on which the job was measured.
	Goodput(gpu string, nodes, gpus int) float64
	// MostGPUs returns the greatest number of GPUs on which the job has run.
	MostGPUs() int
	// Limit returns the greatest number of GPUs that the job can use.
	Limit() int
	// StepTime returns the time of a step in seconds, with the batch size that the user requested. The GPUs are on
	// as few nodes as possible; a node has perNode GPUs.
	StepTime(gpus, perNode int) float64
	// Steps returns the number of remaining steps with that batch size.
	Steps() float64
}
