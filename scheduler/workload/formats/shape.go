package formats

import (
	"math"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
)

// Shape describes changes of a trace before an experiment uses it.
type Shape struct {
	// Limit is the number of jobs to keep, from the start of the file; 0 keeps all.
	Limit int
	// Scale multiplies the instants of arrivals and resizes: with 0.5 jobs arrive twice as fast. 0 means 1. The time
	// from an arrival to its deadline stays the same.
	Scale float64
	// Resolution rounds the scaled instants down to multiples of it; 0 does not round.
	Resolution time.Duration
	// Start is the new arrival of the first job, if Shifted is true. All instants move by the same time.
	Start   time.Duration
	Shifted bool
	// RunTimeScale multiplies run times and predictions; 0 means 1. Results are at least MinRunTime.
	RunTimeScale float64
	MinRunTime   time.Duration
	// ThreadsPerProcessor multiplies the requested threads; 0 means 1.
	ThreadsPerProcessor int
}

// Apply changes the trace in place. It returns an error if an instant would be out of range.
func (s Shape) Apply(t *workload.Trace) error {
	if s.Limit > 0 && s.Limit < len(t.Jobs) {
		*t = t.Keep(func(i int) bool { return i < s.Limit })
	}
	if s.Scale != 0 && s.Scale != 1 { // recorded waiting times belong to the old arrivals
		t.Waits, t.Origin = nil, 0
	}
	first := scheduler.Never
	for i := range t.Jobs {
		first = min(first, t.Jobs[i].Arrival)
	}
	if !s.Shifted {
		first = 0
	}
	if t.Origin != 0 {
		t.Origin += first - s.Start
	}
	per := max(s.ThreadsPerProcessor, 1)
	for i := range t.Jobs {
		j := &t.Jobs[i]
		at, err := s.instant(j.Arrival, first)
		if err != nil {
			return err
		}
		if j.Deadline != scheduler.Never {
			j.Deadline += at - j.Arrival
			if j.Deadline < 0 {
				return workload.ErrLate
			}
		}
		j.Arrival = at
		j.Threads, j.MinThreads, j.MaxThreads = j.Threads*per, j.MinThreads*per, j.MaxThreads*per
		if j.Predicted > 0 {
			j.Predicted = max(s.runTime(j.Predicted), 1)
		}
		if t.RunTimes != nil && t.RunTimes[i] >= 0 {
			t.RunTimes[i] = s.runTime(t.RunTimes[i])
		}
		for k := range t.AlternativesOf(i) {
			a := &t.Alternatives[i][k]
			a.Threads *= per
			if a.Predicted > 0 {
				a.Predicted = max(s.runTime(a.Predicted), 1)
			}
			if a.RunTime >= 0 {
				a.RunTime = s.runTime(a.RunTime)
			}
		}
	}
	for i := range t.Resizes {
		z := &t.Resizes[i]
		at, err := s.instant(max(z.At, first), first)
		if err != nil {
			return err
		}
		z.At, z.Threads = at, z.Threads*per
	}
	return nil
}

// runTime returns the new value of a run time or a prediction.
func (s Shape) runTime(d time.Duration) time.Duration {
	if s.RunTimeScale != 0 && s.RunTimeScale != 1 {
		d = time.Duration(min(math.Round(float64(d)*s.RunTimeScale), float64(scheduler.Never/2)))
	}
	return max(d, s.MinRunTime)
}

// instant returns the new value of an instant. first is the first arrival of the trace.
func (s Shape) instant(at, first time.Duration) (time.Duration, error) {
	at -= first
	if s.Scale != 0 && s.Scale != 1 {
		scaled := math.Round(float64(at) * s.Scale)
		if scaled >= math.MaxInt64 {
			return 0, workload.ErrLate
		}
		at = time.Duration(scaled)
	}
	if s.Resolution > 0 {
		at = at.Truncate(s.Resolution)
	}
	if s.Shifted {
		at += s.Start
	}
	if at < 0 {
		return 0, workload.ErrLate
	}
	return at, nil
}

// Template returns a job of a trace. It has the class of the template, and those properties of the template that the
// trace lacks. The template's deadline is relative to the arrival.
func Template(j, template scheduler.Job) scheduler.Job {
	template.Number, template.Name, template.Arrival = j.Number, j.Name, j.Arrival
	template.Threads, template.Predicted = j.Threads, j.Predicted
	switch due := template.Deadline; {
	case j.Deadline != scheduler.Never || due <= 0 || due >= scheduler.Never-j.Arrival:
		template.Deadline = j.Deadline
	default:
		template.Deadline = j.Arrival + due
	}
	template.MinThreads = min(template.MinThreads, j.Threads)
	if template.MaxThreads > 0 {
		template.MaxThreads = max(template.MaxThreads, j.Threads)
	}
	if j.Priority >= 0 {
		template.Priority = j.Priority
	}
	if j.User != "" {
		template.User = j.User
	}
	if j.Memory > 0 {
		template.Memory = j.Memory
	}
	if j.GPUs > 0 {
		template.GPUs = j.GPUs
	}
	if j.Nodes > 1 {
		template.Nodes = j.Nodes
	}
	if j.Batch() > 0 {
		template.Own().Batch = j.Batch()
	}
	if s := j.Submission(); s != nil {
		template.Own().Submission = s
	}
	return template
}
