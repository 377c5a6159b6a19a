package queue

import (
	"cmp"
	"slices"
	"time"
)

// Timer is an instant at which the kernel must check a job, or a node, again.
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
	for i > 0 && t.Before(s[(i-1)/2]) {
		s[i] = s[(i-1)/2]
		i = (i - 1) / 2
	}
	s[i] = t
}

// Pop takes out the first timer.
func (h *Timers) Pop() Timer {
	s := *h
	first, last := s[0], s[len(s)-1]
	s = s[:len(s)-1]
	*h = s
	i := 0
	for child := 1; child < len(s); child = 2*i + 1 {
		if child+1 < len(s) && s[child+1].Before(s[child]) {
			child++
		}
		if !s[child].Before(last) {
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

// CompareTimers orders timers as Before does.
func CompareTimers(a, b Timer) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Of, b.Of)) }

// Alarms are timers, many of which are dropped before they expire. Setting one for the latest instant so far takes
// constant time; this is the case for all of them when every job gets the same quantum.
type Alarms struct {
	row    []Timer // from head on by instant
	head   int
	sorted int    // up to this index, alarms of the same instant are in order
	others Timers // that were set for an instant before the last of the row
}

// Set adds a timer.
func (a *Alarms) Set(t Timer) {
	n := len(a.row)
	switch {
	case a.head == n:
		a.row, a.head, a.sorted = a.row[:0], 0, 0
	case t.At < a.row[n-1].At:
		a.others.Push(t)
		return
	case a.head > n/2 && n == cap(a.row):
		a.row = a.row[:copy(a.row, a.row[a.head:])]
		a.sorted, a.head = max(a.sorted-a.head, 0), 0
	}
	if a.sorted > a.head && a.row[a.sorted-1].At == t.At {
		a.sorted = a.head
	}
	a.row = append(a.row, t)
}

// Any reports whether there are timers, valid or not.
func (a *Alarms) Any() bool { return a.head < len(a.row) || len(a.others) > 0 }

// Next returns the instant of the first valid timer; without any it returns an instant later than all others. Invalid
// timers before it are dropped.
func (a *Alarms) Next(counts func(Timer) bool) time.Duration {
	for a.head < len(a.row) && !counts(a.row[a.head]) {
		a.head++
	}
	for len(a.others) > 0 && !counts(a.others[0]) {
		a.others.Pop()
	}
	at := never
	if a.head < len(a.row) {
		at = a.row[a.head].At
	}
	if len(a.others) > 0 {
		at = min(at, a.others[0].At)
	}
	return at
}

// Take takes out the first timer that counts, by instant and number. There is one, and Next has just said when it comes up.
func (a *Alarms) Take(counts func(Timer) bool) Timer {
	if a.head < len(a.row) && a.sorted <= a.head {
		a.sort()
		a.Next(counts)
	}
	if a.head == len(a.row) || len(a.others) > 0 && a.others[0].Before(a.row[a.head]) {
		return a.others.Pop()
	}
	a.head++
	return a.row[a.head-1]
}

// sort puts the timers of the first instant of the row into order.
func (a *Alarms) sort() {
	a.sorted = a.head
	for a.sorted < len(a.row) && a.row[a.sorted].At == a.row[a.head].At {
		a.sorted++
	}
	slices.SortFunc(a.row[a.head:a.sorted], CompareTimers)
}
