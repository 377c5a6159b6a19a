package batch

import (
	"cmp"
	"slices"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
)

// cleanup is the removal of an ended job from its nodes. During a cleanup, no other job starts on the nodes.
type cleanup struct {
	at         time.Duration // when jobs can start on the nodes again
	on         bitmap
	lookAtOnce bool // whether the queue is checked at once when the cleanup ends
}

// pendingCleanups records the cleanups that have not ended.
type pendingCleanups struct {
	pending   []cleanup                  // ordered by end
	nodes     bitmap                     // nodes of all pending cleanups
	durations map[string][]time.Duration // lengths of the next cleanups of a job, by its name
}

// cleanUp starts the cleanup of the nodes of an ended job. If the job was stopped, its first node is released last: the
// job's script runs there.
func (p *periodic) cleanUp(e *scheduler.Event, on bitmap) {
	alone := e.Kind == scheduler.Finish || e.Kind == scheduler.Fail
	c := cleanup{e.At + p.Release, on, !alone || p.AtEnds}
	if alone && p.WholeSeconds {
		c.at = max(c.at, e.At+p.longer(e.Job))
	}
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

// longer draws how much longer a job ran than its whole seconds say, at least 0. Its start and its end were any part of
// a second later than the recorded ones.
func (p *periodic) longer(job int) time.Duration {
	parts := workload.Stream(p.seed, "seconds", p.run.Jobs[job].Name)
	return time.Duration(max(parts.Float64()-parts.Float64(), 0) * float64(time.Second))
}

// releaseOf returns how long no other job can start on the nodes of a job after its next end.
func (p *periodic) releaseOf(job int, usual time.Duration) time.Duration {
	if own := p.cleaning.durations[p.run.Jobs[job].Name]; len(own) > 0 {
		return own[0]
	}
	return usual
}

// startCleanup prevents starts on nodes until they are released.
func (p *periodic) startCleanup(c cleanup, now time.Duration) {
	if c.at == now {
		p.requestLookFor(c, now)
		return
	}
	i, _ := slices.BinarySearchFunc(p.cleaning.pending, c, func(a, b cleanup) int { return cmp.Compare(a.at, b.at) })
	p.cleaning.pending = slices.Insert(p.cleaning.pending, i, c)
	p.cleaning.nodes.or(c.on)
}

// requestLookFor requests a check of the queue when nodes are released: at once, or as after a submission.
func (p *periodic) requestLookFor(c cleanup, now time.Duration) {
	if c.lookAtOnce {
		p.passes.lookAtOnce = true
	} else {
		p.passes.requestLook(now)
	}
}
