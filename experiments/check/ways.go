package check

import (
	"slices"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/scheduler/policy"
)

// unweighedWays warns of orders by predicted run times that leave open with which of its
// alternatives a job starts: they rank it by the fastest, and it gets the first that is free.
func (c *Checker) unweighedWays() {
	type policyOf struct{ of *experiments.Policy }
	for _, cell := range c.allCells() {
		p := cell.Policy
		several := func(j *experiments.Job) bool { return len(j.Alternatives) > 0 }
		if _, set := p.At["placement"]; set || !leavesWaysOpen(p.Order) ||
			!slices.ContainsFunc(cell.Workload.JobBlocks(), several) || !c.first(policyOf{p}) {
			continue
		}
		c.Add(experiments.WarningAt(place(p.At, "order", p.Range), "Alternatives that the order does not weigh",
			"The policy %q ranks a job by the fastest of its alternatives, but starts it with the first that is free, "+
				"however slow. placement = \"pairs\" weighs each alternative; placement = \"first\" says that this is meant.",
			p.Name))
	}
}

// leavesWaysOpen reports whether an order goes by predicted run times and does not choose alternatives.
func leavesWaysOpen(order policy.Order) bool {
	all := policy.OrderOf.Choices()
	i := slices.IndexFunc(all, func(o *policy.Choice) bool { return o.Name == string(order) })
	return i >= 0 && all[i].Estimates &&
		!slices.ContainsFunc(all[i].Wants, func(w policy.Want) bool { return w.Of == policy.PlacementOf })
}
