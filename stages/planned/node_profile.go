package planned

import (
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
)

// amounts are free or needed resources of a node.
type amounts struct {
	cores, gpus int32
	memory      int64
}

func amountsOf(r cluster.Room) amounts { return amounts{r.Cores, r.GPUs, r.Memory} }

// in reports whether free has at least these amounts.
func (a amounts) in(free *amounts) bool {
	return free.cores >= a.cores && free.gpus >= a.gpus && free.memory >= a.memory
}

func (a amounts) negative() amounts { return amounts{-a.cores, -a.gpus, -a.memory} }

func (a *amounts) add(b amounts) {
	a.cores += b.cores
	a.gpus += b.gpus
	a.memory += b.memory
}

// nodeProfile has the free resources of one node over time, as a list of steps from now on. Bookings point to the steps
// where they begin and end, so that changes visit only nearby steps.
type nodeProfile struct {
	head   *step               // begins now
	kind   cluster.Room        // GPU type and market of the node, without amounts
	pool   *step               // unused steps, for reuse
	shapes []*reservationGroup // groups of reservations whose GPU type the node has
}

// step is a time span with constant free resources. It lasts to the next step; the last step has no end.
type step struct {
	at   time.Duration
	free amounts
	// Number of bookings and holes that begin or end here; without pins, the step can be merged with the one before.
	pins       int32
	prev, next *step
	first      *booking // first of the reservations that begin here and have this node as first node
}

// newNodeProfile returns the profile of a node without changes.
func newNodeProfile(now time.Duration, free cluster.Room) nodeProfile {
	return nodeProfile{
		head: &step{at: now, free: amountsOf(free), pins: 1},
		kind: cluster.Room{Kind: free.Kind, Market: free.Market},
	}
}

// step returns the step that begins at an instant, and creates it if it is missing; nil for Never. The search begins at
// the step near.
func (p *nodeProfile) step(at time.Duration, near *step) *step {
	if at == scheduler.Never {
		return nil
	}
	s := near.seek(at)
	if s.at == at {
		return s
	}
	n := p.pool
	if n == nil {
		n = &step{}
	} else {
		p.pool = n.next
	}
	*n = step{at: at, free: s.free, prev: s, next: s.next}
	if n.next != nil {
		n.next.prev = n
	}
	s.next = n
	return n
}

// seek returns the step that contains an instant. The instant must not be before the first step.
func (s *step) seek(at time.Duration) *step {
	for s.at > at {
		s = s.prev
	}
	for s.next != nil && s.next.at <= at {
		s = s.next
	}
	return s
}

// unpin removes a pin from a step. It also removes the step from the profile if no pin is left.
func (p *nodeProfile) unpin(s *step) {
	if s == nil {
		return
	}
	if s.pins--; s.pins > 0 {
		return
	}
	if s.prev != nil { // the step is not in the past
		if s.prev.next = s.next; s.next != nil {
			s.next.prev = s.prev
		}
	}
	s.prev, s.next, p.pool = nil, p.pool, s
}

// add adds to the free resources of all steps between two steps.
func add(from, to *step, by amounts) {
	for s := from; s != to; s = s.next {
		s.free.add(by)
	}
}

// live returns a step, or the first step if s is in the past.
func (p *nodeProfile) live(s *step) *step {
	if s != nil && s.at < p.head.at {
		return p.head
	}
	return s
}

// advance removes the steps before an instant. Reservations that should have begun earlier now begin at that instant.
func (p *nodeProfile) advance(now time.Duration) {
	for p.head.next != nil && p.head.next.at <= now {
		s := p.head
		p.head = s.next
		for s.first != nil {
			k := s.first
			k.unlink()
			k.spans[0].from = p.head
			k.link()
			s.pins--
			p.head.pins++
		}
		p.head.pins++
		s.prev, s.next, p.head.prev = nil, nil, nil
		p.unpin(s)
	}
	p.head.at = now
}

// lowest returns the resources that are free throughout the time from a step to an instant.
func (p *nodeProfile) lowest(from *step, to time.Duration) cluster.Room {
	low := p.kind
	low.Cores, low.GPUs, low.Memory = from.free.cores, from.free.gpus, from.free.memory
	for s := from.next; s != nil && s.at < to; s = s.next {
		low.Cores, low.GPUs, low.Memory =
			min(low.Cores, s.free.cores), min(low.GPUs, s.free.gpus), min(low.Memory, s.free.memory)
	}
	return low
}

// first returns the first step from which a booking has room on this node, starting at from and before an instant; nil
// if no step has room. Room that the booking itself holds is available.
func (p *nodeProfile) first(k *booking, node int32, from *step, before time.Duration) *step {
	if !p.kind.Holds(k.kind) {
		return nil
	}
	var own span
	if len(k.spans) > 0 && k.spans[0].node == node {
		own = k.spans[0]
	}
	var start *step // start of the current stretch with room
	end, mine := scheduler.Never, false
	for s := from; s != nil; s = s.next {
		mine = (mine || s == own.from) && s != own.to
		switch {
		case start != nil && s.at >= end:
			return start
		case start == nil && s.at >= before:
			return nil
		case k.need.in(&s.free):
			if start == nil {
				start, end = s, EndOf(s.at, k.length)
			}
		case !mine || !(amounts{}).in(&s.free):
			start = nil
		}
	}
	return start
}

// span adds a time span on a node to a booking.
func (k *booking) span(node int32, from, to *step) {
	from.pins++
	if to != nil {
		to.pins++
	}
	k.spans = append(k.spans, span{node, from, to})
}

// nodes returns the nodes of a booking.
func (k *booking) nodes() []int32 {
	nodes := make([]int32, len(k.spans))
	for i, s := range k.spans {
		nodes[i] = s.node
	}
	return nodes
}

// link adds a reservation to the list of those that begin at its first step.
func (k *booking) link() {
	s := k.spans[0].from
	if k.before, k.after = nil, s.first; s.first != nil {
		s.first.before = k
	}
	s.first = k
}

// unlink removes a reservation from the list of those that begin at its first step.
func (k *booking) unlink() {
	if k.before != nil {
		k.before.after = k.after
	} else {
		k.spans[0].from.first = k.after
	}
	if k.after != nil {
		k.after.before = k.before
	}
}
