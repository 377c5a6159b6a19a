package planned

import (
	"math/bits"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
)

// reservationGroup has the reservations with similar needs on one node. It finds the reservations that fit into a hole,
// and can exclude most holes without checking each reservation.
type reservationGroup struct {
	least, most amounts       // of the needs, by resource
	longest     time.Duration // the longest time span
	of          []*booking
	// shortest[i] is the shortest time span of the reservations that start in interval i or later. It may be too low
	// until it is computed again, because reservations move and begin.
	shortest    [64]time.Duration
	base, width time.Duration // start and width of the intervals
}

// groupKey has the binary magnitudes of a need.
type groupKey struct {
	cores, gpus, memory int
	kind                cluster.Room
}

func groupKeyOf(k *booking) groupKey {
	n := k.need
	return groupKey{bits.Len32(uint32(n.cores)), bits.Len32(uint32(n.gpus)), bits.Len64(uint64(n.memory)), k.kind}
}

// interval returns the interval that contains an instant.
func (h *reservationGroup) interval(at time.Duration) int {
	return int(min(max(at-h.base, 0)/max(h.width, 1), time.Duration(len(h.shortest)-1)))
}

// add adds a reservation.
func (h *reservationGroup) add(k *booking) {
	k.shape, k.place = h, len(h.of)
	h.of = append(h.of, k)
	if len(h.of) == 1 {
		h.measure()
		return
	}
	h.include(k)
	for i := h.interval(k.at); i >= 0; i-- {
		h.shortest[i] = min(h.shortest[i], k.length)
	}
}

// include extends the bounds of needs and lengths to a reservation.
func (h *reservationGroup) include(k *booking) {
	a, b, n := &h.least, &h.most, k.need
	*a = amounts{min(a.cores, n.cores), min(a.gpus, n.gpus), min(a.memory, n.memory)}
	*b = amounts{max(b.cores, n.cores), max(b.gpus, n.gpus), max(b.memory, n.memory)}
	h.longest = max(h.longest, k.length)
}

// remove takes a reservation out.
func (h *reservationGroup) remove(k *booking) {
	last := h.of[len(h.of)-1]
	h.of[k.place], last.place = last, k.place
	h.of = h.of[:len(h.of)-1]
	k.shape = nil
}

// measure computes the bounds again from the reservations.
func (h *reservationGroup) measure() {
	first := h.of[0]
	h.least, h.most, h.longest = first.need, first.need, 0
	from, to := first.at, first.at
	for _, k := range h.of {
		h.include(k)
		from, to = min(from, k.at), max(to, k.at)
	}
	h.base, h.width = from, (to-from)/time.Duration(len(h.shortest)-1)+1
	for i := range h.shortest {
		h.shortest[i] = scheduler.Never
	}
	for _, k := range h.of {
		i := h.interval(k.at)
		h.shortest[i] = min(h.shortest[i], k.length)
	}
	for i := len(h.shortest) - 2; i >= 0; i-- {
		h.shortest[i] = min(h.shortest[i], h.shortest[i+1])
	}
}

// hole is a time span on a node in which a reservation may have room.
type hole struct {
	node int32
	from *step // pinned by the hole
	to   time.Duration
}

// around returns the time span around a freed step in which the group's least need is free. It is limited by how far a
// reservation of the group reaches that covers some of the room freed up to till.
func (h *reservationGroup) around(s *step, till time.Duration) (from *step, to time.Duration) {
	for from = s; from.prev != nil && h.least.in(&from.prev.free) && s.at-from.at < h.longest; {
		from = from.prev
	}
	for s = s.next; s != nil; s = s.next {
		if !h.least.in(&s.free) || s.at > till && s.at-till > h.longest {
			return from, s.at
		}
	}
	return from, scheduler.Never
}

// fill marks the reservations of a group that may move into room that was freed between two steps.
func (rs *Reservations) fill(h *reservationGroup, node int32, from, to *step, by amounts) {
	till := scheduler.Never
	if to != nil {
		till = to.at
	}
	for s := from; s != to && len(h.of) > 0; {
		before := s.free
		before.add(by.negative())
		if !h.least.in(&s.free) || h.most.in(&before) { // none fits now, or all fitted before
			s = s.next
			continue
		}
		begin, end := h.around(s, till)
		if h.shortest[h.interval(begin.at)] <= end-begin.at {
			some := false
			for _, k := range h.of {
				if k.at > begin.at && k.length <= end-begin.at {
					begin.pins++
					k.holes = append(k.holes, hole{node, begin, end})
					rs.requestMove(k)
					some = true
				}
			}
			if !some {
				h.measure()
			}
		}
		for s != to && s.at < end {
			s = s.next
		}
	}
}
