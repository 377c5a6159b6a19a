package planned

import (
	"container/heap"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/queue"
)

// compression finds the reservations that can start earlier. When none can, one that can later moves into room that has
// become free since: either that room ends where it starts, or it fits into a hole that was freed in part. So each
// stretch that becomes free asks these reservations, and they alone look for an earlier start, pass by pass in the
// policy's order. A reservation of several nodes looks in each pass.
type compression struct {
	now, later candidates    // of this pass, which has not reached them, and of the next one
	key        queue.Key     // of the reservation that looks
	passing    bool          // there is a pass
	freed      time.Duration // the first instant at which room has become free since the pass began; Never for none
	all        bool          // the next pass looks at all reservations, for any earlier start
	over       time.Duration // until then the plan may promise more than there is: some jobs run longer than predicted
	shapes     map[shapeKey]*shape
	dispatches int
	wide       int     // reservations of several nodes
	order      []int32 // scratch
}

// compress moves reservations earlier, in the policy's order, until none can be.
func (b *Book) compress() {
	for b.freed != scheduler.Never {
		all, before := b.all, b.freed
		b.now, b.later, b.freed, b.all = b.later, b.now[:0], scheduler.Never, false
		b.passing, b.key = true, queue.Front
		if all || b.wide > 0 {
			b.order = b.view.Waiting().First(b.order[:0])
			for _, job := range b.order {
				if k := b.bookings[job]; k != nil && (all || k.wide) {
					b.ask(k)
				}
			}
		}
		for len(b.now) > 0 {
			k := heap.Pop(&b.now).(*booking)
			b.key = k.key
			b.look(k, all, min(before, b.freed))
		}
		b.passing = false
	}
}

// count includes a reservation among those that may move.
func (b *Book) count(k *booking) {
	if k.wide {
		b.wide++
		return
	}
	key := keyOf(k)
	h := b.shapes[key]
	if h == nil {
		h = &shape{}
		b.shapes[key] = h
		for i := range b.nodes {
			if p := &b.nodes[i]; p.kind.Holds(k.kind) {
				p.shapes = append(p.shapes, h)
			}
		}
	}
	h.add(k)
}

// unreserve removes a reservation from the lists that have no running jobs.
func (b *Book) unreserve(k *booking) {
	if k.runs {
		return
	}
	if k.unlink(); k.wide {
		b.wide--
	} else {
		k.shape.remove(k)
	}
	b.leave(k)
}

// leave forgets the holes of a reservation.
func (b *Book) leave(k *booking) {
	for _, h := range k.holes {
		b.nodes[h.node].unpin(h.from)
	}
	k.holes = k.holes[:0]
}

// free notes that a stretch of a node has become free, and asks the reservations that it may let start earlier.
func (b *Book) free(node int32, from, to *step, by amounts) {
	if from == to {
		return
	}
	b.freed = min(b.freed, from.at)
	for s := from; s != to; {
		if before := s.free; b.over > s.at {
			before.add(by.negative())
			b.all = b.all || !(amounts{}).in(&before) // reservations that cover the step could not move
		}
		if s = s.next; s == nil {
			break
		}
		for k := s.first; k != nil; k = k.after {
			if !k.wide && k.need.in(&s.prev.free) {
				b.ask(k)
			}
		}
	}
	for _, h := range b.nodes[node].shapes {
		b.fill(h, node, from, to, by)
	}
}

// ask has a reservation look for an earlier start: in this pass if its turn comes, or else in the next.
func (b *Book) ask(k *booking) {
	switch {
	case k.asked || k.runs || !b.waits(k):
		return
	case b.passing && b.key.Less(k.key):
		heap.Push(&b.now, k)
	default:
		heap.Push(&b.later, k)
	}
	k.asked = true
}

// waits reports whether the job of a reservation waits. Its key in the policy's order is known then.
func (b *Book) waits(k *booking) bool {
	if k.seen != b.dispatches {
		k.seen = b.dispatches
		if k.waits = waits(b.view.Job(k.job)); k.waits {
			k.key = b.view.Waiting().KeyOf(k.job)
		}
	}
	return k.waits
}

// look moves a reservation to an earlier start, if there is room for it. Room has become free from an instant on.
func (b *Book) look(k *booking, all bool, freed time.Duration) {
	k.asked = false
	if b.bookings[k.job] == k && !k.runs && k.at > b.view.Now() && freed < k.end && b.waits(k) {
		if k.wide {
			b.lookWide(k)
		} else if on, s := b.earlier(k, all); s != nil {
			b.move(k, on, s)
		}
	}
	b.leave(k)
}

// lookWide is look for a reservation of several nodes.
func (b *Book) lookWide(k *booking) {
	b.change(k, k.need)
	nodes, at := b.first(k, k.at)
	if at == scheduler.Never {
		b.change(k, k.need.negative())
		return
	}
	b.replace(k, at, nodes)
}

// replace books a reservation, whose room is not booked any more, at another place.
func (b *Book) replace(k *booking, at time.Duration, nodes []int32) {
	was := k.spans
	b.unreserve(k)
	b.put(k, at, nodes)
	b.vacate(was, k.need)
}

// earlier finds the first step before the start of a reservation from which there is room for it, or nil.
func (b *Book) earlier(k *booking, all bool) (on int32, at *step) {
	if all {
		return b.firstOnOne(k, k.at)
	}
	on = k.spans[0].node
	at = k.spans[0].from
	for at.prev != nil && k.need.in(&at.prev.free) {
		at = at.prev
	}
	for _, h := range k.holes {
		before := at.at
		if h.node < on {
			before++
		}
		p := &b.nodes[h.node]
		if s := p.first(k, h.node, h.from, min(before, h.to, k.at)); s != nil {
			on, at = h.node, s
		}
	}
	if at == k.spans[0].from {
		return on, nil
	}
	if b.over > k.at {
		return b.firstOnOne(k, k.at)
	}
	return on, at
}

// move moves a reservation to an earlier start on a node.
func (b *Book) move(k *booking, on int32, start *step) {
	s := &k.spans[0]
	end := Until(start.at, k.length)
	if s.node != on || end <= k.at {
		start.pins++
		b.change(k, k.need)
		b.cursors[on] = start
		b.replace(k, start.at, []int32{on})
		b.nodes[on].unpin(start)
		return
	}
	// The old place and the new one overlap, so the plan changes only where they do not.
	p, from, to := &b.nodes[on], s.from, s.to
	near := to
	if near == nil {
		near = from
	}
	k.unlink()
	k.at, k.end, k.spans = start.at, end, k.spans[:0]
	k.span(on, start, p.step(end, near))
	k.link()
	add(start, from, k.need.negative())
	if s.to != to {
		add(s.to, to, k.need)
		b.free(on, s.to, to, k.need)
	}
	p.unpin(from)
	p.unpin(to)
}

// candidates is a heap of reservations in the policy's order.
type candidates []*booking

func (h candidates) Len() int           { return len(h) }
func (h candidates) Less(i, j int) bool { return h[i].key.Less(h[j].key) }
func (h candidates) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *candidates) Push(k any)        { *h = append(*h, k.(*booking)) }
func (h *candidates) Pop() any {
	s := *h
	last := s[len(s)-1]
	*h = s[:len(s)-1]
	return last
}
