// Victims keeps the running jobs of a policy that pauses some for others, in the order in which they would be
// paused.

package scheduler

import (
	"math"
	"slices"

	"github.com/tfexp/tfexp/scheduler/queue"
)

// Victim is a running job, and what it is paused by: less is first. Ties go to the higher number.
type Victim struct {
	First, Second int64
	Job           int32  // Nobody once it was withdrawn
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

// List is running jobs, the first to be paused first. It remembers how they rank until it is to forget that. Jobs that
// are withdrawn leave their places behind, and those that are offered are put in order only when somebody asks.
type VictimList struct {
	jobs    []Victim
	ordered int     // the jobs up to here are in order
	gone    int     // were withdrawn
	places  []int32 // in jobs, by job
	spare   []Victim
	keys    []key
	rank    func(job int32) int64
	place   func(job int32) queue.Key
	age     uint32

	asked  int   // of the jobs behind the ordered ones, up to here it is known how they rank
	most   int64 // how the worst of these ranks
	passed int   // up to here nobody ranks worse than least
	least  int64
}

// key is what jobs that were offered of late are put in order by, and where they are.
type key struct {
	first int64
	at    int32
}

// New returns an empty list for jobs with numbers below jobs, which rank as this function says.
func NewVictimList(jobs int, rank func(job int32) int64) VictimList {
	l := VictimList{rank: rank, places: make([]int32, jobs), age: 1}
	l.reorder()
	return l
}

// NewLastFirst returns an empty list in which those are first that would stand last in the queue.
func NewLastFirstVictims(jobs int, place func(job int32) queue.Key) VictimList {
	l := NewVictimList(jobs, nil)
	l.place = place
	return l
}

// reorder gives up what is known of how jobs rank by their places in the list.
func (l *VictimList) reorder() {
	l.asked, l.most = l.ordered, math.MinInt64
	l.passed, l.least = 0, math.MinInt64
}

// Offer adds a job.
func (l *VictimList) Offer(v Victim) {
	if l.gone > len(l.jobs)/2 && len(l.jobs) == cap(l.jobs) {
		l.tidy()
	}
	v.age = l.age - 1
	l.jobs = l.put(l.jobs, &v)
}

// put appends a job to a list, which becomes that of its place.
func (l *VictimList) put(list []Victim, v *Victim) []Victim {
	l.places[v.Job] = int32(len(list))
	return append(list, *v)
}

// Withdraw takes out a job.
func (l *VictimList) Withdraw(job int32) {
	l.jobs[l.places[job]].Job = queue.Nobody
	l.gone++
}

// tidy closes up the places of jobs that were withdrawn.
func (l *VictimList) tidy() {
	kept, ordered := l.jobs[:0], 0
	for i := range l.jobs {
		if l.jobs[i].Job != queue.Nobody {
			kept = l.put(kept, &l.jobs[i])
		}
		if i < l.ordered {
			ordered = len(kept)
		}
	}
	l.jobs, l.ordered, l.gone = kept, ordered, 0
	l.reorder()
}

// settle puts the jobs that were offered of late into the order of the others.
func (l *VictimList) settle() {
	l.keys = l.keys[:0]
	for i := l.ordered; i < len(l.jobs); i++ {
		if v := &l.jobs[i]; v.Job != queue.Nobody {
			l.keys = append(l.keys, key{v.First, int32(i)})
		}
	}
	slices.SortFunc(l.keys, func(a, b key) int {
		if a.first < b.first || a.first == b.first && l.jobs[a.at].before(&l.jobs[b.at]) {
			return -1
		}
		return 1 // no job is there twice
	})
	all, old := l.spare[:0], l.jobs[:l.ordered]
	for _, k := range l.keys {
		v := &l.jobs[k.at]
		for len(old) > 0 && (old[0].Job == queue.Nobody || old[0].before(v)) {
			if old[0].Job != queue.Nobody {
				all = l.put(all, &old[0])
			}
			old = old[1:]
		}
		all = l.put(all, v)
	}
	for i := range old {
		if old[i].Job != queue.Nobody {
			all = l.put(all, &old[i])
		}
	}
	l.spare, l.jobs, l.ordered, l.gone = l.jobs[:0], all, len(all), 0
	l.reorder()
}

// Forget has the list ask anew how the jobs rank.
func (l *VictimList) Forget() {
	l.age++
	if l.place != nil {
		l.ordered = 0
	}
	l.reorder()
}

// Worse returns the index of the first job from an index on that ranks worse than a rank, and its number; ok is false
// when there is none. Indexes hold until a job is offered or the list forgets.
func (l *VictimList) Worse(from int, than int64) (i int, job int32, ok bool) {
	switch {
	case l.place != nil && l.ordered < len(l.jobs):
		l.sort()
	case l.place == nil && l.anyFresh(than):
		l.settle()
	}
	if i = from; from == 0 && than >= l.least {
		i = l.passed
	}
	for ; i < l.ordered; i++ {
		v := &l.jobs[i]
		if v.Job == queue.Nobody {
			continue
		}
		if ok = l.rankOf(v) > than; ok {
			job = v.Job
			break
		}
		if l.place != nil {
			break // those after it rank no worse
		}
	}
	if from == 0 {
		l.passed, l.least = i, than
	}
	return i, job, ok
}

func (l *VictimList) rankOf(v *Victim) int64 {
	if v.age != l.age {
		v.rank, v.age = l.rank(v.Job), l.age
	}
	return v.rank
}

// anyFresh reports whether one of the jobs that were offered of late ranks worse than a rank.
func (l *VictimList) anyFresh(than int64) bool {
	for ; l.asked < len(l.jobs); l.asked++ {
		if v := &l.jobs[l.asked]; v.Job != queue.Nobody {
			l.most = max(l.most, l.rankOf(v))
		}
	}
	return l.most > than
}

// sort puts the jobs in the order of their places, the last first. Most are in it already.
func (l *VictimList) sort() {
	l.tidy()
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
	for i := range l.jobs {
		l.places[l.jobs[i].Job] = int32(i)
	}
	l.ordered = len(l.jobs)
	l.reorder()
}
