package simulated

import (
	"fmt"
	"math"
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// Work is how long a job takes: first a fixed part, which no grant changes, then
// the rest, whose progress per second depends on what the job holds. It is the
// truth of a simulated job, which predictions may miss.
type Work interface {
	// Times returns the two parts, alone and without overheads; the rest is
	// the time that it takes at a rate.
	Times() (fixed, rest time.Duration, rate float64)
	// Rate returns the progress per second under a grant, above 0, in the unit of
	// Times.
	Rate(g scheduler.Grant) float64
	// In returns the work of the job when it runs in one of its alternatives: the
	// work itself if they are all the same to it.
	In(alternative int) (Work, error)
	// Check returns an error for work that no job can have.
	Check() error
}

// Scaling is work whose rate depends on the number of threads alone.
type Scaling struct {
	// Fixed is the part that no number of threads changes: the start-up.
	Fixed time.Duration
	// Scaled is the rest, on Threads threads (0 means 1).
	Scaled  time.Duration
	Threads int
	// Parallel is the part of Scaled that is spread evenly over the threads,
	// 0 to 1 (G. Amdahl, 1967). SpeedUp, if it is set, takes its place.
	Parallel float64
	// SpeedUp returns how many times faster than on one thread the scaled part
	// is on so many threads; above 0.
	SpeedUp func(threads int) float64
	// Special, if it is set, has what the work of few jobs has: there may be millions of others.
	Special *Special
}

// Special is what is special about the work of a job.
type Special struct {
	// Crew, if it is set, takes the place of Scaling.Parallel and SpeedUp for a job with roles: its speed depends on what its parts run on.
	Crew Crew
	// Begin, if it is set, returns what takes the place of all of Scaling but Fixed while the job
	// runs; Scaled is then the time that it takes alone on its request.
	Begin func() Course
	// Beside has the part of its speed that the job keeps when it shares its GPUs with a job of
	// another class, or of its own; it shares them with no others.
	Beside map[string]float64
	// Alternatives has the work of a job with alternatives in each of them;
	// all else then does not count.
	Alternatives []Scaling
}

// Alternatives has the work of a job with alternatives in each of them; nil for one without.
func (w *Scaling) Alternatives() []Scaling {
	if w.Special == nil {
		return nil
	}
	return w.Special.Alternatives
}

// AddAlternative adds the work of the job in one more alternative.
func (w *Scaling) AddAlternative(a Scaling) {
	if w.Special == nil {
		w.Special = &Special{}
	}
	w.Special.Alternatives = append(w.Special.Alternatives, a)
}

// Times implements Work.
func (w *Scaling) Times() (fixed, rest time.Duration, rate float64) {
	return w.Fixed, w.Scaled, w.Speed(max(w.Threads, 1))
}

// Rate implements Work.
func (w *Scaling) Rate(g scheduler.Grant) float64 {
	if s := w.Special; s != nil && s.Crew != nil && g.Layout != nil {
		return s.Crew.Speed(g.Layout.Parts)
	}
	return w.Speed(g.Cores.Count())
}

// Crew is the speed of a job with roles by its parts.
type Crew interface {
	// Speed returns how many times faster than in Scaling.Scaled the job is with these parts; above 0.
	Speed(parts []scheduler.Part) float64
}

// neighbour is work that knows its speed beside others on the same GPUs.
type neighbour interface {
	// keeps returns the part of its speed that is left beside a job of a class; 0 for unknown.
	keeps(class string) float64
}

func (w *Scaling) keeps(class string) float64 {
	if w.Special == nil {
		return 0
	}
	return w.Special.Beside[class]
}

// In implements Work.
func (w *Scaling) In(alternative int) (Work, error) {
	switch all := w.Alternatives(); {
	case len(all) == 0:
		return w, nil
	case alternative < 0 || alternative >= len(all):
		return nil, fmt.Errorf("it has no alternative %d", alternative)
	default:
		return &all[alternative], nil
	}
}

// Training is a job of so many epochs, whose epoch takes a given time on one
// thread, of which the part parallel speeds up.
func Training(startup time.Duration, epochs int, epoch time.Duration, parallel float64) Scaling {
	return Scaling{Fixed: startup, Scaled: time.Duration(epochs) * epoch, Threads: 1, Parallel: parallel}
}

// FullRequest is a job that takes a given time on its full request, and in
// proportion longer on fewer threads.
func FullRequest(runTime time.Duration, threads int) Scaling {
	return Scaling{Scaled: runTime, Threads: threads, Parallel: 1}
}

// RunTime returns how long the job takes alone on so many threads, without overheads
// and noise.
func (w Scaling) RunTime(threads int) time.Duration {
	return w.Fixed + stretch(w.Scaled, w.Speed(max(w.Threads, 1)), w.Speed(threads))
}

// Estimate returns RunTime as a prediction for scheduler.Job: at least a nanosecond,
// for 0 stands for no estimate.
func (w Scaling) Estimate(threads int) time.Duration { return max(w.RunTime(threads), 1) }

// Speed returns the speed on so many threads, where one thread has 1.
func (w *Scaling) Speed(threads int) float64 {
	if s := w.Special; s != nil && (s.Crew != nil || s.Begin != nil) {
		return 1
	}
	if w.SpeedUp != nil {
		return w.SpeedUp(threads)
	}
	if threads == 1 {
		return 1 // as below: that is exact
	}
	return 1 / (1 - w.Parallel + w.Parallel/float64(threads))
}

// stretch converts a time at one speed to the time at another. Where the
// speeds are the same it is exact.
func stretch(d time.Duration, from, to float64) time.Duration {
	if from == to || d == 0 {
		return d
	}
	t := math.Round(float64(d) * from / to)
	if t >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(t)
}

// Check implements Work.
func (w *Scaling) Check() error {
	switch {
	case w.Fixed < 0 || w.Scaled < 0:
		return fmt.Errorf("a run time of %s + %s is negative", w.Fixed, w.Scaled)
	case w.Threads < 0:
		return fmt.Errorf("%d threads", w.Threads)
	case !(w.Parallel >= 0 && w.Parallel <= 1):
		return fmt.Errorf("a parallel part of %v is not between 0 and 1", w.Parallel)
	}
	for i, a := range w.Alternatives() {
		if err := a.Check(); err != nil {
			return fmt.Errorf("alternative %d: %w", i, err)
		}
	}
	return nil
}
