package servers

import (
	"slices"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
	"github.com/tfexp/tfexp/stages/servers/strategies"
)

// provisioning checks that a policy that rents servers has nodes to rent, and jobs for which it can plan.
func provisioning(c *language.Checker, cell experiment.Cell) {
	w, h, p := cell.Workload, cell.Hardware, cell.Policy
	rents := strategies.Of(&p.Policy)
	if rents == nil || !c.First(w, h, p) {
		return
	}
	if c.First("rents", h, p) {
		rentable(c, h, p, rents)
	}
	if rents.Deadline && w.Trace != nil && slices.ContainsFunc(w.Trace.Jobs,
		func(j scheduler.Job) bool { return j.Within() == 0 }) {
		c.Fail(language.Place(p.At, "provisioning", p.Range), "Jobs without a deadline",
			"The provisioning %q plans by deadlines, but the trace of the workload %q has jobs without a deadline.", rents.Name, w.Name)
	}
	for _, s := range w.Submits {
		j := s.Job
		if rents.Moves && checkpointOf(j) == nil && c.First("checkpoint", j) {
			c.Fail(j.Range, "Job without checkpoints", "The provisioning %q takes jobs from one server to another: without a "+
				"checkpoint block the job %q would start from the beginning each time.", rents.Name, j.Name)
		}
		if !rents.Deadline {
			continue
		}
		at := s.Range
		if s.Deadline == j.Deadline {
			at = language.Place(j.At, "deadline", j.Range)
		}
		switch work, known := shortest(j); {
		case s.Deadline == 0 && c.First("no deadline", j):
			c.Fail(j.Range, "Job without a deadline", "The provisioning %q plans by deadlines: the job %q needs one, for "+
				"example deadline = \"52h\".", rents.Name, j.Name)
		case s.Deadline > 0 && known && work > s.Deadline && c.First("deadline", j, s.Deadline):
			c.Fail(at, "Deadline shorter than the work", "The job %q takes %s on any server, and must be done within %s.",
				j.Name, schema.FormatDuration(work), schema.FormatDuration(s.Deadline))
		}
	}
}

// rentable checks that the hardware has the nodes that a policy rents.
func rentable(c *language.Checker, h *experiment.Hardware, p *experiment.Policy, rents *strategies.Choice) {
	var markets, regions []string
	wanted := strategies.Regions(&p.Policy)
	windows, terms := 0, termsOf(h)
	for i, n := range h.Cluster.Nodes {
		if n.Supply != cluster.OnRequest {
			continue
		}
		if len(wanted) == 0 || slices.Contains(wanted, n.Region) {
			markets = append(markets, n.Market)
		}
		if !slices.Contains(regions, n.Region) {
			regions = append(regions, n.Region)
		}
		if t := terms[i]; t != nil {
			windows = max(windows, len(t.Windows))
		}
	}
	for _, r := range wanted {
		if !slices.Contains(regions, r) {
			c.Fail(language.Place(p.At, "regions", p.Range), "Unknown region",
				"No node on request of the hardware %q is in the region %q; "+
					"there are %s.", h.Name, r, strings.Join(regions, ", "))
			return
		}
	}
	for _, need := range []struct {
		market string
		needed bool
	}{{"spot", rents.Spot}, {"on_demand", rents.OnDemand}} {
		if need.needed && !slices.Contains(markets, need.market) {
			c.Fail(language.Place(p.At, "provisioning", p.Range), "No servers to rent",
				"The provisioning %q needs nodes with market = %q "+
					"and acquire = \"on_request\", which the hardware %q does not have.", rents.Name, need.market, h.Name)
		}
	}
	if windows > 0 && c.Spec.Replicates > windows {
		c.Fail(h.Range, "Fewer records than replicates", "There are %s, and each replicate needs another record of "+
			"availability: "+
			"the hardware %q has %d.", schema.Plural(c.Spec.Replicates, "replicate"), h.Name, windows)
	}
}

// shortest returns the least run time of a job on any server; false if the file does not give it directly.
func shortest(j *experiment.Job) (time.Duration, bool) {
	rt := j.Runtime
	if rt == nil || !rt.Epoch.Fixed() || len(rt.Parts) > 0 || len(rt.GPURates) > 0 || j.RunsAsSeveralPrograms() || j.EndsEarly() ||
		j.Placed() || j.Threads.Request != max(rt.Threads, 1) {
		return 0, false
	}
	units := max(j.Epochs, j.Steps)
	if rt.Whole {
		units = 1
	}
	return rt.Startup + time.Duration(units)*rt.Epoch.Mean, true
}
