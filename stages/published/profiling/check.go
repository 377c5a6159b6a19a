package profiling

import (
	"slices"

	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
)

// rule reports a policy that takes samples of jobs on the cluster, if these samples cannot be simulated.
func rule(c *language.Checker, cell experiment.Cell) {
	w, h, p := cell.Workload, cell.Hardware, cell.Policy
	if termsOf(p.Settings) == nil || !c.First(w, h, p) {
		return
	}
	at := language.Place(p.At, setting, p.Range)
	switch {
	case h.Real():
		c.Fail(at, "Profiling on real hardware",
			"The policy %q runs samples of jobs on the cluster, which only simulated jobs can; jobs of the hardware %q "+
				"really run. They are sampled before (see the block profile).", p.Name, h.Name)
		return
	case h.Kind().Recorded:
		c.Fail(at, "Profiling of recorded runs",
			"The hardware %q replays whole runs: no part of them can run as a sample.", h.Name)
		return
	case h.Cluster.Changes():
		c.Fail(at, "Profiling on servers that come and go",
			"The policy %q runs samples of jobs, and the hardware %q has servers that come and go: what happens to a "+
				"sample whose server is lost is not known.", p.Name, h.Name)
		return
	case p.Promises():
		c.Fail(at, "Profiling beside reservations",
			"The backfill %q of the policy %q promises each job when it starts at the latest, and samples that come first "+
				"would break that. The others do not promise anything.", p.Backfill, p.Name)
		return
	case p.Corrected():
		c.Fail(at, "Profiling beside estimates that follow the jobs",
			"The estimates of the policy %q are corrected while jobs run; a sample would count as progress.", p.Name)
		return
	}
	bounded := slices.ContainsFunc(w.Submits, func(s experiment.Submit) bool { return s.Budget != nil })
	for _, j := range w.JobBlocks() {
		if j.Budget != nil || bounded {
			c.Fail(at, "Profiling of jobs with a budget",
				"Jobs of the workload %q have a budget, which samples would use up.", w.Name)
			return
		}
	}
}
