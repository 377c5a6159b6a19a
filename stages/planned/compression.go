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
	shapes     map[groupKey]*reservationGroup
	dispatches int
	wide       int     // reservations of several nodes
	order      []int32 // scratch
}

// compress moves reservations earlier, in the policy's order, until none can be.
func (rs *Reservations) compress() {
	for rs.freed != scheduler.Never {
		all, before := rs.all, rs.freed
		rs.now, rs.later, rs.freed, rs.all = rs.later, rs.now[:0], scheduler.Never, false
		rs.passing, rs.key = true, queue.Front
		if all || rs.wide > 0 {
			rs.order = rs.view.Waiting().First(rs.order[:0])
			for _, job := range rs.order {
				if k := rs.bookings[job]; k != nil && (all || k.wide) {
					rs.requestMove(k)
				}
			}
		}
		for len(rs.now) > 0 {
			k := heap.Pop(&rs.now).(*booking)
			rs.key = k.key
			rs.lookEarlier(k, all, min(before, rs.freed))
		}
		rs.passing = false
	}
}

// count includes a reservation among those that may move.
func (rs *Reservations) count(k *booking) {
	if k.wide {
		rs.wide++
		return
	}
	key := groupKeyOf(k)
	h := rs.shapes[key]
	if h == nil {
		h = &reservationGroup{}
		rs.shapes[key] = h
		for i := range rs.nodes {
			if p := &rs.nodes[i]; p.kind.Holds(k.kind) {
				p.shapes = append(p.shapes, h)
			}
		}
	}
	h.add(k)
}

// unreserve removes a reservation from the lists that have no running jobs.
func (rs *Reservations) unreserve(k *booking) {
	if k.runs {
		return
	}
	if k.unlink(); k.wide {
		rs.wide--
	} else {
		k.shape.remove(k)
	}
	rs.leave(k)
}

// leave forgets the holes of a reservation.
func (rs *Reservations) leave(k *booking) {
	for _, h := range k.holes {
		rs.nodes[h.node].unpin(h.from)
	}
	k.holes = k.holes[:0]
}

// free notes that a stretch of a node has become free, and marks the reservations that may now start earlier.
func (rs *Reservations) free(node int32, from, to *step, by amounts) {
	if from == to {
		return
	}
	rs.freed = min(rs.freed, from.at)
	for s := from; s != to; {
		if before := s.free; rs.over > s.at {
			before.add(by.negative())
			rs.all = rs.all || !(amounts{}).in(&before) // reservations that cover the step could not move
		}
		if s = s.next; s == nil {
			break
		}
		for k := s.first; k != nil; k = k.after {
			if !k.wide && k.need.in(&s.prev.free) {
				rs.requestMove(k)
			}
		}
	}
	for _, h := range rs.nodes[node].shapes {
		rs.fill(h, node, from, to, by)
	}
}

// requestMove has a reservation look for an earlier start: in this pass if its turn comes, or else in the next.
func (rs *Reservations) requestMove(k *booking) {
	switch {
	case k.asked || k.runs || !rs.waits(k):
		return
	case rs.passing && rs.key.Less(k.key):
		heap.Push(&rs.now, k)
	default:
		heap.Push(&rs.later, k)
	}
	k.asked = true
}

// waits reports whether the job of a reservation waits. Its key in the policy's order is known then.
func (rs *Reservations) waits(k *booking) bool {
	if k.seen != rs.dispatches {
		k.seen = rs.dispatches
		if k.waits = waits(rs.view.Job(k.job)); k.waits {
			k.key = rs.view.Waiting().KeyOf(k.job)
		}
	}
	return k.waits
}

// lookEarlier moves a reservation to an earlier start, if there is room for it. Room has become free from an instant
// on.
func (rs *Reservations) lookEarlier(k *booking, all bool, freed time.Duration) {
	k.asked = false
	if rs.bookings[k.job] == k && !k.runs && k.at > rs.view.Now() && freed < k.end && rs.waits(k) {
		if k.wide {
			rs.lookWide(k)
		} else if on, s := rs.earlier(k, all); s != nil {
			rs.move(k, on, s)
		}
	}
	rs.leave(k)
}

// lookWide is look for a reservation of several nodes.
func (rs *Reservations) lookWide(k *booking) {
	rs.change(k, k.need)
	nodes, at := rs.first(k, k.at)
	if at == scheduler.Never {
		rs.change(k, k.need.negative())
		return
	}
	rs.replace(k, at, nodes)
}

// replace enters a reservation, whose room is not entered any more, at another place.
func (rs *Reservations) replace(k *booking, at time.Duration, nodes []int32) {
	was := k.spans
	rs.unreserve(k)
	rs.reserveAt(k, at, nodes)
	rs.vacate(was, k.need)
}

// earlier finds the first step before the start of a reservation from which there is room for it, or nil.
func (rs *Reservations) earlier(k *booking, all bool) (on int32, at *step) {
	if all {
		return rs.firstOnOne(k, k.at)
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
		p := &rs.nodes[h.node]
		if s := p.first(k, h.node, h.from, min(before, h.to, k.at)); s != nil {
			on, at = h.node, s
		}
	}
	if at == k.spans[0].from {
		return on, nil
	}
	if rs.over > k.at {
		return rs.firstOnOne(k, k.at)
	}
	return on, at
}

// move moves a reservation to an earlier start on a node.
func (rs *Reservations) move(k *booking, on int32, start *step) {
	s := &k.spans[0]
	end := EndOf(start.at, k.length)
	if s.node != on || end <= k.at {
		start.pins++
		rs.change(k, k.need)
		rs.cursors[on] = start
		rs.replace(k, start.at, []int32{on})
		rs.nodes[on].unpin(start)
		return
	}
	// The old place and the new one overlap, so the plan changes only where they do not.
	p, from, to := &rs.nodes[on], s.from, s.to
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
		rs.free(on, s.to, to, k.need)
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
