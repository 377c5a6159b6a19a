package batch

import (
	"slices"
	"time"
)

// Reservation keeps nodes for jobs that name it, for some time.
//
// Nodes that only jobs of the reservation may use, for some time. A job that does not name it starts on them only if
// its time limit ends before.
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
	// The name, if it cannot be a label.
	//
	// Default: the label.
	//
	//	name = "2nd.floor"
	Name string `arg:"name"`
	// The names of the nodes; `n-[1-16,20]` names several.
	//
	// Default: all.
	//
	//	nodes = ["n-[1-4]"]
	Nodes []string `arg:"nodes"`
	// When the reservation begins.
	//
	//	from = "48h"
	From time.Duration `arg:"from" default:"0s"`
	// When the reservation ends.
	//
	//	until = "56h"
	Until time.Duration `arg:"until,required,positive"`
	// Whether the reservation is unknown before it begins, as when nodes fail. Jobs that run on them go on.
	//
	//	sudden = true
	Sudden bool `arg:"sudden" default:"false"`

	nodes bitmap
}

// removeReserved removes from on the nodes that reservations deny to a job at some time between from and to. later is
// the earliest end of these reservations; 0 if no nodes were removed. If the job names a reservation that is not active, on
// becomes empty and later is the reservation's start.
func (p *periodic) removeReserved(m *jobRecord, from, to time.Duration, on bitmap) (later time.Duration) {
	for _, r := range p.reservations {
		if r.From >= to { // reservations are sorted by From
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

// edgesOfReservations returns the times at which reservations start and end, sorted.
func (cfg *clusterConfig) edgesOfReservations() (list []time.Duration) {
	for _, r := range cfg.reservations {
		list = append(list, r.From, r.Until)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// noticeOpenNodes handles nodes that become usable: a reservation ended, or the cleanup after a job is over.
func (p *periodic) noticeOpenNodes(now time.Duration) {
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
		p.requestLookFor(p.cleaning.pending[0], now)
		p.cleaning.pending = p.cleaning.pending[1:]
	}
	for _, c := range p.cleaning.pending {
		p.cleaning.nodes.or(c.on)
	}
	p.passes.recordChange(now)
}
