package queue

import "time"

// Timer is an instant at which a job, or a node, is to be looked at again.
type Timer struct {
	At time.Duration
	Of int32
}

// Before orders timers: earliest first, then by number.
func (a Timer) Before(b Timer) bool { return a.At < b.At || a.At == b.At && a.Of < b.Of }

// Timers is a binary heap, earliest first, then by number. A job has at
// most one timer that counts, the one its life says; older ones stay behind
// until they come up.
type Timers []Timer

// Push adds a timer.
func (h *Timers) Push(t Timer) {
	*h = append(*h, t)
	s := *h
	i := len(s) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !t.Before(s[parent]) {
			break
		}
		s[i] = s[parent]
		i = parent
	}
	s[i] = t
}

// Pop removes the first timer.
func (h *Timers) Pop() {
	s := *h
	last := s[len(s)-1]
	s = s[:len(s)-1]
	*h = s
	if len(s) == 0 {
		return
	}
	i := 0
	for {
		child := 2*i + 1
		if child >= len(s) {
			break
		}
		if child+1 < len(s) && s[child+1].Before(s[child]) {
			child++
		}
		if !s[child].Before(last) {
			break
		}
		s[i] = s[child]
		i = child
	}
	s[i] = last
}

// Until calls f with each timer at or before an instant, in no particular order.
func (h Timers) Until(at time.Duration, f func(Timer)) { h.until(0, at, f) }

func (h Timers) until(i int, at time.Duration, f func(Timer)) {
	if i < len(h) && h[i].At <= at {
		f(h[i])
		h.until(2*i+1, at, f)
		h.until(2*i+2, at, f)
	}
}

// CompareTimers orders timers as Before does.
func CompareTimers(a, b Timer) int {
	switch {
	case a.Before(b):
		return -1
	case b.Before(a):
		return 1
	}
	return 0
}
