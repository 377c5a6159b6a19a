package servers

import (
	"math"
	"strconv"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
)

// checkpointArgs are the arguments of a checkpoint block.
//
// When a job saves its work, and the cost of saving. A job that loses its server restarts from its last
// checkpoint; without this block it starts from the beginning. A real program reads the interval in
// `TFEXP_CHECKPOINT_EVERY`, and may also save its work when it is warned or asked to end; `cost` and `restore`
// are then for the rules and for its simulation.
//
//	job "long" {
//	  builtin "mlp" {}
//	  epochs = 60
//	  runtime { epoch = "10m" }
//	  checkpoint {
//	    every   = "daly"
//	    cost    = "10s"
//	    restore = "1m"
//	  }
//	}
type checkpointArgs struct {
	// The time between checkpoints, a number of epochs or steps, or the interval that `"young"` or `"daly"` derive from
	// `cost` and the mean time between losses of servers. With the cost δ and the mean time M, the interval is √(2δM)
	// for `"young"`, and √(2δM) (1 + ⅓√(δ/2M) + δ/18M) − δ for `"daly"`.
	//
	//	every = "10m"
	Every string `arg:"every,required"`
	// The time for which the job stops to write a checkpoint.
	//
	//	cost = "3.4s"
	Cost time.Duration `arg:"cost" default:"0s"`
	// The time to restart from a checkpoint.
	//
	//	restore = "5s"
	Restore time.Duration `arg:"restore" default:"0s"`
}

// Checkpoint describes when a job saves its work. One of three fields is set: Every, Units (epochs or steps), or Rule
// ("young" or "daly").
type Checkpoint struct {
	Every         time.Duration
	Units         int
	Rule          string
	Cost, Restore time.Duration
}

// decodeCheckpoint decodes the checkpoint block of a job.
func decodeCheckpoint(d *language.Decoder, b language.Block, j *experiment.Job) {
	n := b.Node.First("checkpoint")
	if n == nil {
		return
	}
	length := j.Length()
	var v checkpointArgs
	a := d.Decode(n, b.Env, &v)
	c := &Checkpoint{Cost: v.Cost, Restore: v.Restore}
	every := v.Every
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
		if c.Every, err = schema.ParseDuration(every); err != nil || c.Every == 0 {
			a.Fail(a.At("every"), "Not an interval", "every is %q: it is a duration above 0s, a number of epochs or "+
				"steps, \"young\" or \"daly\".", every)
		}
	}
	b.OK = b.OK && a.OK
	j.Parts = append(j.Parts, c)
}
