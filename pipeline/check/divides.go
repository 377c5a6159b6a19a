package check

import (
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
)

// divides checks that a policy which divides jobs over nodes has hardware that can run them so.
func (c *Checker) divides(p *experiment.Policy, h *experiment.Hardware) {
	if !p.Divides() {
		return
	}
	at := language.Place(p.At, "nodes", p.Range)
	switch check := h.Kind().CheckJob; {
	case h.Cluster.Changes():
		c.Fail(at, "Nodes that come and go", "The policy %q divides jobs over nodes, and nodes of the hardware %q come "+
			"and go: leave nodes out.", p.Name, h.Name)
	case h.Real() && check != nil:
		gang := check(h.ForEngine(), &engine.Job{Name: "of several nodes", Threads: 2, Nodes: 2}, c.host())
		for _, problem := range gang {
			if problem.Arg == "nodes" {
				c.Fail(at, "Engine without jobs of several nodes", "The policy %q divides jobs over nodes, and the "+
					"engine %q of the hardware %q runs each job on one node.", p.Name, h.Engine, h.Name)
				return
			}
		}
	}
}
