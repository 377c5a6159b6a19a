package decode

import (
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/stages/experiment"
)

// losses reads the losses that a job reports in simulation.
func (d *Decoder) losses(a *eval.Args, v *runtimeArgs) []float64 {
	if !a.IsSet("losses") || !a.OK {
		return nil
	}
	from, at := d.Find(v.Losses), a.Node.Attr("losses").Expr.Range()
	rows, ok := d.Columns(a, at, from, []string{v.LossColumn}, nil)
	if ok && len(rows) == 0 {
		a.Fail(at, "Table without rows", "%s has no losses.", from.Shown)
	}
	return schema.Each(rows, func(row []float64) float64 { return row[0] })
}

// checkLosses reports recorded losses that a job does not use, or that are too few
// for it.
func checkLosses(rt *eval.Node, a *eval.Args, j *experiment.Job) {
	losses := j.Runtime.Losses
	if len(losses) == 0 || !a.OK {
		return
	}
	at := rt.Attr("losses").Expr.Range()
	all, unit := j.Epochs, "epochs"
	if j.Steps > 0 {
		all, unit = j.Steps, "steps"
	}
	switch {
	case j.TargetLoss == 0:
		a.Fail(at, "Argument that nothing reads",
			"losses are read only for a job with a target_loss, which %q lacks.", j.Name)
	case j.Runtime.Whole:
		a.Fail(at, "Contradicting arguments",
			"A job with losses takes a time for each of its %s until its target. Use per = \"epoch\".", unit)
	case len(losses) < all && j.Done() == all:
		a.Fail(at, "Too few losses", "The file has the losses of %d %s, in which the target_loss of %g is not reached; "+
			"the job may train for %d.", len(losses), unit, j.TargetLoss, all)
	}
}
