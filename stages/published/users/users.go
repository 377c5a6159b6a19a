// Package users has orders that share a cluster among users by the resources that they hold, one file each: dominant
// resource fairness with variants, and equal shares of each resource. A job without a user counts as a separate user.
package users

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/queue"
)

// registerDominant registers an order of dominant resource fairness. With backfill = "none", the first job that does
// not fit ends the pass, as in the simulator of AlloX's authors.
func registerDominant(c policy.Choice, make func(*userShares) scheduler.Ranker) policy.OrderChoice {
	c.Wants = append(c.Wants, policy.Want{
		Of: policy.BackfillOf, Name: policy.FirstFit, Or: []string{policy.NoBackfill}, Implied: true,
		Detail: fmt.Sprintf("Under the order %q either a user whose job does not fit lets others pass (backfill = %q, "+
			"which is implied), or the first job that does not fit ends the pass (%q).", c.Name, policy.FirstFit, policy.NoBackfill)})
	return registerUsers(c, policy.PlaceFirst, make)
}

// registerShared registers an order that skips users whose jobs have no room.
func registerShared(c policy.Choice, placement policy.Placement, make func(*userShares) scheduler.Ranker) policy.OrderChoice {
	c.Wants = append(c.Wants, policy.Want{Of: policy.BackfillOf, Name: policy.FirstFit, Implied: true,
		Detail: fmt.Sprintf("Under the order %q a user whose job does not fit lets others pass, which implies "+
			"backfill = %q.", c.Name, policy.FirstFit)})
	return registerUsers(c, placement, make)
}

// registerUsers registers an order that admits jobs itself, fairly among users and with full requests. The policy may
// have the first placement or the given one.
func registerUsers(c policy.Choice, placement policy.Placement, make func(*userShares) scheduler.Ranker) policy.OrderChoice {
	c.OfJobs = true
	c.Wants = append(c.Wants,
		policy.Want{Of: policy.AllocationOf, Name: policy.Strict, Detail: fmt.Sprintf(
			"Under the order %q jobs are given what they ask for: allocation = %q.", c.Name, policy.Strict)},
		policy.Want{Of: policy.PlacementOf, Name: policy.PlaceFirst, Or: []string{placement}, Detail: fmt.Sprintf(
			"The order %q chooses among the alternatives of jobs by itself: it allows no such placement.", c.Name)},
		policy.Want{Of: policy.PreemptionOf, Name: policy.NoPreemption, Detail: fmt.Sprintf(
			"Under the order %q no job gives way to another: preemption = %q.", c.Name, policy.NoPreemption)})
	return policy.RegisterOrder(policy.OrderChoice{Choice: c, New: func(s policy.Setup) scheduler.Ranker {
		return make(newSharing(s))
	}})
}

// amounts are numbers of cores, GPUs and bytes of memory, in this order.
type amounts [3]float64

func (a *amounts) add(b amounts) {
	for i := range a {
		a[i] += b[i]
	}
}

// userShares is the common state of these orders: the owner of each job and the holdings of each user.
type userShares struct {
	owner []int32 // user of each job
	users int
	total amounts // of the cluster; 0 for a resource that does not count
	held  []amounts
	// settings are the settings of the policy.
	settings policy.Settings
	arrival  []time.Duration      // of each job
	came     []int32              // waiting jobs that are not in lists yet
	waiting  int                  // number of jobs in lists
	lists    [][]int32            // the other waiting jobs of each user, sorted by arrival
	byLength bool                 // whether pairs is kept
	stops    bool                 // whether the first job that does not fit ends the pass
	pairs    [][]userPair         // pairs of the jobs in lists, by user, the shortest first
	of       map[int32][]userPair // pairs of each job
	plain    bool                 // whether all jobs request only cores of one node
	holders  []int32              // users who hold resources
	claims   []claim              // reused memory
}

// userPair is a waiting job with one of its alternatives; -1 if the job has no alternatives.
type userPair struct {
	job, alternative int32
	length           int64 // predicted run time in nanoseconds; Never if unknown
}

