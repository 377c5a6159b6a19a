package blocks

import (
	"path/filepath"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/hardware/launch"
)

// progress decodes the event files by which a job's program reports how far it has come.
func (d *Decoder) progress(n *eval.Node, e *eval.Env, a *eval.Args, j *experiments.Job) {
	pn := n.First("progress")
	if pn == nil {
		return
	}
	pa := d.EvalArgs(pn, e)
	defer func() { a.OK = a.OK && pa.OK }()
	j.Events = &launch.EventFiles{
		Below: eval.Get[string](pa, "tensorboard"), Loss: eval.Get[string](pa, "loss"),
		Accuracy: eval.Get[string](pa, "accuracy"), Epochs: eval.Get[string](pa, "counts") == "epochs",
	}
	switch {
	case n.First("builtin") != nil:
		pa.Fail(pn.Header, "Block that nothing reads", "Built-in programs print their progress; progress is for a command.")
	case !pa.OK || pn.Broken:
	case !filepath.IsLocal(j.Events.Below):
		pa.Fail(pa.At("tensorboard"), "Folder that cannot be read",
			"The folder of event files is relative to the job's checkpoint folder, and below it: let the program write "+
				"to $TFEXP_CHECKPOINT_DIR/logs, say, and name \"logs\" here.")
	case j.Events.Loss == "" && j.Events.Accuracy == "":
		pa.Fail(pn.Header, "Event files that nothing is read from", "Name the scalar of the loss, the accuracy, or both.")
	}
}
