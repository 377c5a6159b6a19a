package queue

import (
	"cmp"
	"slices"
	"time"
)

// Timer is an instant at which the scheduler must check a job, or a node, again.
type Timer struct {
	At time.Duration
	Of int32
}

// Before orders timers by instant, then by number.
func (a Timer) Before(b Timer) bool { return a.At < b.At || a.At == b.At && a.Of < b.Of }

// Timers is a binary heap of timers; the first by instant, then number, is at the top. If the timer of a job
// changes, the old one stays in the heap; the caller must ignore it when it is popped.
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

// Pop removes the first timer and returns it.
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

// CompareTimers orders timers by instant, then by number.
func CompareTimers(a, b Timer) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Of, b.Of)) }

// Alarms is a queue of timers. Many of them become invalid before their instant. Set takes constant time for a
// timer that is later than all others. This is the usual case, in which all jobs have the same quantum.
type Alarms struct {
	row    []Timer // row[head:] has timers in the order of their instants
	head   int
	sorted int    // row[:sorted] is also ordered by number within an instant
	others Timers // timers that were set for an instant before the last one of row
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

// Next returns the instant of the first valid timer, and otherwise an instant later than all others. counts
// says which timers are valid. Next drops invalid timers before the first valid one.
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

// Take removes the first valid timer, by instant, then number, and returns it. The caller must have called Next, and
// there must be a valid timer.
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

// sort orders the timers at the first instant of row by number.
func (a *Alarms) sort() {
	a.sorted = a.head
	for a.sorted < len(a.row) && a.row[a.sorted].At == a.row[a.head].At {
		a.sorted++
	}
	slices.SortFunc(a.row[a.head:a.sorted], CompareTimers)
}
