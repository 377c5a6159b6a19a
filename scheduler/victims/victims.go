// Package victims keeps the running jobs of a policy that pauses some for others, in the order in which they would be
// paused.
package victims

import (
	"slices"
	"sort"
)

// Victim is a running job, and what it is paused by: less is first. Ties go to the higher number.
type Victim struct {
	First, Second int64
	Job           int32
}

func (v Victim) before(o Victim) bool {
	if v.First != o.First {
		return v.First < o.First
	}
	if v.Second != o.Second {
		return v.Second < o.Second
	}
	return v.Job > o.Job
}

// List is running jobs, the first to be paused first.
type List []Victim

// Offer adds a job.
func (l *List) Offer(v Victim) {
	*l = slices.Insert(*l, l.place(v), v)
}

// Withdraw takes out a job, which was offered as this.
func (l *List) Withdraw(v Victim) {
	i := l.place(v)
	*l = slices.Delete(*l, i, i+1)
}

// place returns how many jobs come before one.
func (l *List) place(v Victim) int {
	return sort.Search(len(*l), func(i int) bool { return !(*l)[i].before(v) })
}
