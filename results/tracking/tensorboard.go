package tracking

import (
	"bytes"
	"image/png"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tfexp/tfexp/jobs/eventfile"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
)

var _ = formats.Add(Format{
	Rank: 1, Name: "tensorboard", Title: "TensorBoard", Folder: "tensorboard",
	Doc: `Each cell is a run: its metrics and curves under Scalars, its pictures under Images,
its axes and metrics under HParams, where the replicates of a policy are one row.`,
	Open:  "tensorboard --logdir %s",
	Write: tensorBoard,
})

// eventFile is the name of our files. TensorBoard reads files with "tfevents" in their names.
const eventFile = "events.out.tfevents.0.tfexp"

// The tags and the name under which the plugin of hyperparameters finds its messages
// (tensorboard/plugins/hparams/metadata.py).
const (
	hparams       = "hparams"
	experimentTag = "_hparams_/experiment"
	startTag      = "_hparams_/session_start_info"
	endTag        = "_hparams_/session_end_info"
)

// board is the common part of an experiment's event files.
type board struct {
	*record.Experiment
	cells    []record.Cell
	params   []param
	pictures []record.Picture
	begin    float64 // in seconds since 1970
}

// param is a column of the table of hyperparameters. It is a number if it is one in all cells that have it.
type param struct {
	name   string
	number bool
}

// tensorBoard writes an event file per cell, in a folder of its name, and one for the experiment next
// to these folders; all below a folder of the experiment's name.
func tensorBoard(e *record.Experiment, dir string) (int, error) {
	pictures, err := e.Pictures()
	if err != nil {
		return 0, err
	}
	b := board{Experiment: e, cells: runs(e), pictures: pictures, begin: started(e)}
	b.params = paramsOf(b.cells)
	if err := folder.MkdirAll(dir, 0o755); err != nil {
		return 0, err
	}
	if dir, err = folder.Make(dir, e.Plan.Experiment); err != nil {
		return 0, err
	}
	kept := map[string]bool{}
	write := func(name string, content func(*eventfile.Writer) error) error {
		below, err := folder.Make(dir, filepath.FromSlash(name))
		if err != nil {
			return err
		}
		path := filepath.Join(below, eventFile)
		kept[path] = true
		return folder.WriteFrom(path, 0o644, func(to io.Writer) error {
			return content(eventfile.NewWriter(to, b.begin))
		})
	}
	if err := write(".", b.summary); err != nil {
		return 0, err
	}
	for i := range b.cells {
		c := &b.cells[i]
		if err := write(c.Cell, func(w *eventfile.Writer) error { return b.session(w, c) }); err != nil {
			return i, err
		}
	}
	return len(b.cells), removeOthers(dir, kept)
}

// removeOthers removes our files of cells that are no more.
func removeOthers(dir string, kept map[string]bool) error {
	old, err := filepath.Glob(filepath.Join(dir, "*", eventFile))
	if err != nil {
		return err
	}
	for _, path := range old {
		if kept[path] {
			continue
		}
		if err := folder.Remove(path); err != nil {
			return err
		}
		_ = folder.Remove(filepath.Dir(path)) // it stays if there is something else in it
	}
	return nil
}

// summary writes the data of the whole experiment.
func (b *board) summary(w *eventfile.Writer) error {
	if err := w.Plugin(experimentTag, hparams, b.begin, eventfile.AppendBytes(nil, 2, b.columns())); err != nil {
		return err
	}
	return b.images(w, "")
}

// session writes the data of a cell.
func (b *board) session(w *eventfile.Writer, c *record.Cell) error {
	if err := w.Plugin(startTag, hparams, b.begin, eventfile.AppendBytes(nil, 3, b.sessionStart(c))); err != nil {
		return err
	}
	lines, err := curves(b.Experiment, c.CellRef)
	if err != nil {
		return err
	}
	for _, curve := range lines {
		for _, p := range curve.Points {
			s := eventfile.Scalar{Tag: curve.Name, Step: p.Step, Value: p.Value, Wall: b.begin + p.At}
			if err := w.Scalar(s); err != nil {
				return err
			}
		}
	}
	end := b.begin + c.Seconds
	for _, v := range values(c) {
		if err := w.Scalar(eventfile.Scalar{Tag: v.name, Value: v.value, Wall: end}); err != nil {
			return err
		}
	}
	if err := b.images(w, c.Cell); err != nil {
		return err
	}
	return w.Plugin(endTag, hparams, end, eventfile.AppendBytes(nil, 4, sessionEnd(c, end)))
}

