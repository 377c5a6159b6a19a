// This file has the admission that places all jobs again at each dispatch.

package policy

import (
	"cmp"
	"slices"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/queue"
)

// replanner places all jobs, running or waiting, as if the cluster were empty: in the policy's order, each on the
// first nodes that still have room. Then it pauses the running jobs that got no place or another place. Waiting jobs
// with a place start.
type replanner struct {
	scheduler.View
	scheduler.Actions
	order  scheduler.Ranker
	second scheduler.SecondRanker
	place  func() // finds the targets of all jobs that have room
	// These fields are used in one dispatch, and kept to reuse their memory.
	rooms   []cluster.Room
	running []queue.Key
	targets []target
	nodes   []int32
	pairs   []replanPair
}

// target is the place that a job got: nodes[from:to] of the replanner, and an alternative.
type target struct {
	job, alternative int32
	from, to         int
}

// replanInOrder returns the admission that places jobs one by one in an order. A waiting job takes the first of its
// alternatives that has room, and keeps it.
func replanInOrder(order scheduler.Ranker) scheduler.Admitter {
	p := newReplanner(order)
	p.place = p.placeJobs
	return p
}

// replanByPairs returns the admission that places pairs of a job and an alternative, ranked by the order. If the
// engine can resume jobs with another alternative, started jobs also have a pair for each alternative.
func replanByPairs(order scheduler.Ranker) scheduler.Admitter {
	p := newReplanner(order)
	p.place = p.placePairs
	return p
}

func newReplanner(order scheduler.Ranker) *replanner {
	p := &replanner{order: order}
	p.second, _ = order.(scheduler.SecondRanker)
	return p
}

// HeldBack implements scheduler.Admitter.
func (p *replanner) HeldBack(scheduler.View, int32) string {
	return "has no room next to the jobs before it"
}

// Admit implements scheduler.Admitter.
func (p *replanner) Admit(v scheduler.View, h scheduler.Actions) error {
	p.View, p.Actions = v, h
	p.clear()
	p.place()
	for _, k := range p.running {
		if why := p.leaves(v.Job(k.Job)); why != "" {
			if err := h.Pause(k.Job, why); err != nil {
				return err
			}
		}
	}
	for _, t := range p.targets {
		j := v.Job(t.job)
		if j.State() == scheduler.Running {
			continue
		}
		p.Choose(t.job, t.alternative)
		if err := h.Start(t.job, j.Request(), p.nodes[t.from:t.to], "first in the order"); err != nil {
			return err
		}
	}
	return nil
}

// clear computes the resources that would be free if no job ran.
func (p *replanner) clear() {
	p.rooms = append(p.rooms[:0], p.Machine().Free()...)
	p.running, p.targets, p.nodes = p.running[:0], p.targets[:0], p.nodes[:0]
	for _, number := range p.Running().All() {
		j := p.Job(number)
		j.GiveBack(p.rooms, true)
		p.running = append(p.running, p.keyOf(j))
	}
	slices.SortFunc(p.running, queue.Key.Compare)
}

// leaves says why a running job must be paused; empty if it stays.
func (p *replanner) leaves(j scheduler.JobView) string {
	i := slices.IndexFunc(p.targets, func(t target) bool { return t.job == j.Number() })
	if i < 0 {
		return "jobs before it need its resources"
	}
	switch t := p.targets[i]; {
	case t.alternative != j.Alternative():
		return "continues with another alternative"
	case !slices.Equal(p.nodes[t.from:t.to], j.Home()):
		return "moves to other nodes"
	}
	return ""
}

// placeJobs places the jobs in the policy's order.
func (p *replanner) placeJobs() {
	waiting, ahead := p.Waiting(), p.running
	next := waiting.Next(queue.Front, p.within())
	for next != queue.Nobody || len(ahead) > 0 {
		if next == queue.Nobody || len(ahead) > 0 && ahead[0].Less(waiting.KeyOf(next)) {
			p.fit(ahead[0].Job, p.Job(ahead[0].Job).Alternative())
			ahead = ahead[1:]
			continue
		}
		after := waiting.KeyOf(next)
		for _, k := range p.Job(next).Choices() {
			if p.fit(next, k) {
				break
			}
		}
		next = waiting.Next(after, p.within())
	}
}

// keyOf returns the key that a running job would have in the queue.
func (p *replanner) keyOf(j scheduler.JobView) queue.Key {
	k := queue.Key{Rank: p.order.Rank(j), Second: int64(j.Job().Arrival), Job: j.Number()}
	if p.second != nil {
		k.Second = p.second.Second(j)
	}
	return k
}

// within returns a limit that excludes waiting jobs with more cores than any node has room for.
func (p *replanner) within() queue.Limit {
	most := int32(0)
	for _, room := range p.rooms {
		most = max(most, room.Cores)
	}
	return queue.Limit{Free: most, Window: scheduler.Never}
}

// fit places a job with an alternative, if there is room. It reports whether there is.
func (p *replanner) fit(number, alternative int32) bool {
	p.Choose(number, alternative)
	j, from := p.Job(number), len(p.nodes)
	nodes, ok := j.FitsAnew(p.rooms, j.Request(), p.nodes)
	if ok {
		p.nodes = nodes
		j.TakeFrom(p.rooms, j.Request(), nodes[from:])
		p.targets = append(p.targets, target{number, alternative, from, len(nodes)})
	}
	return ok
}

// replanPair is a job with one of its alternatives, and the key that it has in the queue with this one.
type replanPair struct {
	queue.Key
	alternative int32
	stays       bool // the job runs with this alternative
}

// compare orders pairs by key. Of pairs with the same key, the one that already runs is first.
func (a replanPair) compare(b replanPair) int {
	if c := a.Compare(b.Key); c != 0 || a.stays == b.stays {
		return cmp.Or(c, cmp.Compare(a.alternative, b.alternative))
	}
	if a.stays {
		return -1
	}
	return 1
}

// placePairs places pairs in their order: of each job, the first pair that has room.
func (p *replanner) placePairs() {
	p.pairs = p.pairs[:0]
	for _, k := range p.running {
		p.addPairs(p.Job(k.Job))
	}
	waiting := p.Waiting()
	for n := waiting.Next(queue.Front, queue.Anyone); n != queue.Nobody; n = waiting.Next(waiting.KeyOf(n), queue.Anyone) {
		p.addPairs(p.Job(n))
	}
	slices.SortFunc(p.pairs, replanPair.compare)
	placed := make(map[int32]bool, len(p.running))
	for _, c := range p.pairs {
		if placed[c.Job] {
			continue
		}
		now := p.Job(c.Job).Alternative()
		placed[c.Job] = p.fit(c.Job, c.alternative)
		p.Choose(c.Job, now)
	}
}

// addPairs adds the pairs of a job to the list.
func (p *replanner) addPairs(j scheduler.JobView) {
	now, runs := j.Alternative(), j.State() == scheduler.Running
	for _, k := range j.ChoicesAnew() {
		p.Choose(j.Number(), k)
		p.pairs = append(p.pairs, replanPair{p.keyOf(j), k, runs && k == now})
	}
	p.Choose(j.Number(), now)
}
