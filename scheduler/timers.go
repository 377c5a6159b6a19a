package scheduler

import (
	"slices"
	"time"
)

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

// expect notes when a running job is expected to end.
func (l *loop) expect(j int32) {
	if !l.rules.Ends {
		return
	}
	f := &l.lives[j]
	f.end = Never
	if d := l.length(j, int32(f.grant.Cores.Count())); d < Never-l.now {
		f.end = l.now + d
	}
	i, _ := slices.BinarySearchFunc(l.ends, timer{f.end, j}, compareTimers)
	l.ends = slices.Insert(l.ends, i, timer{f.end, j})
}

func (l *loop) unexpect(j int32) {
	if !l.rules.Ends {
		return
	}
	i, _ := slices.BinarySearchFunc(l.ends, timer{l.lives[j].end, j}, compareTimers)
	l.ends = slices.Delete(l.ends, i, i+1)
}

func compareTimers(a, b timer) int {
	switch {
	case a.before(b):
		return -1
	case b.before(a):
		return 1
	}
	return 0
}
