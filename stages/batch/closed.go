package batch

import (
	"cmp"
	"slices"
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// Reservation keeps nodes for jobs that name it, for some time.
//
// Nodes that take only jobs which name the reservation, from one time to another. A job that does not name it starts on
// them only if its time limit ends before.
//
//	policy "slurm" {
//	  order    = "multifactor"
//	  backfill = "periodic"
//	  reservation "maintenance" {
//	    nodes = ["n-[1-4]"]
//	    from  = "48h"
//	    until = "56h"
//	  }
//	}
type Reservation struct {
	// The name, where it cannot be a label.
	//
	// Default: the label.
	//
	//	name = "2nd.floor"
	Name string `arg:"name"`
	// The nodes, by name; `n-[1-16,20]` names several.
	//
	// Default: all.
	//
	//	nodes = ["n-[1-4]"]
	Nodes []string `arg:"nodes"`
	// When it begins, and ends.
	//
	//	from = "48h"
	From time.Duration `arg:"from" default:"0s"`
	// When it ends.
	//
	//	until = "56h"
	Until time.Duration `arg:"until,required,positive"`
	// Nobody knows of it before it begins, as of nodes that fail. Jobs that run on them go on.
	//
	//	sudden = true
	Sudden bool `arg:"sudden" default:"false"`

	nodes bitmap
}

// closed removes from a set of nodes those that reservations keep from a job at some time of a stretch, and returns
// when the first of these reservations ends; 0 for none. For a job with a reservation it is when that begins.
func (p *periodic) closed(m *member, from, to time.Duration, on bitmap) (later time.Duration) {
	for _, r := range p.reservations {
		if r.From >= to { // and so do all that follow
			break
		}
		if r == m.reservation || r.Until <= from || r.Sudden && r.From > p.Now() {
			continue
		}
		if on.overlaps(r.nodes) && (later == 0 || r.Until < later) {
			later = r.Until
		}
		on.minus(r.nodes)
	}
	if own := m.reservation; own != nil {
		if from < own.From || from >= own.Until {
			clear(on)
			return own.From
		}
		on.and(own.nodes)
	}
	return later
}

// edges are the instants at which reservations begin and end, in order.
func (s *site) edges() (list []time.Duration) {
	for _, r := range s.reservations {
		list = append(list, r.From, r.Until)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// cleanup is the removal of an ended job from its nodes. Until it ends, they take no other jobs.
type cleanup struct {
	at         time.Duration // when the nodes take jobs again
	on         bitmap
	lookAtOnce bool // the queue is looked at as soon as it ends
}

// cleaning records the cleanups that have not ended.
type cleaning struct {
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
		p.vacate(c, e.At)
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
		p.vacate(c, now)
		return
	}
	i, _ := slices.BinarySearchFunc(p.cleaning.pending, c, func(a, b cleanup) int { return cmp.Compare(a.at, b.at) })
	p.cleaning.pending = slices.Insert(p.cleaning.pending, i, c)
	p.cleaning.nodes.or(c.on)
}

// vacate asks for a look at the queue as nodes take jobs again: at once, or as for jobs that have come.
func (p *periodic) vacate(c cleanup, now time.Duration) {
	if c.lookAtOnce {
		p.passes.lookAtOnce = true
	} else {
		p.passes.requestLook(now)
	}
}

// reopen notices nodes that take jobs from now on: reservations have ended, or jobs have been removed.
func (p *periodic) reopen(now time.Duration) {
	for len(p.reservationEdges) > 0 && p.reservationEdges[0] <= now {
		p.reservationEdges = p.reservationEdges[1:]
		p.reservations = slices.DeleteFunc(slices.Clone(p.reservations), func(r *Reservation) bool { return r.Until <= now })
		p.passes.recordChange(now)
		p.passes.requestLook(now)
	}
	if len(p.cleaning.pending) == 0 || p.cleaning.pending[0].at > now {
		return
	}
	clear(p.cleaning.nodes)
	for len(p.cleaning.pending) > 0 && p.cleaning.pending[0].at <= now {
		p.vacate(p.cleaning.pending[0], now)
		p.cleaning.pending = p.cleaning.pending[1:]
	}
	for _, c := range p.cleaning.pending {
		p.cleaning.nodes.or(c.on)
	}
	p.passes.recordChange(now)
}
