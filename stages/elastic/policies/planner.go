// Package policies has the orders that set the GPUs of all jobs at the start of each round. tiresias gives each job its
// request. optimus, pollux and sia divide the GPUs among jobs that can run on any number of them. Package division has
// their algorithms.
package policies

import (
	"fmt"
	"slices"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/queue"
	"github.com/tfexp/tfexp/stages/elastic/division"
)

// decider decides the GPUs of all jobs in a round.
type decider interface {
	// decide returns the GPUs of each of the jobs, by node; nil for a job without GPUs.
	decide(p *planner, v scheduler.View, jobs []int32) (division.Division, error)
	// ended is called when a job has ended.
	ended(job int32)
}

// Needs are the requirements of an order of this package.
type Needs struct {
	// Trains reports whether the order needs the speed of jobs by their GPUs. Batches reports whether jobs choose their
	// batch sizes.
	Trains, Batches bool
}

var needs = map[policy.Order]Needs{}

// Of returns the requirements of a policy's order; false for orders of other packages.
func Of(p policy.Policy) (Needs, bool) {
	n, ok := needs[p.Order]
	return n, ok
}

// register registers an order.
func register(c policy.Choice, of Needs, make func(policy.Setup) decider, largestFirst bool) policy.OrderChoice {
	needs[policy.Order(c.Name)] = of
	if c.SetsCores = of.Trains; of.Trains {
		c.Needs = append(c.Needs, "jobs whose speed on any number of GPUs is known")
	}
	if of.Batches {
		c.Needs = append(c.Needs, "jobs whose progress by batch size is known")
	}
	c.Settings = append(schema.Args[policy.RoundLength](), c.Settings...)
	detail := func(q policy.Question) string {
		return fmt.Sprintf("The order %q decides by itself what runs in each round, and where: %s cannot be combined with it.",
			c.Name, q)
	}
	for q, name := range map[policy.Question]string{
		policy.BackfillOf: policy.NoBackfill, policy.AllocationOf: policy.Strict,
		policy.PreemptionOf: policy.NoPreemption, policy.PlacementOf: policy.PlaceFirst,
	} {
		c.Wants = append(c.Wants, policy.Want{Of: q, Name: name, Detail: detail(q)})
	}
	slices.SortFunc(c.Wants, func(a, b policy.Want) int {
		return slices.Index(policy.Questions, a.Of) - slices.Index(policy.Questions, b.Of)
	})
	return policy.RegisterOrder(policy.OrderChoice{Choice: c, New: func(s policy.Setup) scheduler.Ranker {
		p := &planner{Setup: s, decider: make(s), at: division.Division(nil), largestFirst: largestFirst}
		p.at = append(p.at, slices.Repeat([][]int{nil}, len(s.Run.Jobs))...)
		p.capacity, p.cores = sizes(s.Run.Cluster)
		p.trains = of.Trains
		p.memory = slices.ContainsFunc(s.Run.Jobs, func(j scheduler.Job) bool {
			return j.Memory > 0 || len(j.Alternatives()) > 0
		})
		for _, size := range p.capacity {
			p.perNode = max(p.perNode, size)
		}
		return p
	}})
}

// planner is the part of the state that all orders of this package have.
type planner struct {
	policy.Setup
	decider
	cores        bool  // the order divides cores, since the cluster has no GPUs
	trains       bool  // the order chooses the number of each job's units
	memory       bool  // some jobs request memory
	capacity     []int // GPUs (or cores) by node
	perNode      int   // units of the largest node
	at           division.Division
	largestFirst bool // a job's nodes are listed with the most GPUs first
}

// begun returns the time at which the present round began. With real engines, decisions are a little later than this.
func (p *planner) begun(now time.Duration) time.Duration {
	length, _ := p.Rounds()
	return now.Round(length)
}

// demand returns a job's request in units of the divided resource.
func (p *planner) demand(j *scheduler.Job) int {
	if p.cores {
		return j.Threads
	}
	return j.GPUs
}

// device returns the name of a unit of the divided resource, and devices a number of units as text.
func (p *planner) device() string {
	if p.cores {
		return "core"
	}
	return "GPU"
}

func (p *planner) devices(n int) string {
	if n == 1 {
		return "1 " + p.device()
	}
	return fmt.Sprintf("%d %ss", n, p.device())
}

// Rank implements scheduler.Ranker. All ranks are equal, so waiting jobs are in the order of arrival.
func (p *planner) Rank(scheduler.JobView) int64 { return 0 }

// Rounds implements policy.Rounded.
func (p *planner) Rounds() (time.Duration, bool) { return p.Policy.Settings.Duration("rounds"), false }

// Clocked implements policy.Clocked.
func (p *planner) Clocked() {}

// Arrived implements scheduler.UsageObserver.
func (p *planner) Arrived(int32) {}

// Ended implements scheduler.UsageObserver.
func (p *planner) Ended(j int32) {
	p.at[j] = nil
	p.ended(j)
}

