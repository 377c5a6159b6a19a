package decode

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
)

// progressArgs are the arguments of a progress block.
//
// How a `command` that does not print the progress lines of the job contract says how far it has come: by
// other lines that it prints (`lines`), or by the event files of TensorBoard (`tensorboard`), which TensorFlow
// and PyTorch write, below its checkpoint folder (`$TFEXP_CHECKPOINT_DIR`, which each job has for itself).
// While the job runs they are read along with its output. A name is the scalar's name, or its run and name, as
// TensorBoard shows them (`train/epoch_loss`). A
// file that is damaged, or that never comes, is a warning. On a Docker daemon of another machine the files
// cannot be seen.
//
//	job "resnet" {
//	  command = ["sh", "-c", "exec python3 train.py --logdir $TFEXP_CHECKPOINT_DIR/logs"]
//	  steps   = 64000
//	  progress {
//	    tensorboard = "logs"
//	    loss        = "train/loss"
//	    accuracy    = "validation/accuracy"
//	  }
//	}
type progressArgs struct {
	// A regular expression for the progress lines of the program: one line for each epoch or step.
	// Its groups are called `epoch` (epochs that are finished), `epoch0` (the same, counted from 0), `step`, `loss`
	// and `accuracy`. Without a count, each line is one more. A program that does not flush its output reports its
	// progress late; `python3 -u` flushes it.
	//
	//	lines = "Epoch (?P<epoch>[0-9]+)/.*loss: (?P<loss>[0-9.]+)"
	Lines string `arg:"lines"`
	// The folder of the event files, relative to the checkpoint folder; its folders are searched, too.
	//
	//	tensorboard = "logs"
	Tensorboard string `arg:"tensorboard"`
	// The scalar that is the loss.
	//
	//	loss = "train/loss"
	Loss string `arg:"loss"`
	// The scalar that is the accuracy, as a part of 1.
	//
	//	accuracy = "validation/accuracy"
	Accuracy string `arg:"accuracy"`
	// The unit that steps of scalars, or lines without a count, count as finished. Predictions follow the job by them
	// where its work is given in the same unit.
	//
	// Default: `steps` of scalars, `epochs` of lines.
	//
	//	counts = "epochs"
	Counts string `arg:"counts" allowed:"steps epochs"`
}

// progress decodes the event files by which a job's program reports how far it has come.
func (d *Decoder) progress(n *eval.Node, e *eval.Env, a *eval.Args, j *experiment.Job) {
	pn := n.First("progress")
	if pn == nil {
		return
	}
	var v progressArgs
	pa := d.Decode(pn, e, &v)
	defer func() { a.OK = a.OK && pa.OK }()
	j.Events = &launch.EventFiles{
		Lines: v.Lines, Below: v.Tensorboard, Loss: v.Loss, Accuracy: v.Accuracy,
		Epochs: v.Counts == "epochs" || v.Counts == "" && v.Lines != "",
	}
	switch {
	case language.ProgramIn(n) != nil:
		pa.Fail(pn.Header, "Block that nothing reads", "The program of a %s block prints its progress; progress is for a command.",
			language.ProgramIn(n).Schema.Name)
	case !pa.OK || pn.Broken:
	case (v.Lines == "") == (v.Tensorboard == ""):
		pa.Fail(pn.Header, "Progress without a source", "Give either lines or tensorboard.")
	case v.Lines != "":
		pa.Unread("lines names loss and accuracy by its groups; {} is for tensorboard.", "loss", "accuracy")
		if problem := badLines(v.Lines); problem != "" {
			pa.Fail(pa.At("lines"), "Pattern that cannot be used", "%s", problem)
		}
	case !filepath.IsLocal(j.Events.Below):
		pa.Fail(pa.At("tensorboard"), "Folder that cannot be read",
			"The folder of event files is relative to the job's checkpoint folder, and below it: let the program write "+
				"to $TFEXP_CHECKPOINT_DIR/logs, say, and name \"logs\" here.")
	case j.Events.Loss == "" && j.Events.Accuracy == "":
		pa.Fail(pn.Header, "Event files that nothing is read from", "Name the scalar of the loss, the accuracy, or both.")
	}
}

// badLines describes the mistake in a pattern of lines; "" for a good one.
func badLines(pattern string) string {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return "lines is not a regular expression: " + err.Error() + "."
	}
	for _, group := range re.SubexpNames() {
		if group != "" && !slices.Contains(launch.LineGroups(), group) {
			return fmt.Sprintf("There is no group %q; groups are called %s.", group, schema.OneOf(launch.LineGroups()))
		}
	}
	return ""
}
