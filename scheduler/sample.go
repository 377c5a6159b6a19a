package scheduler

import (
	"math"
	"slices"
	"time"
)

// Sample implements Hands. While the sample runs, a part of the run time is predicted.
func (l *loop) Sample(job, cores int32, nodes []int32, part float64, why string) error {
	if l.samples == nil {
		l.samples, l.Jobs = map[int32]time.Duration{}, slices.Clone(l.Jobs)
	}
	j := &l.Jobs[job]
	l.samples[job], j.Predicted = j.Predicted, time.Duration(math.Round(part*float64(j.Predicted)))
	if err := l.start(job, cores, nodes, why); err != nil || l.life(job).state != Running {
		return err
	}
	return l.Engine.(Sampler).Sample(int(job), l.life(job).grant, part)
}

// sampled takes the end of an attempt, and reports whether it was a sample: the job waits to be started with all of its
// work before it.
func (l *loop) sampled(j int32) bool {
	whole, was := l.samples[j]
	if !was {
		return false
	}
	delete(l.samples, j)
	l.Jobs[j].Predicted = whole
	if p, ok := l.rules.Admission.(Profiler); ok {
		p.Sampled(j, l.life(j).alternative)
	}
	l.anew(j, &Attempt{}, Event{Kind: Profiled, Job: int(j)})
	return true
}
