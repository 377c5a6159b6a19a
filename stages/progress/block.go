// Package progress adds the block `progress` to jobs, for programs that do not print the progress lines of the job
// contract. Their progress is read from other lines or from TensorBoard event files.
package progress

import (
	"embed"
	"encoding/gob"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
)

// progressArgs are the arguments of a progress block.
//
// How tfexp follows a `command` that prints no progress lines of the job contract: by other lines of its output
// (`lines`), or by TensorBoard's event files (`tensorboard`). TensorFlow and PyTorch write event files; they must be
// below the job's checkpoint folder (`$TFEXP_CHECKPOINT_DIR`). While the job runs they are read along with its output.
// A name is the scalar's name, or its run and name, as TensorBoard shows them (`train/epoch_loss`). A file that is
// damaged, or that never comes, is a warning. On a Docker daemon of another machine the files cannot be seen.
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
	// A regular expression for the progress lines of the program. Its groups are called `epoch` (epochs that are
	// finished), `epoch0` (the same, counted from 0), `step`, `loss`, `accuracy` and `percent` (an accuracy in percent
	// without a sign); a name may end in a digit from 2 to 9, for further places. Without a count in the pattern, each
	// matching line counts one more. The loss or accuracy of a line without a count belongs to the count before it. Lines
	// are matched as a terminal shows them, without colors. A loss that is NaN or infinite, and decimal commas, are read
	// where the pattern has digits; a line without a loss counts where the pattern has a count, and `.*` between the two.
	// A line with a place within its epoch, as in `Epoch 1 [64/60000]`, `Epoch 1, batch 3/9` or a bar of tqdm, does not
	// finish the epoch: the last batch does, or the next epoch, or the end of the program. A place without the number of
	// batches, as in `Epoch 1, step 3`, counts if epochs have several such lines. The groups `batch` and `batches` name
	// the place where it is written in another way; a line that matches with the epoch alone then begins it. If no line
	// of a run matches, tfexp warns. A program that does not flush its output reports its progress late; `python3 -u`
	// flushes it.
	//
	//	lines = "Epoch (?P<epoch>[0-9]+)/.*loss: (?P<loss>[0-9.]+)"
	Lines string `arg:"lines"`
	// The folder of TensorBoard's event files, relative to `$TFEXP_CHECKPOINT_DIR`; tfexp also searches its subfolders.
	//
	//	tensorboard = "logs"
	Tensorboard string `arg:"tensorboard"`
	// The name of the scalar that is the loss.
	//
	//	loss = "train/loss"
	Loss string `arg:"loss"`
	// The name of the scalar that is the accuracy, from 0 to 1.
	//
	//	accuracy = "validation/accuracy"
	Accuracy string `arg:"accuracy"`
	// The unit of finished work: what the step of a scalar, or each matching line, counts. Predictions follow the job
	// by them where its work is given in the same unit.
	//
	// Default: `steps` of scalars, `epochs` of lines.
	//
	//	counts = "epochs"
	Counts string `arg:"counts" allowed:"steps epochs"`
}

//go:embed block.go
var documented embed.FS

var _ = schema.Document("progress", documented)

func init() {
	language.Extend("progress", language.Job, language.Extension[experiment.Job]{
		Blocks: func() []*schema.Block {
			return []*schema.Block{schema.BlockFor[progressArgs](schema.Block{Name: "progress", Single: true})}
		},
		Before: "runtime",
		Decode: decode,
	})
	gob.Register(source{}) // source is part of tasks that are written to files
}

// source is the part of a job with a progress block.
type source struct {
	// Lines is a pattern of lines (see lineGroups); if empty, event files are read.
	Lines string `json:",omitempty"`
	// Below is the folder of event files, relative to the job's checkpoint folder.
	Below string
	// Loss and Accuracy are the tags of the scalars that are read; empty means none.
	Loss, Accuracy string
	// Epochs reports whether scalars' steps, or lines without a count, are epochs.
	Epochs bool
}

// Progress implements stages.ProgressPart.
func (s source) Progress() launch.ProgressSource { return s }

// ProgressLines implements stages.ProgressPart.
func (s source) ProgressLines(prefix string) []stages.KeyLine {
	lines := []stages.KeyLine{{Label: prefix + "progress",
		Value: fmt.Sprintf("%q loss %q accuracy %q epochs %t", s.Below, s.Loss, s.Accuracy, s.Epochs)}}
	if s.Lines != "" {
		lines = append(lines, stages.KeyLine{Label: prefix + "progress_lines", Value: s.Lines})
	}
	return lines
}

// Reader implements launch.ProgressSource. All attempts of a job share the reader of event files, so that events of an
// earlier attempt are not read again.
func (s source) Reader(j *launch.Job, before *launch.ProgressReader) *launch.ProgressReader {
	switch {
	case s.Lines != "":
		pattern, err := newPattern(s.Lines)
		if err != nil {
			panic(err) // badLines has checked the pattern
		}
		lines := &progressLines{linePattern: pattern, epochs: s.Epochs}
		return &launch.ProgressReader{Output: lines.add, Finished: lines.finished}
	case before != nil:
		return before
	}
	files := newEventFiles(s, launch.Absolute(filepath.Join(j.CheckpointDir, s.Below)))
	return &launch.ProgressReader{Poll: files.next, Finished: func(_ report, warn func(code, text string)) { files.missing(warn) }}
}

// decode decodes the progress block of a job.
func decode(d *language.Decoder, b language.Block, j *experiment.Job) {
	pn := b.Node.First("progress")
	if pn == nil {
		return
	}
	var v progressArgs
	pa := d.Decode(pn, b.Env, &v)
	defer func() { b.OK = b.OK && pa.OK }()
	j.Parts = append(j.Parts, source{
		Lines: v.Lines, Below: v.Tensorboard, Loss: v.Loss, Accuracy: v.Accuracy,
		Epochs: v.Counts == "epochs" || v.Counts == "" && v.Lines != "",
	})
	switch {
	case language.ProgramIn(b.Node) != nil:
		pa.Fail(pn.Header, "Unused block", "The program of a %s block prints its progress; progress is for a command.",
			language.ProgramIn(b.Node).Schema.Name)
	case !pa.OK || pn.Broken:
	case (v.Lines == "") == (v.Tensorboard == ""):
		pa.Fail(pn.Header, "Progress without a source", "Give either lines or tensorboard.")
	case v.Lines != "":
		pa.Unread("lines names loss and accuracy by its groups; {} is for tensorboard.", "loss", "accuracy")
		if problem := badLines(v.Lines); problem != "" {
			pa.Fail(pa.At("lines"), "Pattern that cannot be used", "%s", problem)
		}
	case !filepath.IsLocal(v.Tensorboard):
		pa.Fail(pa.At("tensorboard"), "Folder that cannot be read",
			"The folder of event files is relative to the job's checkpoint folder, and below it: let the program write "+
				"to $TFEXP_CHECKPOINT_DIR/logs, say, and name \"logs\" here.")
	case v.Loss == "" && v.Accuracy == "":
		pa.Fail(pn.Header, "Event files that nothing is read from", "Name the scalar of the loss, the accuracy, or both.")
	}
}

// badLines describes the mistake in a pattern of lines; empty if it is valid.
func badLines(pattern string) string {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return "lines is not a regular expression: " + err.Error() + "."
	}
	for _, group := range re.SubexpNames() {
		if group != "" && !slices.Contains(lineGroups, meaning(group)) {
			return fmt.Sprintf("There is no group %q; groups are called %s.", group, schema.OneOf(lineGroups))
		}
	}
	return ""
}
