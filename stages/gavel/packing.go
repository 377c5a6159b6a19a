package gavel

import (
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
)

func init() {
	language.RegisterRule(func(c *language.Checker, cell experiment.Cell) {
		if w, h, p := cell.Workload, cell.Hardware, cell.Policy; c.First(w, h, p) {
			checkPacking(c, w, h, p)
		}
	})
}

// checkPacking reports a policy that lets two jobs share GPUs if no two jobs can share.
func checkPacking(c *language.Checker, w *experiment.Workload, h *experiment.Hardware, p *experiment.Policy) {
	if !p.Packs() {
		return
	}
	at := language.Place(p.At, policy.Packing, p.Range)
	switch {
	case h.Real():
		c.Fail(at, "Packing on real hardware",
			"The policy %q lets two jobs share GPUs, which only simulated jobs can; jobs of the hardware %q really run.",
			p.Name, h.Name)
	case h.Contention != nil:
		c.Fail(at, "Packing under contention",
			"The policy %q lets two jobs share GPUs, and the hardware %q slows jobs down by what their neighbors hold: "+
				"the effect of both together is not known.", p.Name, h.Name)
	case !haveNeighbours(w):
		c.Fail(at, "Packing of jobs without measured pairs",
			"No job of the workload %q says how fast it is beside another one. Take a table of throughputs with pairs, or "+
				"give the runtime of job blocks the argument beside.", w.Name)
	case !threadsForTwo(h):
		c.Fail(at, "No threads for a second job on a GPU",
			"Two jobs that share a GPU have threads of their own, but no node of the hardware %q has more threads "+
				"than GPUs.", h.Name)
	}
}

// haveNeighbours reports whether a job of a workload can share GPUs.
func haveNeighbours(w *experiment.Workload) bool {
	for _, j := range w.JobBlocks() {
		for _, one := range j.WithAlternatives() {
			if one.Runtime != nil && len(one.Runtime.Neighbours) > 0 {
				return true
			}
		}
	}
	return false
}

// threadsForTwo reports whether a node has threads for more jobs than it has GPUs.
func threadsForTwo(h *experiment.Hardware) bool {
	for _, n := range h.Cluster.Nodes {
		if n.GPUs > 0 && n.Threads > n.GPUs {
			return true
		}
	}
	return false
}
