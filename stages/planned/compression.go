package planned

import (
	"container/heap"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/queue"
)

// compression moves reservations to earlier starts. A reservation that could not move before can move only if freed
// room adjoins its place, or makes a hole large enough. So each freed stretch of a node selects the reservations that
// may move, and only these search for an earlier start. They do so in passes, in the policy's order. A reservation of
// several nodes searches in each pass.
type compression struct {
	now, later candidates    // candidates of this pass that were not reached yet, and of the next pass
	key        queue.Key     // of the reservation that is searching
	passing    bool          // whether a pass is running
	freed      time.Duration // the first instant with room that was freed during the pass; else Never
	all        bool          // all reservations search in the next pass, for any earlier start
	over       time.Duration // until then the plan may promise more than exists, because jobs run longer than predicted
	shapes     map[groupKey]*reservationGroup
	dispatches int
	wide       int     // number of reservations of several nodes
	order      []int32 // reused memory
}

// compress moves reservations to earlier starts, in the policy's order, until none can move.
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

// count adds a reservation to those that may move.
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

// unreserve removes a reservation from the lists that contain only reservations, not running jobs.
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

// leave removes the holes of a reservation.
func (rs *Reservations) leave(k *booking) {
	for _, h := range k.holes {
		rs.nodes[h.node].unpin(h.from)
	}
	k.holes = k.holes[:0]
}

// free records that room on a node was freed from one step to another, and marks the reservations that may now start
// earlier.
func (rs *Reservations) free(node int32, from, to *step, by amounts) {
	if from == to {
		return
	}
	rs.freed = min(rs.freed, from.at)
	for s := from; s != to; {
		if before := s.free; rs.over > s.at {
			before.add(by.negative())
			rs.all = rs.all || !(amounts{}).in(&before) // reservations across this step could not move before
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

// requestMove makes a reservation search for an earlier start: in this pass if its turn has not passed, else in the
// next.
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

// waits reports whether the job of a reservation waits. If it does, the reservation's key in the policy's order is set.
func (rs *Reservations) waits(k *booking) bool {
	if k.seen != rs.dispatches {
		k.seen = rs.dispatches
		if k.waits = waits(rs.view.Job(k.job)); k.waits {
			k.key = rs.view.Waiting().KeyOf(k.job)
		}
	}
	return k.waits
}

// lookEarlier moves a reservation to an earlier start if it finds room. Room was freed from the instant freed on.
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

// lookWide works as lookEarlier, for a reservation of several nodes.
func (rs *Reservations) lookWide(k *booking) {
	rs.change(k, k.need)
	nodes, at := rs.first(k, k.at)
	if at == scheduler.Never {
		rs.change(k, k.need.negative())
		return
	}
	rs.replace(k, at, nodes)
}

// replace adds a reservation, which was removed from the plan, at another place.
func (rs *Reservations) replace(k *booking, at time.Duration, nodes []int32) {
	was := k.spans
	rs.unreserve(k)
	rs.reserveAt(k, at, nodes)
	rs.vacate(was, k.need)
}

// earlier returns the node and the first step from which there is room before the reservation's start. The step is nil
// if no step has room.
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
	// If the old and the new place overlap, change the plan only outside the overlap.
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
