package describe

import (
	"fmt"

	"github.com/tfexp/tfexp/experiments"
)

// contentionText describes the contention of a machine, for keys.
func contentionText(c *experiments.Contention) string {
	s := fmt.Sprintf("serial %g, capacity %g, sharpness %g", c.Law.Serial, c.Law.Capacity, c.Law.Sharpness)
	if c.Threads > 0 {
		s += ", on " + plural(c.Threads, "core")
	}
	return s
}
