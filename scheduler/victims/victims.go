// Package victims keeps the running jobs of a policy that pauses some for others, in the order in which they would be
// paused.
package victims

import (
	"slices"
	"sort"

	"github.com/tfexp/tfexp/scheduler/queue"
)

// Victim is a running job, and what it is paused by: less is first. Ties go to the higher number.
type Victim struct {
	First, Second int64
	Job           int32
	age           uint32 // of the list when rank was found out
	rank          int64
}

func (v *Victim) before(o *Victim) bool {
	if v.First != o.First {
		return v.First < o.First
	}
	if v.Second != o.Second {
		return v.Second < o.Second
	}
	return v.Job > o.Job
}

// List is running jobs, the first to be paused first. It remembers how they rank until it is to forget that.
type List struct {
	jobs   []Victim
	rank   func(job int32) int64
	place  func(job int32) queue.Key
	sorted bool
	age    uint32
}

// New returns an empty list of jobs that rank as this function says.
func New(rank func(job int32) int64) List { return List{rank: rank, age: 1} }

// NewLastFirst returns an empty list in which those are first that would stand last in the queue.
func NewLastFirst(place func(job int32) queue.Key) List { return List{place: place, age: 1} }

// Offer adds a job.
func (l *List) Offer(v Victim) {
	v.age = l.age - 1
	i := len(l.jobs)
	if l.sorted = false; l.place == nil {
		i = l.index(&v)
	}
	l.jobs = slices.Insert(l.jobs, i, v)
}

// Withdraw takes out a job, which was offered as this.
func (l *List) Withdraw(v Victim) {
	i := l.index(&v)
	l.jobs = slices.Delete(l.jobs, i, i+1)
}

// index returns where a job is in the list, or would be.
func (l *List) index(v *Victim) int {
	if l.place != nil {
		return slices.IndexFunc(l.jobs, func(o Victim) bool { return o.Job == v.Job })
	}
	return sort.Search(len(l.jobs), func(i int) bool { return !l.jobs[i].before(v) })
}

// Forget has the list ask anew how the jobs rank.
func (l *List) Forget() {
	l.age++
	l.sorted = false
}

// Worse returns the index of the first job from an index on that ranks worse than a rank, and its number; ok is false
// when there is none.
func (l *List) Worse(from int, than int64) (i int, job int32, ok bool) {
	if l.place != nil && !l.sorted {
		l.sort()
	}
	for i = from; i < len(l.jobs); i++ {
		v := &l.jobs[i]
		if v.age != l.age {
			v.rank, v.age = l.rank(v.Job), l.age
		}
		if v.rank > than {
			return i, v.Job, true
		}
		if l.place != nil {
			break // those after it rank no worse
		}
	}
	return 0, 0, false
}

// sort puts the jobs in the order of their places, the last first. Most are in it already.
func (l *List) sort() {
	for i := range l.jobs {
		v := &l.jobs[i]
		if v.age != l.age {
			k := l.place(v.Job)
			v.First, v.Second, v.rank, v.age = ^k.Rank, ^k.Second, k.Rank, l.age
		}
		at := i
		for x := *v; at > 0 && x.before(&l.jobs[at-1]); at-- {
			l.jobs[at], l.jobs[at-1] = l.jobs[at-1], x
		}
	}
	l.sorted = true
}
