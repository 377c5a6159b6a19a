package simulated

import (
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/queue"
)

// end is an instant at which a job ends unless its speed changes before.
type end = queue.Timer

// endings are the ends of the running jobs. Recently added ends are put in order when the first is asked for. If many
// jobs are paused and as many others continue between two calls, that takes constant time for each.
type endings struct {
	ends  []end
	heap  int                       // the ends up to here are a binary heap, earliest first
	gone  int                       // of these are of nobody: their jobs were taken out
	place scheduler.JobTable[int32] // in ends, of jobs that run
}

// nobody is whose end it is when its job was taken out.
const nobody = int32(-1)

func newEndings(jobs int) endings {
	return endings{place: scheduler.NewJobTable(jobs, func(_ int32, place *int32) { *place = 0 }, 0)}
}

// set puts an end at an index.
func (h *endings) set(i int, x end) {
	h.ends[i] = x
	if x.Of != nobody {
		*h.place.At(x.Of) = int32(i)
	}
}

// push adds the end of a job that has none.
func (h *endings) push(x end) {
	*h.place.At(x.Of) = int32(len(h.ends))
	h.ends = append(h.ends, x)
}

// remove takes out the end of a job.
func (h *endings) remove(job int) {
	i, last := int(*h.place.At(int32(job))), len(h.ends)-1
	if i < h.heap {
		h.ends[i].Of = nobody
		h.gone++
		return
	}
	h.set(i, h.ends[last])
	h.ends = h.ends[:last]
}

// first returns the end that comes first.
func (h *endings) first() (first end, some bool) {
	if 2*(len(h.ends)-h.heap+h.gone) > len(h.ends) { // else to put each in its place is quicker
		h.rebuild()
	}
	for ; h.heap < len(h.ends); h.heap++ {
		h.rise(h.heap)
	}
	for h.heap > 0 && h.ends[0].Of == nobody {
		h.gone--
		h.heap--
		h.set(0, h.ends[h.heap])
		h.ends = h.ends[:h.heap]
		h.sink(0)
	}
	if h.heap == 0 {
		return end{}, false
	}
	return h.ends[0], true
}

// rebuild makes one heap of all ends.
func (h *endings) rebuild() {
	kept := h.ends[:0]
	for _, x := range h.ends {
		if x.Of != nobody {
			*h.place.At(x.Of) = int32(len(kept))
			kept = append(kept, x)
		}
	}
	h.ends, h.heap, h.gone = kept, len(kept), 0
	for i := h.heap/2 - 1; i >= 0; i-- {
		h.sink(i)
	}
}

// rise puts the end at an index before those above it that are later.
func (h *endings) rise(i int) {
	x := h.ends[i]
	for i > 0 && x.At < h.ends[(i-1)/2].At {
		h.set(i, h.ends[(i-1)/2])
		i = (i - 1) / 2
	}
	h.set(i, x)
}

// sink puts the end at an index, if there is one, behind those below it that are earlier.
func (h *endings) sink(i int) {
	s := h.ends[:h.heap]
	if i >= len(s) {
		return
	}
	x := s[i]
	for child := 2*i + 1; child < len(s); child = 2*i + 1 {
		if child+1 < len(s) && s[child+1].At < s[child].At {
			child++
		}
		if s[child].At >= x.At {
			break
		}
		h.set(i, s[child])
		i = child
	}
	h.set(i, x)
}