// Used implements scheduler.UsageObserver.
func (p *planner) Used(int32, time.Duration, scheduler.Grant) {}

// Served implements scheduler.UsageObserver.
func (p *planner) Served(int32) {}

// HeldBack implements scheduler.Admitter.
func (p *planner) HeldBack(scheduler.View, int32) string {
	return "is given no " + p.device() + "s in this round"
}

// Admit implements scheduler.Admitter.
func (p *planner) Admit(v scheduler.View, h scheduler.Actions) error {
	var jobs []int32
	var rooms []cluster.Room // room that is free when all jobs are paused, if jobs request memory
	if p.memory {
		rooms = v.Machine().Paused()
	}
	waiting := v.Waiting()
	for j := waiting.Peek(queue.Front, queue.Anyone); j != queue.Nobody; j = waiting.Peek(waiting.KeyOf(j), queue.Anyone) {
		p.at[j] = nil // a feature may have paused the job
		if rooms == nil || couldStart(v.Job(j), h, rooms) {
			jobs = append(jobs, j)
		}
	}
	jobs = append(jobs, v.Running().All()...)
	slices.Sort(jobs)
	target, err := p.decide(p, v, jobs)
	if err != nil {
		return err
	}
	if p.cores && p.trains {
		onOneNode(target)
	}
	for _, grows := range []bool{false, true} { // first jobs that shrink, so that others find room
		for i, j := range jobs {
			if v.Job(j).State() != scheduler.Running || same(p.at[j], target[i]) || p.grows(v.Job(j), target[i]) != grows {
				continue
			}
			if err := p.change(v, h, j, target[i]); err != nil {
				return err
			}
		}
	}
	for i, j := range jobs {
		if division.Total(target[i]) == 0 || v.Job(j).State() == scheduler.Running {
			continue
		}
		if err := p.start(v, h, j, target[i]); err != nil {
			return err
		}
	}
	return nil
}

// couldStart reports whether a waiting job, or one of its alternatives, has room.
func couldStart(view scheduler.JobView, h scheduler.Actions, rooms []cluster.Room) bool {
	for _, way := range view.ChoicesAnew() {
		h.Choose(view.Number(), way)
		if _, ok := view.FitsIn(rooms, view.Least(), nil); ok {
			return true
		}
	}
	return false
}

// change gives a running job another number of cores of its node, or pauses it.
func (p *planner) change(v scheduler.View, h scheduler.Actions, j int32, placement []int) error {
	why, had, has := "", division.Total(p.at[j]), division.Total(placement)
	if v.Recording() {
		if why = fmt.Sprintf("is given %d instead of %s in this round", has, p.devices(had)); had == has {
			why = fmt.Sprintf("is given other %ss in this round", p.device())
		}
	}
	if p.resized(v.Job(j), placement) {
		p.at[j] = placement
		return h.Resize(j, int32(has), why)
	}
	p.at[j] = nil
	return h.Pause(j, why)
}

// start starts or resumes a job with the given GPUs by node.
func (p *planner) start(v scheduler.View, h scheduler.Actions, j int32, placement []int) error {
	p.at[j] = placement
	why := ""
	if v.Recording() {
		why = fmt.Sprintf("is given %s in this round", p.devices(division.Total(placement)))
	}
	view := v.Job(j)
	if p.cores && p.trains {
		return p.startOn(v, h, j, placement, why)
	}
	if !view.Job().Elastic {
		return p.startWhole(view, h, why)
	}
	var shares []cluster.Share
	for node, n := range placement {
		if n > 0 {
			shares = append(shares, cluster.Share{Node: int32(node), GPUs: int32(n)})
		}
	}
	if p.largestFirst {
		slices.SortStableFunc(shares, func(a, b cluster.Share) int { return int(b.GPUs - a.GPUs) })
	}
	return h.(scheduler.ClusterActions).Divide(j, shares, why)
}

// startWhole starts or resumes a job with its whole request, or with the first of its alternatives that has room, so
// that it does not wait for the fastest type of GPU. It waits if free GPUs are too scattered to divide it evenly over
// nodes.
func (p *planner) startWhole(view scheduler.JobView, h scheduler.Actions, why string) error {
	j := view.Number()
	p.at[j] = nil
	for _, way := range view.ChoicesAnew() {
		h.Choose(j, way)
		nodes, ok := view.Fits(view.Request())
		if !ok {
			continue
		}
		p.at[j] = make([]int, len(p.capacity))
		for _, node := range nodes {
			p.at[j][node] += p.demand(view.Job()) / len(nodes)
		}
		return h.Start(j, view.Request(), nodes, why)
	}
	return nil
}

func same(a, b []int) bool {
	if len(a) == 0 || len(b) == 0 {
		return division.Total(a) == 0 && division.Total(b) == 0
	}
	return slices.Equal(a, b)
}
