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
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/secret"
	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/pipeline/decode"
	"github.com/tfexp/tfexp/pipeline/instantiate"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/experiment"
)

// New plans an experiment: the cells in the order in which they run, which of
// them the cache holds, and why the others run. It changes nothing on disk.
func New(spec *experiment.Spec, opts Options) (*Plan, error) {
	return newPlan(spec, opts, hardware.Host())
}

// newPlan is New on a given machine.
func newPlan(spec *experiment.Spec, opts Options, host hardware.Machine) (*Plan, error) {
	opts.Command = secret.Arguments(opts.Command, spec.Sensitive)
	ordered, err := stages.Order()
	if err != nil {
		return nil, err
	}
	dir := cmp.Or(opts.Dir, filepath.Join(opts.Out, spec.Name))
	if spec, err = stages.Revised(spec, stages.Earlier{Dir: dir, Fresh: opts.Fresh, Asked: opts.Asked}); err != nil {
		return nil, err
	}
	x, err := instantiate.New(spec, host)
	if err != nil {
		return nil, err
	}
	p := &Plan{
		Dir: dir, options: opts,
		x: x, stages: ordered, source: &everything{x: x},
		needed: map[string]bool{}, numbers: map[string]int{}, records: record.Records(spec.Records),
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

// predict simulates the real cells from index from on, to predict their durations. It includes reused cells, so that
// plan.json has both their predicted and their real durations. It skips cells with a job that has no estimate yet.
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
		// An error of the simulation is ignored: the real run fails in the same way and reports the error.
		if out, err := executes.Predict(ctx, task); err == nil {
			took := out.End
			p.Work[i].Predicted = took
			p.Cells[i].PredictedSeconds = took.Seconds()
			c.Ref.PredictedSeconds = took.Seconds()
		}
	}
	return nil
}

// lookUp adds the cells to the plan and finds out which of them have results already. A cell is reused when its files
// are complete under its key, or when the cache can restore them.
func (p *Plan) lookUp() (err error) {
	c := store.OpenReadOnly(p.Dir, record.CacheFile)
	defer c.Close()
	p.onDisk = store.CellFolders(p.Dir)
	if p.shards, err = record.OpenShards(p.Dir, ""); err != nil {
		return err
	}
	c.View(func(v store.View) {
		if err = p.askAll(v); err != nil {
			return
		}
		if err = p.planPieces(v); err != nil {
			return
		}
		for _, s := range p.stages {
			if s.LoadPast != nil {
				s.LoadPast(p.planning(v))
			}
		}
	})
	if p.exhausted {
		p.Stale = slices.Sorted(maps.Keys(p.onDisk))
	}
	return err
}

func (p *Plan) lookUpCell(v store.View, i int) CellWork {
	ref := p.Cells[i]
	if p.options.Fresh {
		return CellWork{Reason: "run again on request"}
	}
	dir := p.folder(ref.Cell)
	if at, ok := p.shards.Find(ref.Cell, ref.Key); ok && at.State == record.CellFinished {
		return CellWork{Reuse: true, Reason: "finished earlier"}
	}
	if v.Has(ref.Key) {
		if p.onDisk[ref.Cell] && store.Complete(dir, ref.Key) {
			return CellWork{Reuse: true, Reason: "finished earlier"}
		}
		if _, ok := v.Output(ref.Key); ok {
			return CellWork{Reuse: true, Reason: "in the cache"}
		}
	}
	old, state := previous(v, p, i, dir, p.onDisk[ref.Cell])
	switch {
	case old == p.keys[i].Description() && state == record.CellFinished:
		return CellWork{Reuse: true, Reason: "finished earlier"}
	case old == p.keys[i].Description() && state == record.CellFailed && ref.Beyond != nil:
		return CellWork{Reuse: true, Reason: "crashed earlier"} // a crash is a result of a search
	case old == p.keys[i].Description() && state == interrupted:
		return CellWork{Reason: p.incomplete()}
	case old == p.keys[i].Description():
		return CellWork{Reason: state + " before"}
	case old != "":
		changes := store.Diff(old, p.keys[i].Description())
		return CellWork{Reason: store.Reason(changes), Changes: changes}
	case p.onDisk[ref.Cell]:
		return CellWork{Reason: p.incomplete()}
	}
	return CellWork{Reason: "new"}
}

