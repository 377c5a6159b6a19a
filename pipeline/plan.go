package pipeline

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/record"
)

// The engines that cells run on.
const (
	engineProcess   = "process"
	engineSimulated = "simulated"
	engineDocker    = "docker"
)

// planState is what a plan keeps for its run.
type planState struct {
	programs *programs
	host     hardware.Machine
	// specCell has the spec's cell of each planned cell; keys its key.
	specCell []int
	keys     []*store.Key
	profiles []profileUnit
	// families has the units of each job's program, as indexes into profiles,
	// in the order of their threads.
	families map[string][]int
	// fits is what was fitted to the samples; fitting guards it.
	fits map[fitKey]fit
	// history is what jobs really took in the past.
	history []estimator.Run
	fitting sync.Mutex
	// realised workloads, shared by the cells of a replicate.
	realised map[realisedKey]realisation
	// profileHashes has the hash of each job block's profile key.
	profileHashes map[*experiments.Job]string
	// needed has the profiles that a cell which runs will want.
	needed map[string]bool
	// samples by the hash of their profile's key, as far as they are known.
	samples map[string][]estimator.Sample
	// containers has the jobs that run in containers.
	containers map[*experiments.Job]*contained
	// unavailable says why a Docker host or an image cannot be used.
	unavailable error
}

// New plans an experiment: the cells in the order in which they run, which of
// them the cache holds, and why the others run. It changes nothing on disk.
func New(spec *experiments.Spec, opts Options) (*Plan, error) {
	return newPlan(spec, opts, hardware.Host())
}

// newPlan is New on a given machine.
func newPlan(spec *experiments.Spec, opts Options, host hardware.Machine) (*Plan, error) {
	spec, containers := containerJobs(spec)
	p := &Plan{
		Dir: filepath.Join(opts.Out, spec.Name), spec: spec, options: opts,
		state: &planState{
			host:          host,
			realised:      map[realisedKey]realisation{},
			profileHashes: map[*experiments.Job]string{},
			needed:        map[string]bool{},
			samples:       map[string][]estimator.Sample{},
			families:      map[string][]int{},
			fits:          map[fitKey]fit{},
			containers:    containers,
		},
	}
	var err error
	if p.state.programs, err = newPrograms(spec.File); err != nil {
		return nil, err
	}
	p.state.programs.containers = containers
	p.findImages()
	if err := p.describe(); err != nil {
		return nil, err
	}
	if err := p.planProfiles(); err != nil {
		return nil, err
	}
	if err := p.planCells(); err != nil {
		return nil, err
	}
	p.lookUp()
	if err := p.predict(); err != nil {
		return nil, err
	}
	return p, nil
}

// describe fills in plan.json: what the experiment asks, in plain words.
func (p *Plan) describe() error {
	spec := p.spec
	p.Plan = record.Plan{
		Schema: store.SchemaVersion, Experiment: spec.Name, Description: spec.Description,
		Seed: spec.Seed, Replicates: spec.Replicates, Axes: spec.Axes,
		Workloads: named(spec, workloadSummary),
		Hardware:  named(spec, hardwareSummary),
		Policies:  named(spec, policySummary),
	}
	for _, c := range spec.Cells {
		if p.decidesByEstimates(c) && !slices.Contains(p.Estimating, c.Policy.Name) {
			p.Estimating = append(p.Estimating, c.Policy.Name)
		}
	}
	for _, v := range spec.Variables {
		p.Variables = append(p.Variables, record.Setting(v))
	}
	for _, c := range spec.Compares {
		p.Compares = append(p.Compares, record.Compare{Metric: c.Metric, Baseline: c.Baseline, Level: c.Level})
	}
	for _, t := range spec.Thresholds {
		p.Thresholds = append(p.Thresholds, record.Threshold{Metric: t.Metric, Policy: t.Policy, Min: t.Min, Max: t.Max, FidelityPct: t.FidelityPct})
	}
	if len(spec.Compares) == 0 && len(p.Policies) > 1 {
		// Silent files compare with the first policy on what most people ask.
		for _, m := range []string{"mean_jct_s", "mean_waiting_s", "makespan_s"} {
			p.Compares = append(p.Compares, record.Compare{Metric: m, Baseline: p.Policies[0].Name, Level: 0.95})
		}
	}
	for _, pl := range spec.Plots {
		p.Plots = append(p.Plots, record.Plot{Kind: pl.Kind, Metric: pl.Metric, X: pl.X, Y: pl.Y})
	}
	p.Cells, p.state.specCell = expand(spec)
	p.RunOrder = runOrder(spec.Seed, p.Cells)
	return nil
}

