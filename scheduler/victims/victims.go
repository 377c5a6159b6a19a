// Package victims keeps the running jobs of a policy that pauses some for others, in the order in which they would be
// paused.
package victims

import (
	"math"
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
	jobs   []Victim // from head on; in order, or where there are places in theirs if sorted
	head   int      // 0 where there are places
	fresh  []Victim // offered since jobs were put in order
	ranked int      // of fresh, how many rank no worse than most
	most   int64
	spare  []Victim // storage of the next jobs
	rank   func(job int32) int64
	place  func(job int32) queue.Key
	sorted bool
	age    uint32
}

// New returns an empty list of jobs that rank as this function says.
func New(rank func(job int32) int64) List { return List{rank: rank, most: math.MinInt64, age: 1} }

// NewLastFirst returns an empty list in which those are first that would stand last in the queue.
func NewLastFirst(place func(job int32) queue.Key) List {
	return List{place: place, most: math.MinInt64, age: 1}
}

// Offer adds a job.
func (l *List) Offer(v Victim) {
	v.age = l.age - 1
	if l.place == nil {
		l.fresh = append(l.fresh, v) // it may be withdrawn, or better than all who ask, before the order counts
		return
	}
	l.jobs, l.sorted = append(l.jobs, v), false
}

// WithdrawFirst takes out a job if it is known to be the first, and reports whether it did.
func (l *List) WithdrawFirst(job int32) bool {
	if l.place != nil || l.head == len(l.jobs) || l.jobs[l.head].Job != job {
		return false
	}
	if l.head++; l.head == len(l.jobs) {
		l.jobs, l.head = l.jobs[:0], 0
	}
	return true
}

// Withdraw takes out a job, which was offered as this.
func (l *List) Withdraw(v Victim) {
	l.settle()
	i := l.index(&v)
	l.jobs = slices.Delete(l.jobs, i, i+1)
}

// settle puts the jobs that were offered of late into the order of the others.
func (l *List) settle() {
	if len(l.fresh) == 0 {
		return
	}
	slices.SortFunc(l.fresh, func(a, b Victim) int {
		if a.before(&b) {
			return -1
		}
		return 1 // no job is there twice
	})
	all, old := l.spare[:0], l.jobs[l.head:]
	for i := range l.fresh {
		n := 0
		for n < len(old) && old[n].before(&l.fresh[i]) {
			n++
		}
		all = append(append(all, old[:n]...), l.fresh[i])
		old = old[n:]
	}
	l.spare, l.jobs, l.head = l.jobs[:0], append(all, old...), 0
	l.fresh, l.ranked, l.most = l.fresh[:0], 0, math.MinInt64
}

// index returns where a job is in the list.
func (l *List) index(v *Victim) int {
	if l.place != nil {
		return slices.IndexFunc(l.jobs, func(o Victim) bool { return o.Job == v.Job })
	}
	rest := l.jobs[l.head:]
	return l.head + sort.Search(len(rest), func(i int) bool { return !rest[i].before(v) })
}

// Forget has the list ask anew how the jobs rank.
func (l *List) Forget() {
	l.age++
	l.ranked, l.most, l.sorted = 0, math.MinInt64, false
}

// Worse returns the index of the first job from an index on that ranks worse than a rank, and its number; ok is false
// when there is none. Indexes hold until the list changes.
func (l *List) Worse(from int, than int64) (i int, job int32, ok bool) {
	if l.place != nil && !l.sorted {
		l.sort()
	}
	if l.anyFresh(than) {
		l.settle()
	}
	for i = from; l.head+i < len(l.jobs); i++ {
		v := &l.jobs[l.head+i]
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

// anyFresh reports whether one of the jobs that were offered of late ranks worse than a rank.
func (l *List) anyFresh(than int64) bool {
	for ; l.ranked < len(l.fresh); l.ranked++ {
		v := &l.fresh[l.ranked]
		v.rank, v.age = l.rank(v.Job), l.age
		l.most = max(l.most, v.rank)
	}
	return l.most > than
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
