// Outlook predicts how long jobs go on under what they hold.

package scheduler

import (
	"math"
	"math/bits"
	"time"
)

// never is longer than can be said.
const never = time.Duration(math.MaxInt64)

// Allotment is what a grant comes to, or would come to, as far as the speed of a
// job depends on it: how much of what, and not which.
type Allotment struct {
	Cores, GPUs int32 // on all nodes together
	Nodes       int32 // at least 1
	// GPU is the type of the GPUs; empty without any, and as long as it is open.
	GPU string
}

// Outlook predicts how long jobs go on under what they hold. Shortest-first
// orders, reservations and plans ask it; it need not be what happens.
type Outlook interface {
	// Done returns what a stretch of service counts for, in a unit of the
	// outlook's own, in which the stretches of an attempt are added up.
	Done(job *Job, a Allotment, stretch time.Duration) time.Duration
	// Past returns the run time on the job's full request that such a sum stands for.
	Past(job *Job, done time.Duration) time.Duration
	// Predict returns how long a job goes on under an allotment that has so much
	// run time left on its full request; the greatest duration for longer than can be said.
	Predict(job *Job, left time.Duration, a Allotment) time.Duration
}

// Proportional is the outlook in which jobs progress in proportion to their
// cores. What is done is core time.
type Proportional struct{}

// Done implements Outlook.
func (Proportional) Done(_ *Job, a Allotment, stretch time.Duration) time.Duration {
	return CoreTime(stretch, int(a.Cores))
}

// Past implements Outlook.
func (Proportional) Past(job *Job, done time.Duration) time.Duration {
	return done / time.Duration(job.Threads)
}

// Predict implements Outlook.
func (Proportional) Predict(job *Job, left time.Duration, a Allotment) time.Duration {
	if int(a.Cores) == job.Threads {
		return left
	}
	scaled := CoreTime(left, job.Threads)
	if scaled == math.MaxInt64 {
		return never
	}
	return scaled / time.Duration(a.Cores)
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
