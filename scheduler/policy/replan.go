package policy

import (
	"slices"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/queue"
)

// replan is the setting of preemption by which all jobs are placed anew at each dispatch.
var replan = schema.Arg{
	Name: "replan", Type: schema.Bool, DefaultDoc: "off", Example: `true`,
	Doc: "Whether all jobs, running or not, are placed anew whenever one arrives or ends, in the order, on the " +
		"first nodes with room; those that do not fit are passed over, and those that run elsewhere move. This implies " +
		"`backfill = \"first_fit\"`.",
}

// replanWants are what it needs the other choices to be.
var replanWants = []Want{
	{Of: BackfillOf, Name: string(FirstFit), Detail: "With replan, jobs that do not fit are passed over, " +
		"which is backfill = \"first_fit\"."},
	{Of: AllocationOf, Name: string(Strict), Detail: "With replan, jobs are given what they ask for: allocation = " +
		"\"strict\"."},
	{Of: PlacementOf, Name: string(PlaceFirst), Detail: "With replan, each job takes the first of its alternatives that has " +
		"room: placement = \"first\"."},
	{Of: NodesOf, Name: string(OneNode), Detail: "With replan, a job that is larger than a node asks for whole nodes " +
		"(its argument " +
		"nodes): nodes = \"one\"."},
}

// replanner admits jobs as if the cluster were empty: in the policy's order, running or
// not, each on the first nodes that have room beside those before it. Then the running
// jobs that are not placed, or elsewhere, are paused, and the others start or go on.
type replanner struct {
	desk
	order  scheduler.Ranker
	second scheduler.SecondRanker
	// scratch of a dispatch
	rooms   []scheduler.Room
	running []queue.Key
	targets []target
	nodes   []int32
}

// target is where a job is to run: on some of the replanner's nodes.
type target struct {
	job      int32
	from, to int
}

func newReplanner(s Setup, order scheduler.Ranker) scheduler.Admitter {
	r := &replanner{desk: desk{Setup: s}, order: order}
	r.second, _ = order.(scheduler.SecondRanker)
	return r
}

// replans reports whether a policy places all jobs anew.
func (p *Policy) replans() bool {
	on, _ := p.Settings[replan.Name].(bool)
	return on
}

// HeldBack implements scheduler.Admitter.
func (r *replanner) HeldBack(scheduler.View, int32) string {
	return "has no place beside those before it"
}

// Admit implements scheduler.Admitter.
func (r *replanner) Admit(v scheduler.View, h scheduler.Hands) error {
	r.at(v, h)
	r.place()
	for _, k := range r.running {
		t := slices.IndexFunc(r.targets, func(t target) bool { return t.job == k.Job })
		switch {
		case t < 0:
			if err := h.Pause(k.Job, "others come before it"); err != nil {
				return err
			}
		case !slices.Equal(r.nodes[r.targets[t].from:r.targets[t].to], v.Job(k.Job).Home()):
			if err := h.Pause(k.Job, "moves to other nodes"); err != nil {
				return err
			}
		}
	}
	for _, t := range r.targets {
		if j := v.Job(t.job); j.State() != scheduler.Running {
			if err := h.Start(t.job, j.Request(), r.nodes[t.from:t.to], "first in the order"); err != nil {
				return err
			}
		}
	}
	return nil
}

// place finds the targets of all jobs that have one.
func (r *replanner) place() {
	r.rooms = append(r.rooms[:0], r.Machine().Free()...)
	r.running, r.targets, r.nodes = r.running[:0], r.targets[:0], r.nodes[:0]
	for _, number := range r.Running().All() {
		j := r.Job(number)
		j.Yield(r.rooms)
		r.running = append(r.running, r.keyOf(j))
	}
	slices.SortFunc(r.running, queue.Key.Compare)
	waiting, ahead := r.Waiting(), r.running
	next := waiting.Next(queue.Front, r.within())
	for next != nobody || len(ahead) > 0 {
		if next == nobody || len(ahead) > 0 && ahead[0].Less(waiting.KeyOf(next)) {
			r.fit(ahead[0].Job)
			ahead = ahead[1:]
			continue
		}
		after := waiting.KeyOf(next)
		r.fit(next)
		next = waiting.Next(after, r.within())
	}
}

// keyOf returns where a running job would stand in the queue.
func (r *replanner) keyOf(j scheduler.JobView) queue.Key {
	k := queue.Key{Rank: r.order.Rank(j), Second: int64(j.Job().Arrival), Job: j.Number()}
	if r.second != nil {
		k.Second = r.second.Second(j)
	}
	return k
}

// within leaves out the waiting jobs that no node has the cores for.
func (r *replanner) within() queue.Limit {
	most := int32(0)
	for _, room := range r.rooms {
		most = max(most, room.Cores)
	}
	return queue.Limit{Free: most, Window: scheduler.Never}
}

// fit gives a job its place, if there is one, in the first of its alternatives that has
// room.
func (r *replanner) fit(number int32) {
	j := r.Job(number)
	choices := j.Choices()
	for i := 0; ; i++ {
		if i < len(choices) {
			r.Choose(number, choices[i])
		}
		from := len(r.nodes)
		nodes, ok := j.FitsAnew(r.rooms, j.Request(), r.nodes)
		if ok {
			r.nodes = nodes
			j.TakeFrom(r.rooms, j.Request(), nodes[from:])
			r.targets = append(r.targets, target{number, from, len(nodes)})
			return
		}
		if i+1 >= len(choices) {
			return
		}
	}
}
