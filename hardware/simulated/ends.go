package simulated

import (
	"time"

	"github.com/tfexp/tfexp/scheduler/queue"
)

// end is an instant at which a job ends unless its speed changes. Ends that are out of date stay in heaps.
type end = queue.Timer

// ending is the end of a running job.
type ending struct {
	at   time.Duration
	job  int32
	slot int32 // index in endings.place; nowhere if the end was removed
}

// endings are the ends of the running jobs. New ends are put in order only when first is called. So it takes
// constant time per job if many jobs are paused and others continue between two calls.
type endings struct {
	ends  []ending
	heap  int     // ends[:heap] is a binary heap, earliest first
	gone  int     // number of removed ends in the heap
	place []int32 // index in ends, by slot; there are as many slots as jobs that run at once
	free  []int32 // slots that are not in use
}

// nowhere is the slot of ends that were removed.
const nowhere = 0

func newEndings() endings { return endings{place: make([]int32, 1)} }

// set puts an end at an index.
func (h *endings) set(i int, x ending) {
	h.ends[i] = x
	h.place[x.slot] = int32(i)
}

// push adds the end of a job, and returns its slot.
func (h *endings) push(at time.Duration, job int32) (slot int32) {
	if n := len(h.free); n > 0 {
		slot, h.free = h.free[n-1], h.free[:n-1]
	} else {
		slot = int32(len(h.place))
		h.place = append(h.place, 0)
	}
	h.ends = append(h.ends, ending{})
	h.set(len(h.ends)-1, ending{at, job, slot})
	return slot
}

// remove removes the end with a slot.
func (h *endings) remove(slot int32) {
	i, last := int(h.place[slot]), len(h.ends)-1
	h.free = append(h.free, slot)
	if i < h.heap {
		h.ends[i].slot = nowhere
		h.gone++
		return
	}
	h.set(i, h.ends[last])
	h.ends = h.ends[:last]
}

// first returns the earliest end; nil if no job runs. The pointer is valid until the next change.
func (h *endings) first() *ending {
	if h.heap < len(h.ends) || h.gone > 0 {
		h.order()
	}
	if h.heap == 0 {
		return nil
	}
	return &h.ends[0]
}

// order puts new ends into the heap, and an end that was not removed at the front.
func (h *endings) order() {
	if 2*(len(h.ends)-h.heap+h.gone) > len(h.ends) { // rebuilding is faster than adding one by one
		h.rebuild()
	}
	for ; h.heap < len(h.ends); h.heap++ {
		h.rise(h.heap)
	}
	for h.heap > 0 && h.ends[0].slot == nowhere {
		h.gone--
		h.heap--
		h.ends[0] = h.ends[h.heap]
		h.ends = h.ends[:h.heap]
		h.sink(0)
	}
}

// rebuild makes one heap of all ends.
func (h *endings) rebuild() {
	kept := h.ends[:0]
	for _, x := range h.ends {
		if x.slot != nowhere {
			h.place[x.slot] = int32(len(kept))
			kept = append(kept, x)
		}
	}
	h.ends, h.heap, h.gone = kept, len(kept), 0
	for i := h.heap/2 - 1; i >= 0; i-- {
		h.sink(i)
	}
}

// rise moves the end at an index up in the heap while it is earlier than its parent.
func (h *endings) rise(i int) {
	x := h.ends[i]
	for i > 0 && x.at < h.ends[(i-1)/2].at {
		h.set(i, h.ends[(i-1)/2])
		i = (i - 1) / 2
	}
	h.set(i, x)
}

// sink moves the end at an index down in the heap while it is later than a child.
func (h *endings) sink(i int) {
	s, place := h.ends[:h.heap], h.place
	if i >= len(s) {
		return
	}
	x, to := s[i], uint(i)
	for child := 2*to + 1; child < uint(len(s)); child = 2*to + 1 {
		at := s[child].at
		if other := child + 1; other < uint(len(s)) {
			if least := s[other].at; least < at {
				child, at = other, least
			}
		}
		if at >= x.at {
			break
		}
		next := &s[child]
		s[to] = *next
		place[next.slot] = int32(to)
		to = child
	}
	s[to] = x
	place[x.slot] = int32(to)
}
