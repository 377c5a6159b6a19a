package policy

import (
	"fmt"

	"github.com/tfexp/tfexp/experiments/schema"
)

// replanning is the setting of preemption that places all jobs again at each dispatch.
var replanning = schema.Arg{
	Name: "replan", Type: schema.Bool, DefaultDoc: "off", Example: `true`,
	Doc: "Whether all jobs are placed again, in the order, when a job arrives or ends. This implies " +
		"`backfill = \"first_fit\"`. Under the placement `pairs`, pairs of a job and an alternative are placed again, so a " +
		"running job changes to another alternative when that is free.",
}

// replanWants are the requirements of the setting replan on other choices.
var replanWants = []Want{
	{Of: BackfillOf, Name: FirstFit, Detail: "With replan, jobs that do not fit are passed over, " +
		"which is backfill = \"first_fit\"."},
	{Of: AllocationOf, Name: Strict, Detail: "With replan, jobs are given what they ask for: allocation = " +
		"\"strict\"."},
	{Of: NodesOf, Name: OneNode, Detail: "With replan, a job that is larger than a node asks for whole nodes " +
		"(its argument " +
		"nodes): nodes = \"one\"."},
}

// replans reports whether a policy places all jobs again at each dispatch.
func (p *Policy) replans() bool {
	on, _ := p.Settings[replanning.Name].(bool)
	return on
}

// replanProblems returns the settings that contradict replan.
func (p *Policy) replanProblems() []Problem {
	if !p.replans() {
		return nil
	}
	var all []Problem
	add := func(detail string) { all = append(all, Problem{Arg: replanning.Name, Detail: detail}) }
	if order := orders.find(p.Order); order != nil && order.RequeueAfterQuantum {
		add(fmt.Sprintf("With replan, all jobs are placed by the order; under the order %q jobs take turns.", p.Order))
	}
	for _, w := range replanWants {
		if p.Get(w.Of) != w.Name {
			add(w.Detail)
		}
	}
	if c := placements.find(p.Placement); c != nil && c.Replan == nil {
		add(fmt.Sprintf("With replan, jobs are placed as if nothing ran, and there is no plan of when resources will be "+
			"free, as the placement %q wants.", p.Placement))
	}
	return all
}