// claim is a user with waiting jobs.
type claim struct {
	share float64 // of the resources, by the order's measure
	first int32   // the user's first waiting job
	user  int32
}

// compareClaims sorts users by share, the smallest first. Users with equal shares are sorted by their first job.
func compareClaims(a, b claim) int {
	return cmp.Or(cmp.Compare(a.share, b.share), cmp.Compare(a.first, b.first))
}

// byArrival sorts jobs by arrival, then by number.
func (p *userShares) byArrival(a, b int32) int {
	return cmp.Or(cmp.Compare(p.arrival[a], p.arrival[b]), cmp.Compare(a, b))
}

// shorter sorts pairs by length, then by arrival.
func (p *userShares) shorter(a, b userPair) int {
	return cmp.Or(cmp.Compare(a.length, b.length), p.byArrival(a.job, b.job), cmp.Compare(a.alternative, b.alternative))
}

func newSharing(s policy.Setup) *userShares {
	jobs := len(s.Run.Jobs)
	p := &userShares{
		owner: make([]int32, jobs), arrival: make([]time.Duration, jobs), settings: s.Policy.Settings,
		of: map[int32][]userPair{}, plain: true, stops: s.Policy.Backfill == policy.NoBackfill,
		byLength: s.Policy.Placement == policy.Pairs,
	}
	known := map[string]int32{}
	for i := range s.Run.Jobs {
		user := s.Run.Jobs[i].User
		p.arrival[i] = s.Run.Jobs[i].Arrival
		p.plain = p.plain && s.Run.Jobs[i].Plain()
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
	p.held, p.lists, p.pairs = make([]amounts, p.users), make([][]int32, p.users), make([][]userPair, p.users)
	return p
}

// Rank implements scheduler.Ranker: jobs wait in the order of arrival.
func (p *userShares) Rank(scheduler.JobView) int64 { return 0 }

// Waits implements scheduler.QueueObserver.
func (p *userShares) Waits(job int32) { p.came = append(p.came, job) }

// look updates the holdings and the waiting jobs of each user.
func (p *userShares) look(v scheduler.View, h scheduler.Actions) {
	for _, o := range p.holders {
		p.held[o] = amounts{}
	}
	p.holders = p.holders[:0]
	for _, j := range v.Running().All() {
		g, o := v.Job(j).Held(), p.owner[j]
		p.held[o].add(amounts{
			float64(g.Cores.Count()), float64(g.GPUs.Count()), float64(v.Job(j).Job().Memory),
		})
		p.holders = append(p.holders, o)
	}
	for _, job := range p.came {
		o := p.owner[job]
		p.lists[o] = queue.InsertSorted(p.lists[o], job, p.byArrival)
		if p.byLength {
			p.of[job] = lengths(v.Job(job), h)
			for _, k := range p.of[job] {
				p.pairs[o] = queue.InsertSorted(p.pairs[o], k, p.shorter)
			}
		}
	}
	p.came, p.waiting = p.came[:0], p.waiting+len(p.came)
	if p.waiting == v.Waiting().Len() {
		return
	}
	for o := range p.lists { // some jobs have ended without a start
		for _, job := range slices.Clone(p.lists[o]) {
			if s := v.Job(job).State(); s != scheduler.Queued && s != scheduler.Paused {
				p.left(job)
			}
		}
	}
}

// left removes a job from the lists, because it no longer waits.
func (p *userShares) left(job int32) {
	o := p.owner[job]
	p.lists[o] = queue.DeleteSorted(p.lists[o], job, p.byArrival)
	for _, k := range p.of[job] {
		p.pairs[o] = queue.DeleteSorted(p.pairs[o], k, p.shorter)
	}
	delete(p.of, job)
	p.waiting--
}

// asks returns the current request of a waiting job.
func asks(j scheduler.JobView) amounts {
	return amounts{float64(j.Request()), float64(j.Job().GPUs), float64(j.Job().Memory)}
}

// start starts a waiting job with the first alternative that is allowed and has room, and adds it to its user's
// holdings.
func (p *userShares) start(
	v scheduler.View, h scheduler.Actions, job int32, allowed func(amounts) bool, why string,
) (started bool, err error) {
	j := v.Job(job)
	for _, k := range j.Choices() {
		h.Choose(job, k)
		need := asks(j)
		nodes, ok := j.Fits(j.Request())
		if !ok || !allowed(need) {
			continue
		}
		return true, p.startOn(v, h, job, nodes, need, why)
	}
	return false, nil
}

// startOn starts a waiting job on nodes that have room for it.
func (p *userShares) startOn(
	v scheduler.View, h scheduler.Actions, job int32, nodes []int32, need amounts, why string,
) error {
	j := v.Job(job)
	if err := h.Start(job, j.Request(), nodes, why); err != nil {
		return err
	}
	if p.left(job); j.State() == scheduler.Running {
		p.held[p.owner[job]].add(need)
		p.holders = append(p.holders, p.owner[job])
	}
	return nil
}

// lengths returns pairs of a waiting job and each of its alternatives, with their predicted run times.
func lengths(j scheduler.JobView, h scheduler.Actions) []userPair {
	now := j.Alternative()
	var pairs []userPair
	for _, k := range j.Choices() {
		h.Choose(j.Number(), k)
		length := cmp.Or(int64(j.Predicted()), int64(scheduler.Never))
		pairs = append(pairs, userPair{j.Number(), k, length})
	}
	h.Choose(j.Number(), now)
	return pairs
}

// startShortest starts the shortest of a user's pairs that fits a rule and has room. It reports whether a job started.
func (p *userShares) startShortest(
	v scheduler.View, h scheduler.Actions, user int, of func(amounts) bool, why string,
) (started bool, err error) {
	most := int32(math.MaxInt32)
	if p.plain {
		most = v.Machine().MostFree()
	}
	for _, k := range p.pairs[user] {
		if p.stops && k.job != p.pairs[user][0].job {
			continue
		}
		j := v.Job(k.job)
		if j.Request() > most {
			continue
		}
		now := j.Alternative()
		h.Choose(k.job, k.alternative)
		need := asks(j)
		if of(need) {
			if nodes, ok := j.Fits(j.Request()); ok {
				return true, p.startOn(v, h, k.job, nodes, need, why)
			}
		}
		h.Choose(k.job, now)
	}
	return false, nil
}

// anything is a rule that all requests fit.
func anything(amounts) bool { return true }

// inTurn repeatedly starts a job of the user with the smallest share by a measure. A user whose job cannot start is
// skipped until something changes, or the pass ends.
func (p *userShares) inTurn(
	measure func(user int) float64, start func(user int) (bool, error),
) error {
	p.claims = p.claims[:0]
	for o, list := range p.lists {
		if len(list) > 0 {
			p.claims = append(p.claims, claim{measure(o), list[0], int32(o)})
		}
	}
	slices.SortFunc(p.claims, compareClaims)
	for claims := p.claims; len(claims) > 0; {
		user := int(claims[0].user)
		claims = claims[1:]
		started, err := start(user)
		if err != nil || !started && p.stops {
			return err
		}
		if list := p.lists[user]; started && len(list) > 0 {
			claims = queue.InsertSorted(claims, claim{measure(user), list[0], int32(user)}, compareClaims)
		}
	}
	return nil
}

// dominant returns a user's dominant share: the largest of the user's fractions of the cluster's cores, GPUs and
// memory.
func (p *userShares) dominant(user int) float64 {
	most := 0.0
	for i, total := range p.total {
		if total > 0 {
			most = max(most, p.held[user][i]/total)
		}
	}
	return most
}

// byUser repeatedly starts the shortest job that fits a rule, of the user with the smallest share by a measure.
func (p *userShares) byUser(
	v scheduler.View, h scheduler.Actions, measure func(user int) float64, of func(amounts) bool, why string,
) error {
	p.byLength = true
	p.look(v, h)
	if v.Machine().Idle() == 0 { // no job can start without a core
		return nil
	}
	return p.inTurn(measure, func(user int) (bool, error) { return p.startShortest(v, h, user, of, why) })
}
