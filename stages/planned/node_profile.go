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

// in reports whether a node with the given free resources has the amounts.
func (a amounts) in(free *amounts) bool {
	return free.cores >= a.cores && free.gpus >= a.gpus && free.memory >= a.memory
}

func (a amounts) negative() amounts { return amounts{-a.cores, -a.gpus, -a.memory} }

func (a *amounts) add(b amounts) {
	a.cores += b.cores
	a.gpus += b.gpus
	a.memory += b.memory
}

// nodeProfile is the free resources of one node as a step function of time: a list of steps from the present on.
// Bookings keep the steps at which they begin and end, so that a change looks at the steps around it and at no
// others.
type nodeProfile struct {
	head   *step               // begins at the present
	kind   cluster.Room        // the node's GPUs and market, without amounts
	pool   *step               // steps that are not in use
	shapes []*reservationGroup // of reservations that the node has the GPUs for
}

// step holds from its instant to the next step's; the last step has no end.
type step struct {
	at         time.Duration
	free       amounts
	pins       int32 // bookings that begin or end here, and holes; without any, the step equals the one before
	prev, next *step
	first      *booking // of the reservations whose first node is this one and that begin here
}

// newNodeProfile returns the profile of a node on which nothing changes.
func newNodeProfile(now time.Duration, free cluster.Room) nodeProfile {
	return nodeProfile{
		head: &step{at: now, free: amountsOf(free), pins: 1},
		kind: cluster.Room{Kind: free.Kind, Market: free.Market},
	}
}

// step returns the step that begins at an instant, or makes it; nil for Never. The search begins at a step near it.
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

// seek returns the step that an instant falls into, which is not before the first.
func (s *step) seek(at time.Duration) *step {
	for s.at > at {
		s = s.prev
	}
	for s.next != nil && s.next.at <= at {
		s = s.next
	}
	return s
}

// unpin takes a pin from a step, and the step out of the profile with the last one.
func (p *nodeProfile) unpin(s *step) {
	if s == nil {
		return
	}
	if s.pins--; s.pins > 0 {
		return
	}
	if s.prev != nil { // it is not in the past
		if s.prev.next = s.next; s.next != nil {
			s.next.prev = s.prev
		}
	}
	s.prev, s.next, p.pool = nil, p.pool, s
}

// add adds to the free resources from one step to another.
func add(from, to *step, by amounts) {
	for s := from; s != to; s = s.next {
		s.free.add(by)
	}
}

// live returns a step, or the first one if it is in the past.
func (p *nodeProfile) live(s *step) *step {
	if s != nil && s.at < p.head.at {
		return p.head
	}
	return s
}

// advance drops the steps before an instant, which becomes the present. Reservations that should have begun begin now.
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

// lowest returns the resources that are free from a step to an instant.
func (p *nodeProfile) lowest(from *step, to time.Duration) cluster.Room {
	low := p.kind
	low.Cores, low.GPUs, low.Memory = from.free.cores, from.free.gpus, from.free.memory
	for s := from.next; s != nil && s.at < to; s = s.next {
		low.Cores, low.GPUs, low.Memory =
			min(low.Cores, s.free.cores), min(low.GPUs, s.free.gpus), min(low.Memory, s.free.memory)
	}
	return low
}

// first returns the first step, from a given one on and before an instant, from which there is room for a narrow
// booking; nil if there is no such step. Room that is reserved for the booking itself is available.
func (p *nodeProfile) first(k *booking, node int32, from *step, before time.Duration) *step {
	if !p.kind.Holds(k.kind) {
		return nil
	}
	var own span
	if len(k.spans) > 0 && k.spans[0].node == node {
		own = k.spans[0]
	}
	var start *step // of a stretch that had room so far
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

// span adds a span to a booking.
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

// link adds a reservation to those that begin at its first step.
func (k *booking) link() {
	s := k.spans[0].from
	if k.before, k.after = nil, s.first; s.first != nil {
		s.first.before = k
	}
	s.first = k
}

// unlink undoes link.
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
