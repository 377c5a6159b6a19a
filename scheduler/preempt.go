package scheduler

import (
	"fmt"
	"math"
	"slices"

	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/queue"
)

// makeRoom pauses running jobs that rank worse than a waiting job, if the waiting job can then start. It pauses as
// many as needed, in the order of the victim rule; if all of them would not be enough, it pauses none. worse says
// whether any running job ranks worse; done says whether there is room now.
func (l *loop) makeRoom(j *jobState) (worse, done bool, err error) {
	mine := l.rank(j)
	cores := l.atLeast(j)
	chosen := l.scratch.victims[:0]
	rooms := append(l.scratch.rooms[:0], l.machine.Free...)
	l.scratch.rooms = rooms
	if l.policy.observer != nil {
		l.running.victims.Forget() // a pause may change the ranks of other jobs
	}
	for i, k, some := l.running.victims.Worse(0, mine); some; i, k, some = l.running.victims.Worse(i+1, mine) {
		if l.state(k).yields {
			continue
		}
		chosen = append(chosen, k)
		l.scratch.victims = chosen
		l.addHeld(rooms, l.state(k))
		nodes, ok := l.fitIn(rooms, j, cores, l.scratch.nodes[:0])
		l.scratch.nodes = nodes
		if ok {
			return true, true, l.pauseAll(chosen, nodes, j)
		}
	}
	return len(chosen) > 0, false, nil
}

// pauseAll pauses the chosen jobs that hold resources on the nodes where the waiting job j will start.
func (l *loop) pauseAll(chosen, nodes []int32, j *jobState) error {
	why := ""
	if l.recording() {
		why = fmt.Sprintf("makes room for %q", l.job(j.number).Name)
	}
	for _, victim := range chosen {
		if !l.machine.Touches(l.state(victim).grant, nodes) {
			continue
		}
		if err := l.pause(l.state(victim), why); err != nil {
			return err
		}
	}
	return nil
}

// pause pauses a running job and puts it into the queue at its own level, without feedback.
func (l *loop) pause(j *jobState, why string) error {
	if err := l.halt(j); err != nil {
		return err
	}
	l.release(j)
	l.paused(j, why)
	if l.rules.Feedback > 0 { // without feedback, level has not changed
		j.level = int32(max(j.job.Priority, 0))
	}
	l.wait(j)
	return nil
}

// offerVictim and withdrawVictim add a running job to the list of jobs that can be paused, and remove it.
func (l *loop) offerVictim(j *jobState) {
	if l.rules.Victims != nil {
		first, second := l.rules.Victims(JobView{l, j})
		l.running.victims.Offer(victim{First: first, Second: second, Job: j.number})
	}
}

func (l *loop) withdrawVictim(j *jobState) {
	if l.rules.Victims != nil {
		l.running.victims.Withdraw(j.number)
	}
}

// addHeld adds to rooms the resources that become free if a running job is paused.
func (l *loop) addHeld(rooms []cluster.Room, j *jobState) {
	l.machine.AddHeld(rooms, l.state(j.number).grant)
}

// addAll adds to rooms the resources that become free if a running job ends.
func (l *loop) addAll(rooms []cluster.Room, j *jobState) {
	l.addHeld(rooms, j)
	if memory := l.memoryOf(j); memory > 0 {
		for _, v := range l.home(j) {
			rooms[v].Memory += memory
		}
	}
}

// heldUpAs is heldUp for the job's present alternative.
func (l *loop) heldUpAs(j *jobState) bool {
	cores := l.atLeast(j)
	if need, _ := l.needs(j, cores); need.Memory == 0 || l.tally.started == len(l.running.all)-len(l.turns.Jobs) {
		return false
	}
	rooms := slices.Clone(l.machine.Free)
	for _, k := range l.running.all {
		if !l.state(k).yields {
			l.addAll(rooms, l.state(k))
		}
	}
	_, ok := l.fitIn(rooms, j, cores, nil)
	return !ok
}

// victim is a running job that can be paused for a waiting job. The job with the smallest First is paused first,
// then by Second; of equal ones, the job with the higher number.
type victim struct {
	First, Second int64
	Job           int32  // queue.Nobody after its withdrawal
	age           uint32 // the list's age when rank was computed
	rank          int64
}

