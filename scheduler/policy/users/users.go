// Package users has the orders that share a cluster among users by what these hold: drf and
// equal_share, one file each. A job without a user is a user of its own.
package users

import (
	"fmt"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/queue"
)

// register adds an order that admits jobs itself: whole, and one user beside the other.
func register(c policy.Choice, make func(*sharing) scheduler.Ranker) {
	c.Wants = append(c.Wants,
		policy.Want{Of: policy.BackfillOf, Name: string(policy.FirstFit), Implied: true, Detail: fmt.Sprintf(
			"Under the order %q a user who cannot go on lets others, which implies backfill = %q.", c.Name, policy.FirstFit)},
		policy.Want{Of: policy.AllocationOf, Name: string(policy.Strict), Detail: fmt.Sprintf(
			"Under the order %q jobs are given what they ask for: allocation = %q.", c.Name, policy.Strict)},
		policy.Want{Of: policy.PreemptionOf, Name: string(policy.NoPreemption), Detail: fmt.Sprintf(
			"Under the order %q no job gives way to another: preemption = %q.", c.Name, policy.NoPreemption)})
	policy.RegisterOrder(policy.OrderChoice{Choice: c, New: func(s policy.Setup) scheduler.Ranker {
		return make(newSharing(s))
	}})
}

// amounts are those of cores, GPUs and memory, in this order.
type amounts [3]float64

func (a *amounts) add(b amounts) {
	for i := range a {
		a[i] += b[i]
	}
}

// sharing is what both orders know: who owns which job, and what each user holds.
type sharing struct {
	owner []int32 // by job
	users int
	total amounts // of the cluster; 0 for what is not accounted for
	held  []amounts
	lists [][]int32 // the waiting jobs of each user, in the order of arrival
}

func newSharing(s policy.Setup) *sharing {
	p := &sharing{owner: make([]int32, len(s.Run.Jobs))}
	known := map[string]int32{}
	for i := range s.Run.Jobs {
		user := s.Run.Jobs[i].User
		o, ok := known[user]
		if !ok || user == "" {
			o = int32(p.users)
			known[user] = o
			p.users++
		}
		p.owner[i] = o
	}
	limited := true
	for _, n := range s.Run.Cluster.Nodes {
		p.total.add(amounts{float64(n.Threads), float64(n.GPUs), float64(n.Memory)})
		limited = limited && n.Memory > 0
	}
	if !limited {
		p.total[2] = 0
	}
	p.held, p.lists = make([]amounts, p.users), make([][]int32, p.users)
	return p
}

// Rank implements scheduler.Ranker: jobs wait in the order of arrival.
func (p *sharing) Rank(scheduler.JobView) int64 { return 0 }

// look finds out what each user holds, and which jobs of each wait.
func (p *sharing) look(v scheduler.View) {
	for o := range p.users {
		p.held[o], p.lists[o] = amounts{}, p.lists[o][:0]
	}
	for _, j := range v.Running().All() {
		g := v.Job(j).Held()
		p.held[p.owner[j]].add(amounts{
			float64(g.Cores.Count()), float64(g.GPUs.Count()), float64(v.Job(j).Job().Memory),
		})
	}
	waiting := v.Waiting()
	for j := waiting.Peek(queue.Front, queue.Anyone); j != queue.Nobody; j = waiting.Peek(waiting.KeyOf(j), queue.Anyone) {
		p.lists[p.owner[j]] = append(p.lists[p.owner[j]], j)
	}
}

// asks returns what a waiting job asks for as it is looked at.
func asks(j scheduler.JobView) amounts {
	return amounts{float64(j.Request()), float64(j.Job().GPUs), float64(j.Job().Memory)}
}

// start starts a waiting job in the first of its alternatives that is allowed and for which there
// is room, and adds it to what its user holds.
func (p *sharing) start(
	v scheduler.View, h scheduler.Hands, job int32, allowed func(amounts) bool, why string,
) (started bool, err error) {
	j := v.Job(job)
	choices := j.Choices()
	for i := 0; i == 0 || i < len(choices); i++ {
		if len(choices) > 0 {
			h.Choose(job, choices[i])
		}
		need := asks(j)
		nodes, ok := j.Fits(j.Request())
		if !ok || !allowed(need) {
			continue
		}
		if err := h.Start(job, j.Request(), nodes, why); err != nil {
			return false, err
		}
		if j.State() == scheduler.Running {
			p.held[p.owner[job]].add(need)
		}
		return true, nil
	}
	return false, nil
}
