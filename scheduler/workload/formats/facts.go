package formats

import (
	"fmt"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
)

// Facts is a set of facts about jobs that a file can have.
type Facts uint

// The facts.
const (
	RunTimes       Facts = 1 << iota // run time of the job on its full request
	RequestedTimes                   // run time that the user requested
	Memory
	GPUs
	Nodes // more than one node
	Sizes // whether it can be resized, its least and most threads
	Priorities
	Deadlines
	Users
	Resizes // changes of requests during the run
	Batches // batch sizes
	Alternatives
	end

	Everything = end - 1
)

// facts has two names of each fact: in lists ("run times"), and as a property of a job ("a separate run time").
var facts = []struct {
	fact      Facts
	name, one string
}{
	{RunTimes, "run times", "a run time of its own"},
	{RequestedTimes, "requested times", "a requested time"},
	{Memory, "memory", "a memory"},
	{GPUs, "GPUs", "GPUs"},
	{Nodes, "nodes", "several nodes"},
	{Sizes, "sizes of malleable jobs", "a size that changes"},
	{Priorities, "priorities", "a priority"},
	{Deadlines, "deadlines", "a deadline"},
	{Users, "users", "a user"},
	{Resizes, "changes of requests", "a change of its request"},
	{Batches, "batch sizes", "a batch size"},
	{Alternatives, "alternatives", "alternatives"},
}

// Names returns the names of the facts, for lists.
func (f Facts) Names() []string {
	var names []string
	for _, x := range facts {
		if f&x.fact != 0 {
			names = append(names, x.name)
		}
	}
	return names
}

// factsOf returns the facts that a workload has about job i, except for changes of its request.
func factsOf(t *workload.Trace, i int) Facts {
	j, has := &t.Jobs[i], Facts(0)
	add := func(f Facts, ok bool) {
		if ok {
			has |= f
		}
	}
	add(RunTimes, t.Timed(i))
	add(RequestedTimes, j.Predicted > 0)
	add(Memory, j.Memory > 0)
	add(GPUs, j.GPUs > 0)
	add(Nodes, j.Nodes > 1)
	add(Sizes, j.Malleable || j.MinThreads > 1 || j.MaxThreads > 0)
	add(Priorities, j.Priority > 0)
	add(Deadlines, j.Deadline != scheduler.Never)
	add(Users, j.User != "")
	add(Batches, j.Batch() > 0)
	add(Alternatives, len(t.AlternativesOf(i)) > 0)
	return has
}

// check returns an error about the first job that has a fact which the format cannot hold, or lacks a run time that
// the format needs.
func (f *Format) check(t *workload.Trace) error {
	lost := ^(f.Holds | f.FromJobBlocks)
	if lost&Resizes != 0 && len(t.Resizes) > 0 {
		return CannotHold(&t.Jobs[t.Resizes[0].Job], "a change of its request")
	}
	for i := range t.Jobs {
		for _, x := range facts {
			if x.fact&lost&factsOf(t, i) != 0 {
				return CannotHold(&t.Jobs[i], x.one)
			}
		}
		if f.NeedsRunTimes && !t.Timed(i) {
			return fmt.Errorf("job %q has no run time, because its job block has no runtime block: %w", t.Jobs[i].Name,
				ErrCannotHold)
		}
	}
	return nil
}

// CannotHold returns the error for a job with a property that a format cannot hold, such as "a name with a comma".
// It wraps ErrCannotHold.
func CannotHold(j *scheduler.Job, what string) error {
	return fmt.Errorf("job %q has %s: %w", j.Name, what, ErrCannotHold)
}
