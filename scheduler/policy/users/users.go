// Package users has the orders that share a cluster among users by what these hold, one file each:
// dominant resource fairness and its variants, and shares of each resource. A job without a user is
// a user of its own.
package users

import (
	"cmp"
	"fmt"
	"slices"

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
		policy.Want{Of: policy.PlacementOf, Name: string(policy.PlaceFirst), Detail: fmt.Sprintf(
			"The order %q chooses among the alternatives of jobs by itself: placement has no place beside it.", c.Name)},
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

// sharing is what all of these orders know: who owns which job, and what each user holds.
type sharing struct {
	owner []int32 // by job
	users int
	total amounts // of the cluster; 0 for what is not accounted for
	held  []amounts
	// settings are those of the policy.
	settings policy.Settings
	lists    [][]int32 // the waiting jobs of each user, in the order of arrival
	pairs    []pair    // scratch
}

// pair is a waiting job with one of its alternatives; -1 for a job that has none.
type pair struct {
	job, alternative int32
	length           int64 // nanoseconds, by the predictions
}

func newSharing(s policy.Setup) *sharing {
	p := &sharing{owner: make([]int32, len(s.Run.Jobs)), settings: s.Policy.Settings}
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

// lengths lists a user's waiting jobs with each of their alternatives that some rule is for, by
// predicted run time; ties, and those without a prediction, which come last, by arrival.
func (p *sharing) lengths(v scheduler.View, h scheduler.Hands, user int, of func(amounts) bool) []pair {
	p.pairs = p.pairs[:0]
	for _, job := range p.lists[user] {
		j := v.Job(job)
		add := func(alternative int32) {
			if of(asks(j)) {
				length := int64(j.Predicted())
				if length == 0 {
					length = int64(scheduler.Never)
				}
				p.pairs = append(p.pairs, pair{job, alternative, length})
			}
		}
		choices, now := j.Choices(), j.Alternative()
		for _, k := range choices {
			h.Choose(job, k)
			add(k)
		}
		if len(choices) == 0 {
			add(-1)
		} else {
			h.Choose(job, now)
		}
	}
	slices.SortStableFunc(p.pairs, func(a, b pair) int { return cmp.Compare(a.length, b.length) })
	return p.pairs
}

// startShortest starts the first of a user's pairs of job and alternative by predicted run time for
// which there is room, and reports whether there was one.
func (p *sharing) startShortest(
	v scheduler.View, h scheduler.Hands, user int, of func(amounts) bool, why string,
) (started bool, err error) {
	for _, k := range p.lengths(v, h, user, of) {
		j, now := v.Job(k.job), v.Job(k.job).Alternative()
		if k.alternative >= 0 {
			h.Choose(k.job, k.alternative)
		}
		need := asks(j)
		nodes, ok := j.Fits(j.Request())
		if !ok {
			if k.alternative >= 0 {
				h.Choose(k.job, now)
			}
			continue
		}
		if err := h.Start(k.job, j.Request(), nodes, why); err != nil {
			return false, err
		}
		p.took(user, k.job, v, need)
		return true, nil
	}
	return false, nil
}

// took notes that a user's job was started.
func (p *sharing) took(user int, job int32, v scheduler.View, need amounts) {
	p.lists[user] = slices.DeleteFunc(p.lists[user], func(j int32) bool { return j == job })
	if v.Job(job).State() == scheduler.Running {
		p.held[user].add(need)
	}
}

// anything is the rule that is for all requests.
func anything(amounts) bool { return true }

// least returns the user with waiting jobs who holds least by a measure, ties to the earlier first
// job; negative when nobody waits.
func (p *sharing) least(measure func(user int) float64) int {
	best, least := -1, 0.0
	for o, list := range p.lists {
		if len(list) == 0 {
			continue
		}
		s := measure(o)
		if best < 0 || s < least || s == least && list[0] < p.lists[best][0] {
			best, least = o, s
		}
	}
	return best
}

// dominant is a user's dominant share: the greatest part of the cluster's cores, GPUs or memory that
// the user holds.
func (p *sharing) dominant(user int) float64 {
	most := 0.0
	for i, total := range p.total {
		if total > 0 {
			most = max(most, p.held[user][i]/total)
		}
	}
	return most
}

// byUser starts the shortest job that a rule is for of the user who holds least by a measure, again
// and again. A user for none of whose jobs there is room is left out until something has changed.
func (p *sharing) byUser(
	v scheduler.View, h scheduler.Hands, measure func(user int) float64, of func(amounts) bool, why string,
) error {
	p.look(v)
	for {
		user := p.least(measure)
		if user < 0 {
			return nil
		}
		started, err := p.startShortest(v, h, user, of, why)
		if err != nil {
			return err
		}
		if !started {
			p.lists[user] = nil
		}
	}
}
