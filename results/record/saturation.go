package record

import "fmt"

// Saturation is the code of the warning that a cell is saturated.
const Saturation = "saturated"

// saturation returns the warning about a saturated cell, if the cell is saturated.
func (c *Cell) saturation() (Warning, bool) {
	const end = "; the means depend on the number of submitted jobs"
	w := Warning{Code: Saturation, Cell: c.Cell}
	switch {
	case !c.Load.Saturated:
		return w, false
	case c.Closed > 0:
		w.Text = "overloaded: jobs still waited when the cell was closed, and means include only finished jobs"
	case c.Load.Offered >= 1.05:
		w.Text = fmt.Sprintf("overloaded: jobs arrive %.1f times as fast as the hardware can run them", c.Load.Offered) + end
	case c.Load.Queued > 0:
		w.Text = fmt.Sprintf("overloaded: %d jobs still waited when the last one arrived; means depend on where the jobs end",
			c.Load.Queued)
	default:
		w.Text = "overloaded: jobs arrive faster than this policy can run them on this hardware" + end
	}
	return w, true
}
