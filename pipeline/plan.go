package pipeline

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/results"
)

// The engines that cells run on.
const (
	engineProcess   = "process"
	engineSimulated = "simulated"
)

// planState is what a plan keeps for its run.
type planState struct {
	programs *programs
	host     hardware.Machine
	// specCell has the spec's cell of each planned cell; keys its key.
	specCell []int
	keys     []*Key
	profiles []profileUnit
	// realised workloads, shared by the cells of a replicate.
	realised map[realisedKey]realisation
	// profileHashes has the hash of each job block's profile key.
	profileHashes map[*experiments.Job]string
	// needed has the profiles that a cell which runs will want.
	needed map[string]bool
	// samples by the hash of their profile's key, as far as they are known.
	samples map[string][]estimator.Sample
}

// profileUnit is one job kind to be sampled.
type profileUnit struct {
	job     *experiments.Job
	key     *Key
	lengths []int
}

// New plans an experiment: the cells in the order in which they run, which of
// them the cache holds, and why the others run. It changes nothing on disk.
func New(spec *experiments.Spec, opts Options) (*Plan, error) {
	p := &Plan{
		Dir: filepath.Join(opts.Out, spec.Name), spec: spec, options: opts,
		state: &planState{
			host:          hardware.Host(),
			realised:      map[realisedKey]realisation{},
			profileHashes: map[*experiments.Job]string{},
			needed:        map[string]bool{},
			samples:       map[string][]estimator.Sample{},
		},
	}
	var err error
	if p.state.programs, err = newPrograms(spec.File); err != nil {
		return nil, err
	}
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
	p.Plan = results.Plan{
		Schema: schemaVersion, Experiment: spec.Name, Description: spec.Description,
		Seed: spec.Seed, Replicates: spec.Replicates, Axes: spec.Axes,
		Workloads: named(spec, workloadSummary),
		Hardware:  named(spec, hardwareSummary),
		Policies:  named(spec, policySummary),
	}
	for _, v := range spec.Variables {
		p.Variables = append(p.Variables, results.Setting(v))
	}
	for _, c := range spec.Compares {
		p.Compares = append(p.Compares, results.Compare{Metric: c.Metric, Baseline: c.Baseline, Level: c.Level})
	}
	for _, t := range spec.Thresholds {
		p.Thresholds = append(p.Thresholds, results.Threshold{Metric: t.Metric, Policy: t.Policy, Min: t.Min, Max: t.Max, FidelityPct: t.FidelityPct})
	}
	if len(spec.Compares) == 0 && len(p.Policies) > 1 {
		// Silent files compare with the first policy on what most people ask.
		for _, m := range []string{"mean_jct_s", "mean_waiting_s", "makespan_s"} {
			p.Compares = append(p.Compares, results.Compare{Metric: m, Baseline: p.Policies[0].Name, Level: 0.95})
		}
	}
	for _, pl := range spec.Plots {
		p.Plots = append(p.Plots, results.Plot{Kind: pl.Kind, Metric: pl.Metric, X: pl.X})
	}
	p.Cells, p.state.specCell = expand(spec)
	p.RunOrder = runOrder(spec.Seed, p.Cells)
	return nil
}

// planProfiles lists the job kinds that have to be sampled: those that run
// for real, for predictions, and those whose simulated run time the file does
// not give.
func (p *Plan) planProfiles() error {
	seen := map[string]bool{}
	for _, c := range p.spec.Cells {
		for _, j := range jobsOf(c) {
			if !p.sampled(c.Hardware, j) {
				continue
			}
			h := p.profileHash(j)
			if !seen[h] {
				seen[h] = true
				k := p.profileKey(j)
				lengths := sampleLengths(length(j), p.spec.Profile)
				p.state.profiles = append(p.state.profiles, profileUnit{job: j, key: k, lengths: lengths})
				p.Profiles = append(p.Profiles, ProfileWork{
					Job: j.Name, Threads: j.Threads.Request, Lengths: lengths, Unit: lengthUnit(j),
				})
			}
		}
	}
	return nil
}

// sampled tells whether a job's run time on a machine is estimated from samples.
func (p *Plan) sampled(h *experiments.Hardware, j *experiments.Job) bool {
	return h.Engine != engineSimulated || j.Runtime == nil
}

