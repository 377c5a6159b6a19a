package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/pipeline/realise"
	"github.com/tfexp/tfexp/pipeline/search"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/shard"
	"github.com/tfexp/tfexp/stages"
)

// New plans an experiment: the cells in the order in which they run, which of
// them the cache holds, and why the others run. It changes nothing on disk.
func New(spec *experiments.Spec, opts Options) (*Plan, error) {
	return newPlan(spec, opts, hardware.Host())
}

// newPlan is New on a given machine.
func newPlan(spec *experiments.Spec, opts Options, host hardware.Machine) (*Plan, error) {
	ordered, err := stages.Order()
	if err != nil {
		return nil, err
	}
	x, err := realise.New(spec, host)
	if err != nil {
		return nil, err
	}
	p := &Plan{
		Dir: cmp.Or(opts.Dir, filepath.Join(opts.Out, spec.Name)), options: opts,
		x: x, stages: ordered, source: &matrix{x}, needed: map[string]bool{}, numbers: map[string]int{}, records: record.Records(spec.Records),
	}
	if len(x.Tunings()) > 0 {
		p.source = &tuners{&matrix{x}, search.New(x)}
	}
	if opts.Source != nil {
		p.source = opts.Source(x)
	}
	p.findImages()
	p.Plan = x.Plan()
	if err := p.lookUp(); err != nil {
		return nil, err
	}
	if err := p.predict(context.Background(), 0); err != nil {
		return nil, err
	}
	return p, nil
}

// predict simulates the real cells from an index on, for how long they take; also those that are
// reused, so that plan.json has it beside what they took.
// Cells with a job that has no estimate yet stay unknown.
func (p *Plan) predict(ctx context.Context, from int) error {
	executes := stages.Find(stages.Writer(stages.Cells))
	if executes == nil || executes.Predict == nil {
		return nil
	}
	for i, c := range p.cells[from:] {
		i += from
		if !c.Ref.Real() {
			continue
		}
		task, _, err := c.Twin(stages.Seen{})
		if errors.Is(err, stages.ErrNoEstimate) {
			continue
		}
		if err != nil {
			return fmt.Errorf("predict cell %s: %w", c.Ref.Cell, err)
		}
		// A simulation that fails says nothing: the real run fails in the same way, and is then explained.
		if out, err := executes.Predict(ctx, task); err == nil {
			took := out.End
			p.Work[i].Predicted = took
			p.Cells[i].PredictedSeconds = took.Seconds()
			c.Ref.PredictedSeconds = took.Seconds()
		}
	}
	return nil
}

// lookUp asks for the cells and finds out what is there already. A cell is reused
// when its files are complete under its key, or when the cache can bring them
// back.
func (p *Plan) lookUp() (err error) {
	c := store.OpenReadOnly(p.Dir, record.CacheFile)
	defer c.Close()
	onDisk := store.CellFolders(p.Dir)
	if p.shards, err = shard.Open(p.Dir, ""); err != nil {
		return err
	}
	c.View(func(v store.View) {
		if err = p.askAll(v, onDisk); err != nil {
			return
		}
		if err = p.planPieces(v); err != nil {
			return
		}
		for _, s := range p.stages {
			if s.Recall != nil {
				s.Recall(p.planning(v))
			}
		}
	})
	if p.exhausted {
		p.Stale = inOrder(p.Dir, onDisk)
	}
	return err
}

// inOrder lists folders of cells by their names.
func inOrder(dir string, folders map[string]bool) []string {
	if len(folders) == 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(folders))
}

func (p *Plan) lookUpCell(v store.View, i int, onDisk map[string]bool) CellWork {
	ref := p.Cells[i]
	if p.options.Fresh {
		return CellWork{Reason: "asked to run afresh"}
	}
	dir := p.folder(ref.Cell)
	if at, ok := p.shards.Find(ref.Cell, ref.Key); ok && at.State == record.CellFinished {
		return CellWork{Reuse: true, Reason: "finished earlier"}
	}
	if v.Has(ref.Key) {
		if onDisk[ref.Cell] && store.Complete(dir, ref.Key) {
			return CellWork{Reuse: true, Reason: "finished earlier"}
		}
		if _, ok := v.Output(ref.Key); ok {
			return CellWork{Reuse: true, Reason: "in the cache"}
		}
	}
	old, state := previous(v, p, i, dir, onDisk[ref.Cell])
	switch {
	case old == p.keys[i].Description() && state == record.CellFinished:
		return CellWork{Reuse: true, Reason: "finished earlier"}
	case old == p.keys[i].Description() && state == record.CellFailed && ref.Trial != nil:
		return CellWork{Reuse: true, Reason: "crashed earlier"} // which is a result of a tuning
	case old == p.keys[i].Description() && state == interrupted:
		return CellWork{Reason: p.incomplete()}
	case old == p.keys[i].Description():
		return CellWork{Reason: state + " before"}
	case old != "":
		changes := store.Diff(old, p.keys[i].Description())
		return CellWork{Reason: store.Reason(changes), Changes: changes}
	case onDisk[ref.Cell]:
		return CellWork{Reason: p.incomplete()}
	}
	return CellWork{Reason: "new"}
}

// interrupted is the state of a cell whose folder is not complete.
const interrupted = "interrupted"

// incomplete says why a cell's folder is not complete.
func (p *Plan) incomplete() string {
	if _, held := store.Holder(p.Dir); held {
		return "under way, in the run that is going on"
	}
	return interrupted + " before"
}

// previous returns the description that a cell last ran under, and how that
// ended: by its own name, or by what stood in its place in the matrix before
// an axis was edited.
func previous(v store.View, p *Plan, i int, dir string, onDisk bool) (description, state string) {
	ref := p.Cells[i]
	if onDisk {
		if raw, err := folder.ReadFile(dir, store.KeyFile); err == nil {
			state := interrupted
			if s, ok := store.State(dir); ok && record.Intact(dir) {
				state = s
			}
			return string(raw), state
		}
	}
	if at, ok := p.shards.Last(ref.Cell); ok {
		if l, err := p.shards.Line(at); err == nil {
			return l.DependsOn, at.State
		}
	}
	for _, unit := range []string{cellUnit(ref), familyUnit(ref)} {
		if e, ok := v.Last(unit); ok {
			return e.Description, "evicted"
		}
	}
	return "", ""
}

// Names of units in the cache.
func cellUnit(r record.CellRef) string { return "cell " + r.Cell }
func familyUnit(r record.CellRef) string {
	return fmt.Sprintf("family %s %s %s r%d", r.Workload, r.Hardware, r.Policy, r.Replicate)
}

// Experiments lists the experiment folders in dir (dir itself if it is one),
// in name order.
func Experiments(dir string) ([]string, error) {
	if isExperiment(dir) {
		return []string{dir}, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		if os.IsNotExist(err) {
			return nil, fmt.Errorf("no results in %s: %w", dir, fs.ErrNotExist)
		}
		return nil, fmt.Errorf("read results: %w", err)
	}
	var dirs []string
	for _, e := range entries {
		if sub := filepath.Join(dir, e.Name()); e.IsDir() && isExperiment(sub) {
			dirs = append(dirs, sub)
		}
	}
	return dirs, nil
}

func isExperiment(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, record.PlanFile))
	return err == nil
}