func (v *victim) before(o *victim) bool {
	if v.First != o.First {
		return v.First < o.First
	}
	if v.Second != o.Second {
		return v.Second < o.Second
	}
	return v.Job > o.Job
}

// victimList is a list of running jobs in the order in which they would be paused. To save time, it caches their
// ranks until Forget, leaves gaps where jobs were withdrawn, and sorts new jobs only when Worse is called.
type victimList struct {
	jobs    []victim
	ordered int     // jobs[:ordered] is sorted
	gone    int     // number of withdrawn jobs that are still in jobs
	places  []int32 // by job, its index in jobs
	spare   []victim
	keys    []key
	rank    func(job int32) int64
	place   func(job int32) queue.Key
	age     uint32

	asked  int   // the ranks of jobs[ordered:asked] are known
	most   int64 // the greatest of these ranks, which is the worst
	passed int   // jobs[:passed] rank no worse than least
	least  int64
}

// key is the first sort key of a newly offered job, with the job's index in victimList.jobs.
type key struct {
	first int64
	at    int32
}

// newVictimList returns an empty list for jobs with numbers below jobs. rank returns the rank of a job; greater is
// worse.
func newVictimList(jobs int, rank func(job int32) int64) victimList {
	l := victimList{rank: rank, places: make([]int32, jobs), age: 1}
	l.reorder()
	return l
}

// newLastFirstVictims returns an empty list that is ordered by places in the queue, the last place first. place
// returns the place that a running job would have.
func newLastFirstVictims(jobs int, place func(job int32) queue.Key) victimList {
	l := newVictimList(jobs, nil)
	l.place = place
	return l
}

// reorder clears the known ranks by index, because the indexes have changed.
func (l *victimList) reorder() {
	l.asked, l.most = l.ordered, math.MinInt64
	l.passed, l.least = 0, math.MinInt64
}

// Offer adds a job to the list.
func (l *victimList) Offer(v victim) {
	if l.gone > len(l.jobs)/2 && len(l.jobs) == cap(l.jobs) {
		l.tidy()
	}
	v.age = l.age - 1
	l.jobs = l.put(l.jobs, &v)
}

// put appends a victim to list, and records its index there.
func (l *victimList) put(list []victim, v *victim) []victim {
	l.places[v.Job] = int32(len(list))
	return append(list, *v)
}

// Withdraw removes a job from the list. It leaves a gap.
func (l *victimList) Withdraw(job int32) {
	l.jobs[l.places[job]].Job = queue.Nobody
	l.gone++
}

// tidy closes the gaps of withdrawn jobs.
func (l *victimList) tidy() {
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

// settle sorts newly offered jobs into the list.
func (l *victimList) settle() {
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
		return 1 // no job is listed twice
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

// Forget drops the cached ranks, because they may have changed.
func (l *victimList) Forget() {
	l.age++
	if l.place != nil {
		l.ordered = 0
	}
	l.reorder()
}

// Worse returns the first job at index from or later whose rank is worse than than, and its index. ok is false if
// there is no such job. Indexes are valid until a call of Offer or Forget.
func (l *victimList) Worse(from int, than int64) (i int, job int32, ok bool) {
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
			break // the jobs behind it rank no worse
		}
	}
	if from == 0 {
		l.passed, l.least = i, than
	}
	return i, job, ok
}

func (l *victimList) rankOf(v *victim) int64 {
	if v.age != l.age {
		v.rank, v.age = l.rank(v.Job), l.age
	}
	return v.rank
}

// anyFresh reports whether a newly offered job ranks worse than than.
func (l *victimList) anyFresh(than int64) bool {
	for ; l.asked < len(l.jobs); l.asked++ {
		if v := &l.jobs[l.asked]; v.Job != queue.Nobody {
			l.most = max(l.most, l.rankOf(v))
		}
	}
	return l.most > than
}

// sort orders the jobs by their places in the queue, the last first. It sorts by insertion, because most jobs are
// already in order.
func (l *victimList) sort() {
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