// planCells makes the key of every cell.
func (p *Plan) planCells() error {
	blockLines := map[any][]string{}
	memo := func(block any, lines func() []string) []string {
		l, ok := blockLines[block]
		if !ok {
			l = lines()
			blockLines[block] = l
		}
		return l
	}
	var host []string
	{
		var k store.Key
		for _, s := range p.state.host.Fingerprint() {
			k.Add("host."+s.Name, s.Value)
		}
		host = k.Lines()
	}
	p.state.keys = make([]*store.Key, len(p.Cells))
	p.Work = make([]CellWork, len(p.Cells))
	for i := range p.Cells {
		c := p.spec.Cells[p.state.specCell[i]]
		real, err := p.realise(c, p.Cells[i].Replicate)
		if err != nil {
			return err
		}
		k := store.NewKey("execute")
		k.Addf("cell", "%s %s %s", c.Workload.Name, c.Hardware.Name, c.Policy.Name)
		for _, a := range c.Axes {
			k.Add("axis."+a.Name, a.Value)
		}
		k.Append(memo(c.Policy, func() []string { return policyLines(c.Policy) }))
		k.Append(memo(c.Hardware, func() []string { return hardwareLines(c.Hardware) }))
		k.Append(p.overheadLines(c))
		if c.Hardware.Engine != engineSimulated {
			k.Append(host)
		}
		k.Append(memo(c.Workload, func() []string { return workloadLines(c.Workload) }))
		said := map[string]bool{} // variants of a job block have most lines in common
		say := func(lines []string) {
			for i, l := range lines {
				if !said[l] {
					said[l] = true
					k.Append(lines[i : i+1])
				}
			}
		}
		for _, j := range blocks(c) {
			say(alternativeLines(c.Hardware, j))
		}
		for _, j := range jobsOf(c) {
			lines := p.state.programs.describe(j)
			if c.Hardware.Engine == engineSimulated {
				lines = append(slices.Clone(lines), p.runtimeLines(c.Hardware, j)...)
			}
			say(lines)
		}
		k.Append(p.estimateLines(c))
		k.Addf("records", "%s", p.spec.Records)
		if p.spec.Until > 0 {
			k.Addf("until", "%s", p.spec.Until)
		}
		k.Addf("replicate", "%d", p.Cells[i].Replicate)
		k.Addf("experiment.seed", "%d", p.spec.Seed)
		k.Addf("seed", "%d", p.Cells[i].Seed)
		k.Add("workload.jobs", real.digest)
		p.state.keys[i] = k
		p.Cells[i].Key = k.Hash()
	}
	return nil
}

// lookUp finds out what is there already. A cell is reused when its files are
// complete under its key, or when the cache can bring them back.
func (p *Plan) lookUp() {
	c := store.OpenReadOnly(p.Dir, record.CacheFile)
	defer c.Close()
	onDisk := store.CellFolders(p.Dir)
	c.View(func(v store.View) {
		for i := range p.Work {
			p.Work[i] = p.lookUpCell(v, i, onDisk)
			delete(onDisk, p.Cells[i].Cell)
			if !p.Work[i].Reuse {
				p.needProfiles(i)
			}
		}
		for i := range p.Profiles {
			p.lookUpProfile(v, i)
		}
		p.readHistory(v)
	})
	entries, _ := os.ReadDir(filepath.Join(p.Dir, record.CellsDir))
	for _, e := range entries { // in name order
		if onDisk[e.Name()] {
			p.Stale = append(p.Stale, e.Name())
		}
	}
}

func (p *Plan) lookUpCell(v store.View, i int, onDisk map[string]bool) CellWork {
	ref := p.Cells[i]
	if p.options.Fresh {
		return CellWork{Reason: "asked to run afresh"}
	}
	dir := filepath.Join(p.Dir, record.CellsDir, ref.Cell)
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
	case old == p.state.keys[i].Description() && state == record.CellFinished:
		return CellWork{Reuse: true, Reason: "finished earlier"}
	case old == p.state.keys[i].Description() && state == interrupted:
		return CellWork{Reason: p.incomplete()}
	case old == p.state.keys[i].Description():
		return CellWork{Reason: state + " before"}
	case old != "":
		changes := store.Diff(old, p.state.keys[i].Description())
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
		if raw, err := os.ReadFile(filepath.Join(dir, store.KeyFile)); err == nil {
			state := interrupted
			if s, ok := store.State(dir); ok && record.Intact(dir) {
				state = s
			}
			return string(raw), state
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
func profileUnitName(j *experiments.Job) string { return "profile " + kindName(j) }

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