// images writes the pictures of a cell, or without one the pictures of the whole experiment.
func (b *board) images(w *eventfile.Writer, cell string) error {
	for _, p := range b.pictures {
		if p.Cell != cell || p.PNG == "" {
			continue
		}
		raw, err := folder.ReadFile(b.Dir, p.PNG)
		if err != nil {
			return err
		}
		size, err := png.DecodeConfig(bytes.NewReader(raw))
		if err != nil {
			return err
		}
		tag := p.Name
		if cell != "" {
			tag = p.Kind // so that TensorBoard shows the pictures of all cells side by side
		}
		if err := w.Image(tag, 0, b.begin, raw, size.Width, size.Height); err != nil {
			return err
		}
	}
	return nil
}

// The types of hyperparameters and the states of sessions (tensorboard/plugins/hparams/api.proto).
const (
	textType   = 1
	numberType = 3

	succeeded = 1
	failed    = 2
)

// columns is an Experiment: the parameters and the metrics of its table.
func (b *board) columns() []byte {
	out := eventfile.AppendString(nil, 6, b.Plan.Experiment)
	out = eventfile.AppendString(out, 1, b.Plan.Description)
	out = appendNumber(out, 3, b.begin)
	for _, p := range b.params {
		kind := uint64(textType)
		if p.number {
			kind = numberType
		}
		out = eventfile.AppendBytes(out, 4, eventfile.AppendInt(eventfile.AppendString(nil, 1, p.name), 4, kind))
	}
	for _, m := range measure.ShownIn(measure.InCells) {
		if !slices.ContainsFunc(b.cells, func(c record.Cell) bool { return !math.IsNaN(m.Of(&c.Metrics)) }) {
			continue
		}
		info := eventfile.AppendBytes(nil, 1, eventfile.AppendString(nil, 2, m.Name))
		out = eventfile.AppendBytes(out, 5, eventfile.AppendString(eventfile.AppendString(info, 3, m.Label()), 4, m.Doc))
	}
	return out
}

// sessionStart is a SessionStartInfo. Replicates are sessions of one group.
func (b *board) sessionStart(c *record.Cell) []byte {
	var out []byte
	for _, s := range params(c.CellRef) {
		v := eventfile.AppendString(nil, 3, s.Value) // google.protobuf.Value
		if slices.Contains(b.params, param{s.Name, true}) {
			n, _ := strconv.ParseFloat(s.Value, 64)
			v = appendNumber(nil, 2, n)
		}
		out = eventfile.AppendBytes(out, 1, eventfile.AppendBytes(eventfile.AppendString(nil, 1, s.Name), 2, v))
	}
	out = eventfile.AppendString(out, 4, c.Workload+" "+c.Hardware+" "+c.Variant())
	return appendNumber(out, 5, b.begin)
}

// sessionEnd is a SessionEndInfo.
func sessionEnd(c *record.Cell, end float64) []byte {
	state := uint64(succeeded)
	if c.State == record.CellFailed {
		state = failed
	}
	return appendNumber(eventfile.AppendInt(nil, 1, state), 2, end)
}

// paramsOf returns the parameters of all cells, in the order of their first use.
func paramsOf(cells []record.Cell) (all []param) {
	for _, c := range cells {
		for _, s := range params(c.CellRef) {
			i := slices.IndexFunc(all, func(p param) bool { return p.name == s.Name })
			if i < 0 {
				i = len(all)
				all = append(all, param{s.Name, true})
			}
			_, err := strconv.ParseFloat(s.Value, 64)
			all[i].number = all[i].number && err == nil
		}
	}
	return all
}

func appendNumber(b []byte, n protowire.Number, v float64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(b, n, protowire.Fixed64Type), math.Float64bits(v))
}
