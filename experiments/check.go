package experiments

import (
	"slices"

	"github.com/tfexp/tfexp/scheduler"
)

// Capabilities returns what the hardware's engine can do.
func (h *Hardware) Capabilities() scheduler.Capabilities {
	can := func(what string) bool { return !slices.Contains(h.Lacks, what) }
	c := scheduler.Capabilities{Pause: can("pause"), Resize: can("resize"), Memory: can("memory"), GPUs: can("gpus")}
	if h.Engine == "process" {
		// Memory is a matter of admission there; nothing limits a process.
		c.Memory = false
	}
	if h.Real() {
		c.GPUs = slices.ContainsFunc(h.Cluster.Nodes, func(n scheduler.Node) bool { return n.GPUs > 0 })
	}
	return c
}
