package simulated

import (
	"time"

	"github.com/tfexp/tfexp/scheduler/pages"
)

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

// endings are the ends of the running jobs, earliest first, then by job number: a binary heap in which
// each job knows its place (task.place), so that one that is paused leaves nothing behind.
type endings []end

// set puts an end at an index of the heap.
func (h endings) set(i int, x end, tasks *pages.Table[task]) {
	h[i] = x
	tasks.At(x.job).place = int32(i)
}

// push adds the end of a job that has none.
func (h *endings) push(x end, tasks *pages.Table[task]) {
	*h = append(*h, x)
	h.rise(len(*h)-1, x, tasks)
}

// rise puts an end at an index, or before those above it that are later.
func (h endings) rise(i int, x end, tasks *pages.Table[task]) {
	for i > 0 && x.before(h[(i-1)/2]) {
		h.set(i, h[(i-1)/2], tasks)
		i = (i - 1) / 2
	}
	h.set(i, x, tasks)
}

// remove takes out the end of a job.
func (h *endings) remove(job int, tasks *pages.Table[task]) {
	s, i := *h, int(tasks.At(int32(job)).place)
	last := s[len(s)-1]
	s = s[:len(s)-1]
	*h = s
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
		s.set(i, s[child], tasks)
		i = child
	}
	s.rise(i, last, tasks)
}
