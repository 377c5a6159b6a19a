package record

import "fmt"

// Saturation is the code of the warning that a cell is saturated.
const Saturation = "saturated"

// saturation is the warning that a saturated cell has.
func (c *Cell) saturation() (Warning, bool) {
	const end = "; means depend on how many were submitted"
	w := Warning{Code: Saturation, Cell: c.Cell}
	switch {
	case !c.Load.Saturated:
		return w, false
	case c.Closed > 0:
		w.Text = "saturated: jobs still waited when the cell was closed; means are over those that finished"
	case c.Load.Offered >= 1.05:
		w.Text = fmt.Sprintf("saturated: the jobs arrive %.1f times as fast as they can be done%s", c.Load.Offered, end)
	default:
		w.Text = "saturated: the jobs arrive faster than this policy gets them done on this hardware" + end
	}
	return w, true
}
