package scheduler

import (
	"fmt"
	"math"
	"time"

	"github.com/tfexp/tfexp/scheduler/profiling"
	"github.com/tfexp/tfexp/scheduler/queue"
)

// newSamples prepares the profiling of jobs. Their predictions change, so the run's jobs are copied.
func (l *loop) newSamples() {
	if l.samples = profiling.New(l.rules.Profiling, l.Jobs, l.alternatives.Possible); l.samples != nil {
		l.Jobs = append([]Job(nil), l.Jobs...)
	}
}

// profile starts samples of the jobs that the policy does not know, in the order of their arrivals, as far as there is
// room.
func (l *loop) profile() error {
	if l.samples == nil {
		return nil
	}
	j := l.queue.Next(queue.Front, queue.Anyone)
	for j != nobody && l.samples.Unknown(j) {
		k := l.queue.KeyOf(j)
		if err := l.sample(j); err != nil {
			return err
		}
		j = l.queue.Next(k, queue.Anyone)
	}
	return nil
}

// sample starts a sample of a job with the first of its alternatives that has room, or lets one go on.
func (l *loop) sample(j int32) error {
	left, its := l.samples.Left(j)
	if !its {
		return nil
	}
	if l.life(j).state != Queued || len(left) == 0 {
		return l.sampleAs(j, "")
	}
	for _, k := range left {
		l.adopt(j, k)
		if err := l.sampleAs(j, " on "+l.Jobs[j].Alternatives[k].Name); err != nil || l.life(j).state == Running {
			return err
		}
	}
	return nil
}

// sampleAs is sample for the alternative with which the job is looked at.
func (l *loop) sampleAs(j int32, on string) error {
	cores := l.life(j).request
	nodes, ok := l.fits(j, cores)
	if !ok {
		return nil
	}
	return l.start(j, cores, nodes, "a sample of it"+on)
}

// beginSample makes a job that has started with a grant end after a part of its work, if the policy does not know it.
func (l *loop) beginSample(j int32, g Grant) error {
	if !l.samples.Unknown(j) {
		return nil
	}
	engine, ok := l.Engine.(Sampler)
	if !ok {
		return fmt.Errorf("profile job %q: the engine cannot run samples", l.Jobs[j].Name)
	}
	l.Jobs[j].Predicted = time.Duration(math.Round(l.samples.Part * float64(l.Jobs[j].Predicted)))
	return engine.Sample(int(j), g, l.samples.Part)
}

// sampled takes the end of an attempt, and reports whether it was a sample: the job waits to be started with all of its
// work before it. With its last sample, the policy knows it and those like it.
func (l *loop) sampled(j int32) bool {
	if !l.samples.Unknown(j) {
		return false
	}
	f := l.life(j)
	l.guard.News()
	l.nodes.Vacate(j, f.grant.Cores, l.now)
	l.unbook(j)
	f.state, f.grant, f.timer, f.request = Queued, Grant{}, Never, f.asked
	l.keepOnly(j, 0)
	l.emit(Event{Kind: Profiled, Job: int(j)})
	l.Jobs[j].Predicted = l.samples.Predicted(j)
	if l.samples.Sampled(j, f.alternative); !l.samples.Unknown(j) {
		l.acquaint()
	}
	l.wait(j)
	return true
}

// acquaint gives the waiting jobs that the policy has come to know their places in its order.
func (l *loop) acquaint() {
	for j := l.queue.Next(queue.Front, queue.Anyone); j != nobody && l.queue.KeyOf(j).Rank == profiling.Rank; {
		k := l.queue.KeyOf(j)
		if !l.samples.Unknown(j) {
			l.queue.Remove(j)
			l.wait(j)
		}
		j = l.queue.Next(k, queue.Anyone)
	}
}