// profileKey describes all that a job's samples depend on.
func (p *Plan) profileKey(j *experiments.Job) *Key {
	k := newKey("profile")
	for _, s := range p.state.host.Fingerprint() {
		k.Add("host."+s.Name, s.Value)
	}
	k.Add("profile.overheads", "launch, pause, resume, resize")
	k.Addf("profile.lengths", "%v %s", sampleLengths(length(j), p.spec.Profile), lengthUnit(j))
	k.Append(p.state.programs.program(j))
	return k
}

// profileHash is the address of a job's samples.
func (p *Plan) profileHash(j *experiments.Job) string {
	h, ok := p.state.profileHashes[j]
	if !ok {
		h = p.profileKey(j).Hash()
		p.state.profileHashes[j] = h
	}
	return h
}

// sampleLengths are the lengths of a job's samples: multiples of the part of
// the job that the file asks for (at least one unit), never more than the job.
func sampleLengths(total int, profile experiments.Profile) []int {
	shortest := max(1, int(float64(total)*profile.Fraction+0.5))
	lengths := make([]int, profile.Samples)
	for i := range lengths {
		lengths[i] = min(total, shortest*(i+1))
	}
	return lengths
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
		var k Key
		for _, s := range p.state.host.Fingerprint() {
			k.Add("host."+s.Name, s.Value)
		}
		host = k.lines
	}
	p.state.keys = make([]*Key, len(p.Cells))
	p.Work = make([]CellWork, len(p.Cells))
	for i := range p.Cells {
		c := p.spec.Cells[p.state.specCell[i]]
		real, err := p.realise(c, p.Cells[i].Replicate)
		if err != nil {
			return err
		}
		k := newKey("execute")
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
		for _, j := range jobsOf(c) {
			lines := p.state.programs.describe(j)
			if c.Hardware.Engine == engineSimulated {
				lines = append(slices.Clone(lines), p.runtimeLines(c.Hardware, j)...)
			}
			for _, l := range lines {
				if !said[l] {
					said[l] = true
					k.lines = append(k.lines, l)
				}
			}
		}
		k.Append(p.estimateLines(c))
		k.Addf("records", "%s", p.spec.Records)
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
	c := readCache(p.Dir, results.CacheFile)
	defer c.close()
	onDisk := cellFolders(p.Dir)
	c.view(func(v cacheView) {
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
	})
	entries, _ := os.ReadDir(filepath.Join(p.Dir, results.CellsDir))
	for _, e := range entries { // in name order
		if onDisk[e.Name()] {
			p.Stale = append(p.Stale, e.Name())
		}
	}
}

func (p *Plan) lookUpCell(v cacheView, i int, onDisk map[string]bool) CellWork {
	ref := p.Cells[i]
	if p.options.Fresh {
		return CellWork{Reason: "asked to run afresh"}
	}
	dir := filepath.Join(p.Dir, results.CellsDir, ref.Cell)
	if v.has(ref.Key) {
		if onDisk[ref.Cell] && cellComplete(dir, ref.Key) {
			return CellWork{Reuse: true, Reason: "finished earlier"}
		}
		if _, ok := v.output(ref.Key); ok {
			return CellWork{Reuse: true, Reason: "in the cache"}
		}
	}
	old, state := previous(v, p, i, dir, onDisk[ref.Cell])
	switch {
	case old == p.state.keys[i].Description() && state == results.CellFinished:
		return CellWork{Reuse: true, Reason: "finished earlier"}
	case old == p.state.keys[i].Description() && state == interrupted:
		return CellWork{Reason: p.incomplete()}
	case old == p.state.keys[i].Description():
		return CellWork{Reason: state + " before"}
	case old != "":
		changes := diff(old, p.state.keys[i].Description())
		return CellWork{Reason: changeReason(changes), Changes: changes}
	case onDisk[ref.Cell]:
		return CellWork{Reason: p.incomplete()}
	}
	return CellWork{Reason: "new"}
}

// interrupted is the state of a cell whose folder is not complete.
const interrupted = "interrupted"

// incomplete says why a cell's folder is not complete.
func (p *Plan) incomplete() string {
	if _, held := Holder(p.Dir); held {
		return "under way, in the run that is going on"
	}
	return interrupted + " before"
}

