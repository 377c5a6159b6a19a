// Package victims keeps the running jobs of a policy that pauses some for others, in the order in which they would be
// paused.
package victims

import (
	"cmp"
	"slices"
)

// Victim is a running job, and what it is paused by: less is first. Ties go to the higher number.
type Victim struct {
	First, Second int64
	Job           int32
}

func compare(a, b Victim) int {
	return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Second, b.Second), cmp.Compare(b.Job, a.Job))
}

// List is running jobs, the first to be paused first.
type List []Victim

// Offer adds a job.
func (l *List) Offer(v Victim) {
	i, _ := slices.BinarySearchFunc(*l, v, compare)
	*l = slices.Insert(*l, i, v)
}

// Withdraw takes out a job, which was offered as this.
func (l *List) Withdraw(v Victim) {
	i, _ := slices.BinarySearchFunc(*l, v, compare)
	*l = slices.Delete(*l, i, i+1)
}
