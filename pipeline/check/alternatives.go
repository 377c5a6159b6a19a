package check

import (
	"slices"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
)

// unweighedAlternatives warns of orders that rank a job by the run time of its fastest alternative, but start it with
// the first alternative that is free.
func (c *Checker) unweighedAlternatives() {
	for _, cell := range c.allCells() {
		p := cell.Policy
		if _, set := p.At["placement"]; set || p.Placement != policy.PlacementOf.Default() ||
			!leavesAlternativesOpen(p.Order) ||
			!slices.ContainsFunc(cell.Workload.JobBlocks(), hasAlternatives) || !c.First("ways", p) {
			continue
		}
		c.Add(experiments.WarningAt(language.Place(p.At, "order", p.Range), "Alternatives whose run times are not compared",
			"The policy %q ranks a job by the fastest of its alternatives, but starts it with the first that is free, "+
				"however slow. placement = \"pairs\" weighs each alternative; placement = \"first\" says that this is meant.",
			p.Name))
	}
}

// hasAlternatives reports whether a job can run with other resources instead of its request.
func hasAlternatives(j *experiment.Job) bool { return len(j.Alternatives) > 0 }

// WeighAlternatives sets the placement "pairs" in cells whose jobs have alternatives, if three conditions hold: the
// order uses predicted run times, the file sets no placement, and no other setting contradicts "pairs".
func (c *Checker) WeighAlternatives(cells []experiment.Cell) {
	weighed, open := map[*experiment.Policy]*experiment.Policy{}, map[*experiment.Workload]bool{}
	for i := range cells {
		cell := &cells[i]
		p := cell.Policy
		if _, set := p.At["placement"]; set || !byTime(p.Order) {
			continue
		}
		if _, ok := open[cell.Workload]; !ok {
			open[cell.Workload] = slices.ContainsFunc(cell.Workload.JobBlocks(), hasAlternatives)
		}
		if !open[cell.Workload] {
			continue
		}
		if weighed[p] == nil {
			weighed[p] = withPairsPlacement(p)
		}
		cell.Policy = weighed[p]
	}
}

// withPairsPlacement returns the policy p with the placement "pairs", or p itself if settings in the file contradict
// that.
func withPairsPlacement(p *experiment.Policy) *experiment.Policy {
	isSet := func(arg string) bool { _, ok := p.At[arg]; return ok }
	other := *p
	for _, q := range policy.Questions {
		if !isSet(string(q)) {
			other.Set(q, "")
		}
	}
	for _, c := range policy.PlacementOf.Choices() {
		if c.Weighs {
			other.Set(policy.PlacementOf, c.Name)
		}
	}
	other.Policy = other.Complete()
	if len(other.Problems(func(arg string) bool { return arg == string(policy.PlacementOf) || isSet(arg) })) > 0 {
		return p
	}
	return &other
}

// byTime reports whether an order ranks jobs by predicted run times alone.
func byTime(order policy.Order) bool {
	all := policy.OrderOf.Choices()
	return slices.ContainsFunc(all, func(o *policy.Choice) bool { return o.Name == order && o.ByTime })
}

// leavesAlternativesOpen reports whether an order ranks jobs by predicted run times, but does not choose an
// alternative.
func leavesAlternativesOpen(order policy.Order) bool {
	all := policy.OrderOf.Choices()
	i := slices.IndexFunc(all, func(o *policy.Choice) bool { return o.Name == order })
	return i >= 0 && all[i].Estimates &&
		!slices.ContainsFunc(all[i].Wants, func(w policy.Want) bool { return w.Of == policy.PlacementOf })
}
