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
