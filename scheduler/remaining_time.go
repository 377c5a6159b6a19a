// ProgressModel predicts the remaining times of jobs with their present resources.

package scheduler

import (
	"math"
	"math/bits"
	"time"
)

// never is longer than can be said.
const never = time.Duration(math.MaxInt64)

// ProgressModel predicts the remaining times of jobs with their present
// resources. Shortest-first orders, reservations and plans use it; the
// prediction may be wrong.
type ProgressModel interface {
	// Done returns the progress of a job in a stretch of service with the given number of cores on all nodes
	// together. The model chooses the unit; the stretches of an attempt add up in it.
	Done(job *Job, cores int, stretch time.Duration) time.Duration
	// Past converts such a sum to run time on the job's full request.
	Past(job *Job, done time.Duration) time.Duration
	// Predict converts the run time left on the full request to the time left on the given
	// number of cores. It is the greatest duration if the time is too long for one.
	Predict(job *Job, left time.Duration, cores int) time.Duration
}

// Proportional is the progress model in which jobs progress in proportion to their
// cores. Progress is core time.
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

// progressAccount has the progress of the jobs of a run, in the unit of a progress model. If the unit is core time, it has
// only the corrections to each job's core time.
type progressAccount struct {
	jobs int
	done []time.Duration // by job; nil if progress is core time
	lost []time.Duration // by job, the core time of attempts that failed; nil until one has
	base []time.Duration // by job, its progress when its attempt began; nil with lost
}

// newProgressAccount returns the account of a run with the given number of jobs.
func newProgressAccount(of ProgressModel, jobs int) progressAccount {
	if _, proportional := of.(Proportional); proportional { // its sums are the core times, which are kept anyway
		return progressAccount{jobs: jobs}
	}
	return progressAccount{jobs: jobs, done: make([]time.Duration, jobs)}
}

// ByCores reports whether progress is core time.
func (a *progressAccount) ByCores() bool { return a.done == nil }

// Done returns the progress of a job in the ended stretches of its attempt; coreTime is its core time in them.
func (a *progressAccount) Done(job int32, coreTime time.Duration) time.Duration {
	switch {
	case a.done != nil:
		return a.done[job]
	case a.lost != nil:
		return coreTime - a.lost[job]
	}
	return coreTime
}

// Add adds the progress of a job in a stretch.
func (a *progressAccount) Add(job int32, done time.Duration) { a.done[job] = Plus(a.done[job], done) }

// Base returns the progress of a job when its attempt began.
func (a *progressAccount) Base(job int32) time.Duration {
	if a.base == nil {
		return 0
	}
	return a.base[job]
}

// Set sets the progress of a job, and its progress when its attempt began; coreTime is its core time so far.
func (a *progressAccount) Set(job int32, done, base, coreTime time.Duration) {
	if a.lost == nil {
		a.lost, a.base = make([]time.Duration, a.jobs), make([]time.Duration, a.jobs)
	}
	a.lost[job], a.base[job] = coreTime-done, base
	if a.done != nil {
		a.done[job] = done
	}
}

// SpeedCurves is the progress model in which each job has a speed by the number of its cores. Progress is run
// time on the full request.
type SpeedCurves struct {
	// Speed returns the speed of a job on the given number of cores, above 0. The unit may differ between jobs.
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

// Training is the known speed of an elastic job.
type Training interface {
	// Goodput returns the expected speed of progress on a number of GPUs and nodes, with the best batch
	// for them; 0 before the job has run. An empty gpu means the type on which the job was measured.
	Goodput(gpu string, nodes, gpus int) float64
	// MostGPUs returns the greatest number of GPUs that it has run on.
	MostGPUs() int
	// Limit returns the greatest number of GPUs that it can use.
	Limit() int
	// StepTime returns the time of a step with the batch that the user asked for, in
	// seconds. The GPUs are on as few nodes of perNode GPUs as possible.
	StepTime(gpus, perNode int) float64
	// Steps returns how many such steps are left.
	Steps() float64
}
