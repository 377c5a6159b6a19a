package blocks

import (
	"math"
	"strconv"
	"time"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/units"
)

// checkpoint decodes a checkpoint block.
func (d *Decoder) checkpoint(n *eval.Node, e *eval.Env, length int) (*experiments.Checkpoint, bool) {
	a := d.EvalArgs(n, e)
	c := &experiments.Checkpoint{
		Cost: eval.Get[time.Duration](a, "cost"), Restore: eval.Get[time.Duration](a, "restore"),
	}
	every := eval.Get[string](a, "every")
	steps, err := strconv.ParseFloat(every, 64)
	switch {
	case !a.Has("every"):
	case every == "young" || every == "daly":
		c.Rule = every
		if c.Cost == 0 && !a.IsSet("cost") {
			a.Fail(a.At("every"), "Missing argument", "%q needs the cost of a checkpoint.", every)
		}
	case err == nil:
		if steps != math.Trunc(steps) || steps < 1 {
			a.Fail(a.At("every"), "Value out of range", "every is %s: a number of epochs or steps is whole and at least 1.", every)
			break
		}
		c.Units = int(steps)
		if length > 0 && c.Units > length {
			a.Fail(a.At("every"), "Value out of range", "every is %d epochs or steps, but the job has %d.", c.Units, length)
		}
	default:
		if c.Every, err = units.ParseDuration(every); err != nil || c.Every == 0 {
			a.Fail(a.At("every"), "Not an interval", "every is %q: it is a duration above 0s, a number of epochs or "+
				"steps, \"young\" or \"daly\".", every)
		}
	}
	return c, a.OK
}
