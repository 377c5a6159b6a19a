package batch

import (
	"cmp"
	"slices"
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// cleanup is the removal of an ended job from its nodes. Until it ends, they take no other jobs.
type cleanup struct {
	at         time.Duration // when the nodes take jobs again
	on         bitmap
	lookAtOnce bool // the queue is looked at as soon as it ends
}

// pendingCleanups records the cleanups that have not ended.
type pendingCleanups struct {
	pending   []cleanup                  // by end
	nodes     bitmap                     // of all pending cleanups
	durations map[string][]time.Duration // by name of a job, how long the cleanups at its next ends take
}

// cleanUp starts the cleanup of the nodes that a job has left. Of a job that was made to end, the first node has the
// script, and is released last.
func (p *periodic) cleanUp(e *scheduler.Event, on bitmap) {
	alone := e.Kind == scheduler.Finish || e.Kind == scheduler.Fail
	c := cleanup{e.At + p.Release, on, !alone || p.AtEnds}
	if e.Kind == scheduler.Pause {
		p.requestLookFor(c, e.At)
		return
	}
	if !alone {
		first := newBitmap(len(p.cores.perNode))
		first.set(on.first())
		others := slices.Clone(on)
		others.minus(first)
		p.startCleanup(cleanup{c.at, others, true}, e.At)
		c.at, c.on = e.At+p.StopRelease, first
	}
	c.at = e.At + p.releaseOf(e.Job, c.at-e.At)
	if name := p.run.Jobs[e.Job].Name; len(p.cleaning.durations[name]) > 0 {
		p.cleaning.durations[name] = p.cleaning.durations[name][1:]
	}
	p.startCleanup(c, e.At)
}

// releaseOf returns how long a job's nodes take no other jobs at its next end: a usual time if the job has no time.
func (p *periodic) releaseOf(job int, usual time.Duration) time.Duration {
	if own := p.cleaning.durations[p.run.Jobs[job].Name]; len(own) > 0 {
		return own[0]
	}
	return usual
}

// startCleanup keeps jobs from nodes until they are released.
func (p *periodic) startCleanup(c cleanup, now time.Duration) {
	if c.at == now {
		p.requestLookFor(c, now)
		return
	}
	i, _ := slices.BinarySearchFunc(p.cleaning.pending, c, func(a, b cleanup) int { return cmp.Compare(a.at, b.at) })
	p.cleaning.pending = slices.Insert(p.cleaning.pending, i, c)
	p.cleaning.nodes.or(c.on)
}

// requestLookFor asks for a look at the queue as nodes take jobs again: at once, or as for jobs that have come.
func (p *periodic) requestLookFor(c cleanup, now time.Duration) {
	if c.lookAtOnce {
		p.passes.lookAtOnce = true
	} else {
		p.passes.requestLook(now)
	}
}