// previous returns the description that a cell last ran under, and how that
// ended: by its own name, or by what stood in its place in the matrix before
// an axis was edited.
func previous(v cacheView, p *Plan, i int, dir string, onDisk bool) (description, state string) {
	ref := p.Cells[i]
	if onDisk {
		if raw, err := os.ReadFile(filepath.Join(dir, keyFile)); err == nil {
			state := interrupted
			if s, ok := cellState(dir); ok && results.Intact(dir) {
				state = s
			}
			return string(raw), state
		}
	}
	for _, unit := range []string{cellUnit(ref), familyUnit(ref)} {
		if e, ok := v.last(unit); ok {
			return e.Description, "evicted"
		}
	}
	return "", ""
}

// changeReason names the changed labels: "policy.quantum changed".
func changeReason(changes []Change) string {
	const most = 3
	var labels []string
	for _, c := range changes {
		// What is drawn follows from the lines before it.
		if c.Label != "workload.jobs" && c.Label != "seed" || len(changes) == 1 {
			labels = append(labels, c.Label)
		}
	}
	if len(labels) > most {
		return fmt.Sprintf("%s and %d more changed", strings.Join(labels[:most], ", "), len(labels)-most)
	}
	return strings.Join(labels, ", ") + " changed"
}

// needProfiles marks the job kinds that a cell which runs will want samples of.
func (p *Plan) needProfiles(i int) {
	c := p.spec.Cells[p.state.specCell[i]]
	for _, j := range jobsOf(c) {
		if !p.sampled(c.Hardware, j) {
			continue
		}
		p.state.needed[p.profileHash(j)] = true
	}
}

func (p *Plan) lookUpProfile(v cacheView, i int) {
	unit, work := &p.state.profiles[i], &p.Profiles[i]
	hash := unit.key.Hash()
	if raw, ok := v.output(hash); ok && !p.options.Fresh {
		var samples []estimator.Sample
		if json.Unmarshal(raw, &samples) == nil {
			p.state.samples[hash] = samples
			work.Reuse, work.Reason = true, "sampled earlier"
			return
		}
	}
	if samples := readSamples(p.Dir, *unit); samples != nil && !p.options.Fresh {
		p.state.samples[hash] = samples
		work.Reuse, work.Reason = true, "sampled earlier"
		return
	}
	switch e, ok := v.last(profileUnitName(unit.job)); {
	case p.options.Fresh:
		work.Reason = "asked to run afresh"
	case !p.state.needed[hash]:
		work.Reuse, work.Reason = true, "no cell that runs needs it; predictions stay those of earlier samples"
	case ok:
		work.Changes = diff(e.Description, unit.key.Description())
		work.Reason = changeReason(work.Changes)
	default:
		work.Reason = "new"
	}
}

// Names of units in the cache.
func cellUnit(r results.CellRef) string { return "cell " + r.Cell }
func familyUnit(r results.CellRef) string {
	return fmt.Sprintf("family %s %s %s r%d", r.Workload, r.Hardware, r.Policy, r.Replicate)
}
func profileUnitName(j *experiments.Job) string { return "profile " + kindName(j) }

// cellFolders lists the folders under cells/.
func cellFolders(dir string) map[string]bool {
	folders := map[string]bool{}
	entries, err := os.ReadDir(filepath.Join(dir, results.CellsDir))
	if err != nil {
		return folders
	}
	for _, e := range entries {
		if e.IsDir() {
			folders[e.Name()] = true
		}
	}
	return folders
}

// cellComplete tells whether a cell's folder is complete and was written
// under the key.
func cellComplete(dir, key string) bool {
	raw, err := os.ReadFile(filepath.Join(dir, keyFile))
	if err != nil {
		return false
	}
	if hashOf(string(raw)) != key {
		return false
	}
	return results.Intact(dir)
}

// cellState reads how a complete cell ended.
func cellState(dir string) (string, bool) {
	raw, err := os.ReadFile(filepath.Join(dir, results.CellFile))
	if err != nil {
		return "", false
	}
	var c struct {
		State string `json:"state"`
	}
	if json.Unmarshal(raw, &c) != nil || c.State == "" {
		return "", false
	}
	return c.State, true
}

// keyFile holds the description of a cell's key, beside its outputs.
const keyFile = "key.txt"

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
	_, err := os.Stat(filepath.Join(dir, results.PlanFile))
	return err == nil
}
