package policy

import (
	"slices"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/queue"
)

// plan says what is free from each of its instants to the next.
type plan struct {
	steps []planStep
}

type planStep struct {
	at   time.Duration
	free []scheduler.Room
}

// planRunning returns the plan in which nobody starts any more.
func planRunning(v scheduler.View) *plan {
	free, running, now := v.Machine().Free(), v.Running(), v.Now()
	nodes, ends := len(free), running.Len()
	rooms := append(make([]scheduler.Room, 0, (ends+1)*nodes), free...)
	p := &plan{steps: make([]planStep, 1, 2*ends+8)}
	p.steps[0] = planStep{now, rooms[:nodes:nodes]}
	for i := range ends {
		end, job := running.End(i)
		j := v.Job(job)
		if end == scheduler.Never || j.Yields() {
			continue
		}
		at := max(end, now+1)
		if last := p.steps[len(p.steps)-1]; last.at != at {
			n := len(rooms)
			rooms = append(rooms, last.free...)
			p.steps = append(p.steps, planStep{at, rooms[n : n+nodes : n+nodes]})
		}
		j.GiveBack(p.steps[len(p.steps)-1].free)
	}
	return p
}

// couldStart reports whether some node has the cores for a job from now on, for as
// long as it is predicted to run.
func (p *plan) couldStart(a queue.Ask) bool {
	end := until(p.steps[0].at, a.Length)
	for v := range p.steps[0].free {
		i := 0
		for i < len(p.steps) && p.steps[i].at < end && p.steps[i].free[v].Cores >= a.Cores {
			i++
		}
		if i == len(p.steps) || p.steps[i].at >= end {
			return true
		}
	}
	return false
}

// startable returns a limit that leaves out waiting jobs which can surely not
// start now: on no node are there ever fewer cores than spare, and those who ask
// for more have to end before that is all there is.
func (p *plan) startable() queue.Limit {
	var within queue.Limit
	now := p.steps[0]
	for v, r := range now.free {
		spare, at := r.Cores, now.at
		for _, s := range p.steps[1:] {
			if s.free[v].Cores < spare {
				spare, at = s.free[v].Cores, s.at
			}
		}
		within.Free, within.Spare = max(within.Free, r.Cores), max(within.Spare, spare)
		within.Window = max(within.Window, at-now.at)
	}
	return within
}

// startable is a waiting job that could start now beside a plan, as far as its
// least request tells.
type startable struct {
	key queue.Key
	ask queue.Ask
}

// lookAhead reports whether there is such a job behind a place in the queue. What is
// planned only takes room, so a job that could not start now will not later in the
// same pass, and the one that was found before is looked at first.
func (p *plan) lookAhead(waiting scheduler.WaitingJobs, after queue.Key, found *startable) bool {
	if after.Less(found.key) {
		if p.couldStart(found.ask) {
			return true
		}
		after = found.key
	}
	within := p.startable()
	for j := waiting.Peek(after, within); j != nobody; j = waiting.Peek(found.key, within) {
		if *found = (startable{waiting.KeyOf(j), waiting.AskOf(j)}); p.couldStart(found.ask) {
			return true
		}
	}
	return false
}

// until returns the end of a stretch. Even a job that has run for as long as
// it was predicted to takes some time.
func until(at, length time.Duration) time.Duration {
	length = max(length, 1)
	if length > scheduler.Never-at {
		return scheduler.Never
	}
	return at + length
}

// free reports whether the nodes have room for the job from step i on, for as
// long as it is predicted to run.
func (p *plan) free(j scheduler.JobView, cores int32, nodes []int32, i int) bool {
	end := until(p.steps[i].at, j.Length(cores))
	for ; i < len(p.steps) && p.steps[i].at < end; i++ {
		if !j.HeldBy(p.steps[i].free, cores, nodes) {
			return false
		}
	}
	return true
}

// earliest returns the first step from which on there is room for a job for as
// long as it is predicted to run, and where. The step is negative for a job
// for which no end that is known makes room.
func (p *plan) earliest(j scheduler.JobView, cores int32) (nodes []int32, step int) {
	need, _ := j.Needs(cores)
	length := j.Length(cores)
	if len(p.steps[0].free) == 1 && need.Parts == nil {
		return p.earliestOnOne(need, length)
	}
	lowest := make([]scheduler.Room, len(p.steps[0].free))
	for i := range p.steps {
		copy(lowest, p.steps[i].free)
		end := until(p.steps[i].at, length)
		for k := i + 1; k < len(p.steps) && p.steps[k].at < end; k++ {
			for v, r := range p.steps[k].free {
				lowest[v] = leastOf(lowest[v], r)
			}
		}
		if nodes, ok := j.FitsIn(lowest, cores, nil); ok {
			return nodes, i
		}
	}
	return nil, -1
}

// leastOf returns what two rooms both have.
func leastOf(a, b scheduler.Room) scheduler.Room {
	a.Cores, a.GPUs, a.Memory = min(a.Cores, b.Cores), min(a.GPUs, b.GPUs), min(a.Memory, b.Memory)
	return a
}

// earliestOnOne is earliest on a single node: a step without room rules out all
// starts up to it, so that each step is looked at once.
func (p *plan) earliestOnOne(need scheduler.Room, length time.Duration) (nodes []int32, step int) {
	for i, k := 0, 0; i < len(p.steps); k++ {
		switch {
		case k == len(p.steps) || k > i && p.steps[k].at >= until(p.steps[i].at, length):
			return []int32{0}, i
		case !p.steps[k].free[0].Holds(need):
			i = k + 1
		}
	}
	return nil, -1
}

// book takes what a job needs out of the plan for its stretch.
func (p *plan) book(j scheduler.JobView, cores int32, nodes []int32, at time.Duration) {
	end := until(at, j.Length(cores))
	for i := p.split(at); i < len(p.steps) && p.steps[i].at < end; i++ {
		if i+1 == len(p.steps) || p.steps[i+1].at > end {
			p.split(end)
		}
		j.TakeFrom(p.steps[i].free, cores, nodes)
	}
}

// split makes sure that a step begins at an instant within the plan, and
// returns its index.
func (p *plan) split(at time.Duration) int {
	i, found := slices.BinarySearchFunc(p.steps, at, func(s planStep, at time.Duration) int {
		return int(min(max(s.at-at, -1), 1))
	})
	if !found && at != scheduler.Never {
		p.steps = slices.Insert(p.steps, i, planStep{at, slices.Clone(p.steps[i-1].free)})
	}
	return i
}
