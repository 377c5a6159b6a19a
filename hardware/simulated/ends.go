package simulated

import "time"

// end is an instant at which a job ends unless its speed changes before.
type end struct {
	at  time.Duration
	job int32
}

func (a end) before(b end) bool { return a.at < b.at }

// ends is a binary heap, earliest first. What ends at one instant is put into order by Engine.sorted.
type ends []end

func (h *ends) push(x end) {
	s := append(*h, x)
	*h = s
	i := len(s) - 1
	for i > 0 && x.before(s[(i-1)/2]) {
		s[i] = s[(i-1)/2]
		i = (i - 1) / 2
	}
	s[i] = x
}

func (h *ends) pop() end {
	s := *h
	first, last := s[0], s[len(s)-1]
	s = s[:len(s)-1]
	*h = s
	i := 0
	for child := 1; child < len(s); child = 2*i + 1 {
		if child+1 < len(s) && s[child+1].before(s[child]) {
			child++
		}
		if !s[child].before(last) {
			break
		}
		s[i] = s[child]
		i = child
	}
	if len(s) > 0 {
		s[i] = last
	}
	return first
}

// endings are the ends of the running jobs, earliest first, then by job number: a binary heap that knows the place
// of each job in it, so that one that is paused leaves nothing behind.
type endings struct {
	heap  []end
	place []int32 // by job that runs
}

func newEndings(jobs int) endings { return endings{place: make([]int32, jobs)} }

// set puts an end at an index of the heap.
func (h *endings) set(i int, x end) {
	h.heap[i] = x
	h.place[x.job] = int32(i)
}

// push adds the end of a job that has none.
func (h *endings) push(x end) {
	h.heap = append(h.heap, x)
	h.rise(len(h.heap)-1, x)
}

// rise puts an end at an index, or before those above it that are later.
func (h *endings) rise(i int, x end) {
	for i > 0 && x.before(h.heap[(i-1)/2]) {
		h.set(i, h.heap[(i-1)/2])
		i = (i - 1) / 2
	}
	h.set(i, x)
}

// remove takes out the end of a job.
func (h *endings) remove(job int) {
	s, i := h.heap, int(h.place[job])
	last := s[len(s)-1]
	s = s[:len(s)-1]
	h.heap = s
	if i == len(s) {
		return
	}
	for child := 2*i + 1; child < len(s); child = 2*i + 1 {
		if child+1 < len(s) && s[child+1].before(s[child]) {
			child++
		}
		if !s[child].before(last) {
			break
		}
		h.set(i, s[child])
		i = child
	}
	h.rise(i, last)
}
