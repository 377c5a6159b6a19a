// Package planned has the conservative backfill, and the placement that plans all jobs. It predicts free resources over
// time, from the predicted ends of running jobs, and reserves room for waiting jobs.
package planned

import (
	"slices"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/queue"
)

// Plan has the free resources of all nodes over time, as steps.
type Plan struct {
	Steps []Step
}

// Step is the free resources of each node from an instant to the next step.
type Step struct {
	At   time.Duration
	free []cluster.Room
}

// NewPlan returns the plan in which running jobs end as predicted and no other job starts.
func NewPlan(v scheduler.View) *Plan {
	free, running, now := v.Machine().Free(), v.Running(), v.Now()
	nodes, ends := len(free), running.Len()
	rooms := append(make([]cluster.Room, 0, (ends+1)*nodes), free...)
	p := &Plan{Steps: make([]Step, 1, 2*ends+8)}
	p.Steps[0] = Step{now, rooms[:nodes:nodes]}
	for i := range ends {
		end, job := running.End(i)
		j := v.Job(job)
		if end == scheduler.Never || j.Yields() {
			continue
		}
		at := max(end, now+1)
		if last := p.Steps[len(p.Steps)-1]; last.At != at {
			n := len(rooms)
			rooms = append(rooms, last.free...)
			p.Steps = append(p.Steps, Step{at, rooms[n : n+nodes : n+nodes]})
		}
		j.GiveBack(p.Steps[len(p.Steps)-1].free, false)
	}
	return p
}

// couldStart reports whether a node has the cores for a job from now on, for its predicted time.
func (p *Plan) couldStart(a queue.Ask) bool {
	end := EndOf(p.Steps[0].At, a.Length)
	for v := range p.Steps[0].free {
		i := 0
		for i < len(p.Steps) && p.Steps[i].At < end && p.Steps[i].free[v].Cores >= a.Cores {
			i++
		}
		if i == len(p.Steps) || p.Steps[i].At >= end {
			return true
		}
	}
	return false
}

// startable returns a limit that excludes waiting jobs that surely cannot start now. No node ever has fewer free cores
// than spare, so jobs that need more must end before only spare is left.
func (p *Plan) startable() queue.Limit {
	var within queue.Limit
	now := p.Steps[0]
	for v, r := range now.free {
		spare, at := r.Cores, now.At
		for _, s := range p.Steps[1:] {
			if s.free[v].Cores < spare {
				spare, at = s.free[v].Cores, s.At
			}
		}
		within.Free, within.Spare = max(within.Free, r.Cores), max(within.Spare, spare)
		within.Window = max(within.Window, at-now.At)
	}
	return within
}

// Startable is a waiting job that could start now, with its smallest request.
type Startable struct {
	Key queue.Key
	Ask queue.Ask
}

// FindStartable reports whether a job behind a place in the queue could start now. Planning only takes room, so a job
// that cannot start now cannot start later in this pass either. It tries the job found last time first.
func (p *Plan) FindStartable(waiting scheduler.WaitingJobs, after queue.Key, found *Startable) bool {
	if after.Less(found.Key) {
		if p.couldStart(found.Ask) {
			return true
		}
		after = found.Key
	}
	within := p.startable()
	for j := waiting.Peek(after, within); j != queue.Nobody; j = waiting.Peek(found.Key, within) {
		if *found = (Startable{waiting.KeyOf(j), waiting.AskOf(j)}); p.couldStart(found.Ask) {
			return true
		}
	}
	return false
}

// EndOf returns the end of a time span. The span has a positive length, even if a job has already run for its predicted
// time.
func EndOf(at, length time.Duration) time.Duration {
	length = max(length, 1)
	if length > scheduler.Never-at {
		return scheduler.Never
	}
	return at + length
}

// HasRoom reports whether the nodes have room for a job from step i on, for its predicted time.
func (p *Plan) HasRoom(j scheduler.JobView, cores int32, nodes []int32, i int) bool {
	end := EndOf(p.Steps[i].At, j.Length(cores))
	for ; i < len(p.Steps) && p.Steps[i].At < end; i++ {
		if !j.HeldBy(p.Steps[i].free, cores, nodes) {
			return false
		}
	}
	return true
}

// Earliest returns the first step from which a job has room for its predicted time, and the nodes. The step is negative
// if no known end of a job makes room.
func (p *Plan) Earliest(j scheduler.JobView, cores int32) (nodes []int32, step int) {
	need, count := j.Needs(cores)
	length := j.Length(cores)
	if len(p.Steps[0].free) == 1 && need.Parts == nil && count == 1 {
		return p.earliestOnOne(need, length)
	}
	lowest := make([]cluster.Room, len(p.Steps[0].free))
	for i := range p.Steps {
		copy(lowest, p.Steps[i].free)
		end := EndOf(p.Steps[i].At, length)
		for k := i + 1; k < len(p.Steps) && p.Steps[k].At < end; k++ {
			for v, r := range p.Steps[k].free {
				lowest[v] = leastOf(lowest[v], r)
			}
		}
		if nodes, ok := j.FitsIn(lowest, cores, nil); ok {
			return nodes, i
		}
	}
	return nil, -1
}

// leastOf returns the minimum of each resource.
func leastOf(a, b cluster.Room) cluster.Room {
	a.Cores, a.GPUs, a.Memory = min(a.Cores, b.Cores), min(a.GPUs, b.GPUs), min(a.Memory, b.Memory)
	return a
}

// earliestOnOne works as Earliest for a single node. A step without room excludes all starts up to it, so each step is
// visited once.
func (p *Plan) earliestOnOne(need cluster.Room, length time.Duration) (nodes []int32, step int) {
	for i, k := 0, 0; i < len(p.Steps); k++ {
		switch {
		case k == len(p.Steps) || k > i && p.Steps[k].At >= EndOf(p.Steps[i].At, length):
			return []int32{0}, i
		case !p.Steps[k].free[0].Holds(need):
			i = k + 1
		}
	}
	return nil, -1
}

// Reserve subtracts a job's need from the plan for its time span.
func (p *Plan) Reserve(j scheduler.JobView, cores int32, nodes []int32, at time.Duration) {
	end := EndOf(at, j.Length(cores))
	for i := p.split(at); i < len(p.Steps) && p.Steps[i].At < end; i++ {
		if i+1 == len(p.Steps) || p.Steps[i+1].At > end {
			p.split(end)
		}
		j.TakeFrom(p.Steps[i].free, cores, nodes)
	}
}

// split ensures that a step begins at an instant, and returns its index.
func (p *Plan) split(at time.Duration) int {
	i, found := slices.BinarySearchFunc(p.Steps, at, func(s Step, at time.Duration) int {
		return int(min(max(s.At-at, -1), 1))
	})
	if !found && at != scheduler.Never {
		p.Steps = slices.Insert(p.Steps, i, Step{at, slices.Clone(p.Steps[i-1].free)})
	}
	return i
}
