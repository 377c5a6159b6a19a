package scheduler

import "time"

// timer is an instant at which a job is to be looked at again.
type timer struct {
	at  time.Duration
	job int32
}

func (a timer) before(b timer) bool { return a.at < b.at || a.at == b.at && a.job < b.job }

// timers is a binary heap, earliest first, then by job number. A job has at
// most one timer that counts, the one its life says; older ones stay behind
// until they come up.
type timers []timer

func (h *timers) push(t timer) {
	*h = append(*h, t)
	s := *h
	i := len(s) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !t.before(s[parent]) {
			break
		}
		s[i] = s[parent]
		i = parent
	}
	s[i] = t
}

func (h *timers) pop() {
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
		if child+1 < len(s) && s[child+1].before(s[child]) {
			child++
		}
		if !s[child].before(last) {
			break
		}
		s[i] = s[child]
		i = child
	}
	s[i] = last
}
