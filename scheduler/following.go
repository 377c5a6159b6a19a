// Following has what predictions of run times need that follow the jobs while they run.

package scheduler

import (
	"time"
)

// Online lets predictions follow what jobs report while they run.
type Online struct {
	// Units has the work of each job, in epochs or steps; 0 for a job that
	// reports nothing.
	Units []int
	// Predictor may keep what it has learned: it serves one run.
	Predictor Predictor
}

// Predictor corrects a job's predicted run time by the units that it has finished.
type Predictor interface {
	// Learn takes in that a job has finished so many units more, the losses that it
	// has reported of them, and what it held since the units before. It returns the run time that the job has left on
	// its full request, 0 or more, or a negative one when that cannot be told.
	Learn(job, units int, losses []Loss, held []Held) time.Duration
	// Forget takes in that a job has failed and will be restarted: the units that it
	// has finished do not count any more.
	Forget(job int)
}

// Held is a time in which a job held so many cores.
type Held struct {
	Time  time.Duration
	Cores int
}

// Seen is what online predictions know of a job.
type Seen struct {
	Predicted time.Duration // of the whole job, on its full request
	Units     int           // finished
	Held      []Held        // since then
	From      time.Duration // the part of the present stretch that is not in Held begins here
}

// Add adds a time in which the job held so many cores.
func (s *Seen) Add(d time.Duration, cores int) {
	if last := len(s.Held) - 1; last >= 0 && s.Held[last].Cores == cores {
		s.Held[last].Time += max(d, 0)
	} else if d > 0 {
		s.Held = append(s.Held, Held{d, cores})
	}
}
