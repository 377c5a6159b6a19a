package realise

import (
	"fmt"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/hardware/simulated"
)

// contention is how the jobs of a simulated machine slow each other down; nil
// if they do not.
func contention(h *experiments.Hardware) *simulated.Contention {
	c := h.Contention
	if c == nil {
		return nil
	}
	return &simulated.Contention{
		Cluster: h.Cluster,
		Slowdown: func(own, others, cores int) float64 {
			if c.Threads > 0 {
				cores = c.Threads
			}
			return c.Law.Slowdown(float64(own), float64(others), float64(cores))
		},
	}
}

// contentionText describes the contention of a machine, for keys.
func contentionText(c *experiments.Contention) string {
	s := fmt.Sprintf("serial %g, capacity %g, sharpness %g", c.Law.Serial, c.Law.Capacity, c.Law.Sharpness)
	if c.Threads > 0 {
		s += ", on " + plural(c.Threads, "core")
	}
	return s
}