// States of cells that no file records.
const (
	interrupted = "interrupted" // the folder of the cell is not complete
	lost        = "lost by its engine"
)

// incomplete returns the reason for which a cell's folder is not complete.
func (p *Plan) incomplete() string {
	if _, held := store.Holder(p.Dir); held {
		return "under way in another process"
	}
	return interrupted + " before"
}

// previous returns the key's description of a cell's last run, and how that run ended. It looks for a run of a cell
// with the same name. After an edit of an axis, it looks for the cell that was in the same place in the matrix.
func previous(v store.View, p *Plan, i int, dir string, onDisk bool) (description, state string) {
	ref := p.Cells[i]
	if onDisk {
		if raw, err := folder.ReadFile(dir, store.KeyFile); err == nil {
			state := interrupted
			if s, codes, ok := store.State(dir); ok && record.Intact(dir) {
				state = s
				if s == record.CellFailed && slices.Contains(codes, engine.Lost) {
					state = lost
				}
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

// Names under which the cache finds the last entry of a cell, and of all cells in the same place in the matrix.
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
	entries, err := folder.ReadDir(dir)
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

// Source returns the cells of an experiment. Some of them may depend on the
// results of others.
type Source interface {
	// Next returns new cells, in the order of the results; none at the end. It is
	// called first before anything has run, and again when all cells so far are
	// over. over then returns the record of a cell that finished or failed.
	Next(over func(cell string) (record.Cell, bool)) ([]*instantiate.Cell, error)
}

// everything is the source of an experiment: all points of its matrix at once but those that parts of the file hold,
// and the cells of searches as these ask for them.
type everything struct {
	x        *instantiate.Experiment
	matrix   *matrix // nil before the first cells
	searches []stages.Search
}

func (e *everything) Next(over func(string) (record.Cell, bool)) (cells []*instantiate.Cell, err error) {
	if e.matrix == nil {
		e.matrix = newMatrix(e.x.Spec, e.x.Cells())
		experiment.EachPart(e.x.Spec.Parts, func(p stages.SearchPart) {
			if s := p.Search(stages.Searched{Spec: e.x.Spec, Seed: e.x.ReplicateSeed}); s != nil {
				e.searches = append(e.searches, s)
			}
		})
	}
	cells = e.matrix.next(over)
	for _, s := range e.searches {
		more, err := s.Next(over)
		if err != nil {
			return nil, err
		}
		for _, b := range more {
			cells = append(cells, e.x.Add(b))
		}
	}
	return cells, nil
}

// FollowingCells implements stages.Run.
func (p *Plan) FollowingCells() (n int) {
	if e, ok := p.source.(*everything); ok {
		n = e.matrix.ahead()
		for _, s := range e.searches {
			n += s.Ahead()
		}
	}
	return n
}

// over reads the record of a complete cell.
func (p *Plan) over(cell string) (c record.Cell, ok bool) {
	if at, ok := p.sharded(cell); ok {
		l, err := p.shards.Line(at)
		return l.Result, err == nil
	}
	err := folder.ReadJSON(p.folder(cell), &c, record.CellFile)
	return c, err == nil
}

// follows reports whether cells depend on the results of others. Next has been called.
func (e *everything) follows() bool { return len(e.searches) > 0 || len(e.matrix.selections) > 0 }

// ask adds the source's next cells to the plan. The new cells have the indexes from ≤ i < to.
func (p *Plan) ask() (from, to int, err error) {
	from = len(p.Cells)
	if p.exhausted {
		return from, from, nil
	}
	cells, err := p.source.Next(p.over)
	if err != nil {
		return from, from, err
	}
	if e, ok := p.source.(*everything); ok && !e.follows() || len(cells) == 0 {
		p.exhausted = true
	}
	p.x.Added(cells)
	var draws errgroup.Group // drawing the jobs is the slowest part of planning
	draws.SetLimit(runtime.GOMAXPROCS(0))
	for _, c := range cells {
		draws.Go(func() error {
			_, _ = c.Digest() // Key, below, returns the same error
			return nil
		})
	}
	_ = draws.Wait()
	refs := make([]record.CellRef, len(cells))
	for i, c := range cells {
		k, err := c.Key()
		if err != nil {
			return from, from, err
		}
		c.Ref.Key = k.Hash()
		refs[i] = c.Ref
		p.numbers[c.Ref.Cell] = from + i
		p.keys = append(p.keys, k)
	}
	p.cells = append(p.cells, cells...)
	p.Cells = append(p.Cells, refs...)
	p.Work = append(p.Work, make([]CellWork, len(cells))...)
	for _, i := range instantiate.RunOrder(p.Seed, refs) {
		p.RunOrder = append(p.RunOrder, from+i)
	}
	return from, len(p.Cells), nil
}

// patience is the time after which planning reports its progress. Planning can take minutes: a search with a model
// computes the choices of all its earlier trials again.
var patience = 2 * time.Second

// askAll adds cells from the source and looks them up, until one of them must run. Cells that depend on its result
// are added during the run.
func (p *Plan) askAll(v store.View) error {
	began := time.Now()
	for {
		from, to, err := p.ask()
		if err != nil || from == to {
			return err
		}
		if p.lookUpCells(v, from, to) {
			return nil
		}
		if took := time.Since(began); took >= patience && p.options.Observe != nil {
			p.options.Observe(Progress{Kind: stages.UnitEnd, Stage: "plan", Unit: p.Cells[to-1].Cell, Done: to,
				Total: to + p.FollowingCells(), Elapsed: took})
		}
	}
}

// lookUpCells finds out which cells have results already. It reports whether a cell must run or be restored
// first.
func (p *Plan) lookUpCells(v store.View, from, to int) (some bool) {
	for i := from; i < to; i++ {
		p.Work[i] = p.lookUpCell(v, i)
		delete(p.onDisk, p.Cells[i].Cell)
	}
	p.together(from, to)
	for i := from; i < to; i++ {
		if p.Work[i].Reuse {
			// Cells that follow from a result are unknown until the result is restored from the cache.
			_, shelved := p.sharded(p.Cells[i].Cell)
			follow := p.Cells[i].Beyond != nil || p.options.Source == nil && !p.exhausted
			some = some || follow && !shelved && !record.Intact(p.folder(p.Cells[i].Cell))
			continue
		}
		some = true
		for _, h := range p.cells[i].Needs() {
			p.needed[h] = true
		}
	}
	return some
}

// together makes all real cells that run at the same time as a cell run again, if that cell must run.
func (p *Plan) together(from, to int) {
	type group struct {
		workload, hardware string
		replicate          int
	}
	of := func(i int) group { return group{p.Cells[i].Workload, p.Cells[i].Hardware, p.Cells[i].Replicate} }
	runs := map[group]bool{}
	for i := from; i < to; i++ {
		runs[of(i)] = runs[of(i)] || !p.Work[i].Reuse
	}
	for i := from; i < to; i++ {
		if p.Work[i].Reuse && runs[of(i)] && p.Cells[i].Real() && p.cells[i].Beside() > 0 {
			p.Work[i] = CellWork{Reason: "another cell of its duet has to run"}
		}
	}
}

// Resume plans the rest of an unfinished run from its folder. It uses the experiment as that run read it, with the
// values of its variables. dir is an experiment's folder, or a folder of results; Resume then takes the newest
// unfinished run. It returns ErrNothingToResume if all runs have finished.
func Resume(dir string, opts Options, host experiments.HostFacts) (*Plan, experiments.Diagnostics, error) {
	dirs, err := Experiments(dir)
	if err != nil {
		return nil, nil, err
	}
	var chosen string
	var newest time.Time
	var last record.Run
	broken := false        // the chosen run was interrupted; it did not fail
	var unreadable []error // these runs may have been interrupted
	for _, d := range dirs {
		r, err := readRun(d)
		if err != nil {
			unreadable = append(unreadable, err)
			continue
		}
		started, _ := time.Parse(time.RFC3339, r.Started) // a run without a time is the oldest
		if r.State == "finished" && r.Reported && d != dir {
			continue
		}
		// Interrupted runs come before runs that ended with failed cells.
		off := r.State != "failed"
		if chosen == "" || off && !broken || off == broken && started.After(newest) {
			chosen, newest, last, broken = d, started, r, off
		}
	}
	if chosen == "" {
		return nil, nil, cmp.Or(errors.Join(unreadable...), fmt.Errorf("%w in %s", ErrNothingToResume, dir))
	}
	source, vars, err := savedSource(chosen)
	if err != nil {
		return nil, nil, err
	}
	if !filepath.IsAbs(last.File) { // the folder is from an archive of an experiment with its results
		last.File = filepath.Join(chosen, last.File)
	}
	inputs, ok := record.CopyOf(chosen)
	if ok && inputs.Needed {
		last.File = inputs.File
	} else {
		inputs = record.Copy{}
	}
	spec, diags := decode.Source(last.File, source, decode.Options{
		Vars: slices.Concat(opts.Vars, vars), VarFiles: opts.VarFiles, Host: host, Lenient: last.Lenient, Copy: inputs,
	})
	if diags.HasErrors() {
		return nil, diags, nil
	}
	for _, v := range opts.Vars {
		name, _, _ := strings.Cut(v, "=")
		if name = strings.TrimSpace(name); !slices.Contains(spec.Sensitive, name) {
			return nil, diags, fmt.Errorf("set %s: %w", name, ErrKeptVariable)
		}
	}
	opts.Out, opts.Dir = filepath.Dir(chosen), chosen
	plan, err := New(spec, opts)
	return plan, diags, err
}

// ErrKeptVariable is returned when Resume is given a value for a variable whose value the results have.
var ErrKeptVariable = errors.New("a resumed run keeps the values of its variables; set only sensitive variables, " +
	"whose values are not stored")

// savedSource reads the experiment file and the variables that a run has saved in its folder.
func savedSource(dir string) (source []byte, vars []string, err error) {
	source, err = folder.ReadFile(dir, record.ExperimentFile)
	if errors.Is(err, os.ErrNotExist) {
		source, err = folder.ReadFile(dir, record.ExperimentFile+".json")
	}
	if errors.Is(err, os.ErrNotExist) {
		err = fmt.Errorf("%s is missing; \"tfexp run FILE\" with the original of it continues the run", record.ExperimentFile)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read the experiment of %s: %w", dir, err)
	}
	var plan record.Plan
	if err := record.ReadPlan(dir, &plan); err != nil {
		return nil, nil, fmt.Errorf("read the plan of %s: %w", dir, err)
	}
	for _, v := range plan.Variables {
		vars = append(vars, v.Name+"="+v.Value)
	}
	return source, vars, nil
}

// ErrNotBegun is returned for the folder of a run that ended before it wrote run.json.
var ErrNotBegun = errors.New("the run ended before anything ran")

func readRun(dir string) (record.Run, error) {
	var r record.Run
	err := folder.ReadJSON(dir, &r, record.RunFile)
	if errors.Is(err, os.ErrNotExist) {
		return r, fmt.Errorf("read the run of %s: %w", dir, ErrNotBegun)
	}
	if err != nil {
		return r, fmt.Errorf("read the run of %s: %w", dir, err)
	}
	return r, nil
}
