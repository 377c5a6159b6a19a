package realise

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/pipeline/realise/program"
	"github.com/tfexp/tfexp/pipeline/realise/sampling"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/stages"
)

// Unit is a job on one number of threads whose run time is to be sampled.
type Unit struct {
	stages.Unit
	job *experiments.Job
	x   *Experiment
}

// Length is the whole job, in epochs or steps.
func (u *Unit) Length() int { return program.Length(u.job) }

// Estimate is the fitted estimate of the job, if its samples are known.
func (u *Unit) Estimate() (estimator.Estimate, bool) { return u.x.estimateOf(u.job) }

// Identity is what the job runs, whatever its block is called, and what sort of
// program that is, as past runs carry them.
func (u *Unit) Identity() (name, kind string) { return u.x.identityOf(u.job) }

// planSamples lists the jobs that have to be sampled: those that run for real,
// for predictions, and those whose simulated run time the file does not give.
func (x *Experiment) planSamples() {
	x.addUnits(x.spec.Cells, func(c point, j *experiments.Job) bool { return x.sampled(c.Hardware, j) })
}

// Added makes the samples known that cells beyond the matrix need: those by which
// policies decide, and those of simulated jobs whose run time the file does not
// give. Such a cell is not sampled for a prediction of its length alone.
func (x *Experiment) Added(cells []*Cell) {
	var points []point
	for _, c := range cells {
		if !c.planned {
			c.planned = true
			points = append(points, c.point)
		}
	}
	if len(points) == 0 {
		return
	}
	x.added = append(x.added, points...)
	x.addUnits(points, func(c point, j *experiments.Job) bool {
		return x.sampled(c.Hardware, j) && (!c.Hardware.Real() || x.decidesByEstimates(c))
	})
}

// addUnits adds the jobs of points that want samples, each once, and then the same
// on the other numbers of threads that are sampled.
func (x *Experiment) addUnits(points []point, wants func(point, *experiments.Job) bool) {
	at := map[string]*Unit{} // by the hash of their key
	named := map[string]int{}
	for _, u := range x.units {
		at[u.Hash] = u
		named[u.Block]++
	}
	add := func(j *experiments.Job, asked bool) {
		k := x.profileKey(j)
		h := k.Hash()
		u, ok := at[h]
		if !ok {
			u = x.unit(j, k, h)
			if named[u.Name]++; named[u.Name] > 1 { // a block that reads axes
				u.Name = fmt.Sprintf("%s.%d", u.Name, named[u.Name])
			}
			at[h] = u
			f := x.family(j)
			x.families[f] = append(x.families[f], len(x.units))
			x.units = append(x.units, u)
		}
		u.Asked = u.Asked || asked
	}
	var extra []*experiments.Job
	for _, c := range points {
		for _, j := range jobsOf(c) {
			if !wants(c, j) {
				continue
			}
			add(j, true)
			for _, n := range x.otherThreads(c, j) {
				extra = append(extra, x.onThreads(j, n))
			}
		}
	}
	for _, j := range extra {
		add(j, false)
	}
	for _, c := range points {
		for _, j := range jobsOf(c) {
			if wants(c, j) {
				x.addBeside(c, j, at)
			}
		}
	}
	for _, units := range x.families {
		slices.SortFunc(units, func(a, b int) int { return x.units[a].Threads - x.units[b].Threads })
		for _, i := range units {
			x.units[i].Relatives = units
		}
	}
}

func (x *Experiment) unit(j *experiments.Job, key *store.Key, hash string) *Unit {
	u := &Unit{job: j, x: x, Unit: stages.Unit{
		Name: sampling.BlockName(j), Block: sampling.BlockName(j), Key: key.Description(), Hash: hash, Job: j.Name,
		Threads: j.Threads.Request, Inter: j.Threads.Inter, Intra: j.Threads.Intra,
		GPUs: j.GPUs, GPUType: x.gpuType(j), Steps: j.Steps > 0, Pick: sampling.Pick(j.TimeWriter),
		Lengths: sampling.Lengths(program.Length(j), x.spec.Profile), Repeats: x.spec.Profile.Repeats,
		Engine: engine.Local(),
		Launch: func(name string, length int, logs, scratch string) launch.Job {
			return x.programs.Launch(j, name, length, program.Folders{Logs: logs, Scratch: scratch})
		},
	}}
	if len(x.spec.Profile.Lengths) == 0 {
		u.Total = u.Length()
	}
	u.Limit = sampling.Limit(x.spec.Profile, j)
	if in := x.places[j]; in != nil {
		u.Engine, u.Hardware = in.On.Kind(), in.On.ForEngine()
	}
	return u
}

// gpuType is the model of the GPUs that a job runs on; empty without any.
func (x *Experiment) gpuType(j *experiments.Job) string {
	if j.GPUs == 0 {
		return ""
	}
	return x.host.GPUType
}

// HostPrint is the fingerprint of the machine in a word, as samples and past
// runs carry it.
func (x *Experiment) HostPrint() string {
	var k store.Key
	k.Append(x.hostLines())
	return k.Hash()[:12]
}

func (x *Experiment) hostLines() []string {
	var k store.Key
	for _, s := range x.host.Fingerprint() {
		k.Add("host."+s.Name, s.Value)
	}
	return k.Lines()
}

// Units are the jobs to sample, in the order of the file.
func (x *Experiment) Units() []*Unit { return x.units }

// SampledUnits implements stages.Sampling.
func (x *Experiment) SampledUnits() []*stages.Unit {
	units := make([]*stages.Unit, len(x.units))
	for i, u := range x.units {
		units[i] = &u.Unit
	}
	return units
}

// usesCurve reports whether a model looks at samples on other numbers of threads
// than the request.
func usesCurve(model string) bool { return model == "auto" || model == "scaling" }

// otherThreads are the numbers of threads, beside its request, on which a job of a cell is to be sampled; none where no
// model looks at them.
func (x *Experiment) otherThreads(c point, j *experiments.Job) []int {
	if !slices.ContainsFunc(x.models(), usesCurve) {
		return nil
	}
	return sampling.OtherThreads(x.spec.Profile, c, j, x.host.Threads)
}

// onThreads is a job with another number of threads, divided into its pools as
// the engine divides them.
func (x *Experiment) onThreads(j *experiments.Job, n int) *experiments.Job {
	other := *j
	if in := x.places[j]; in != nil {
		x.places[&other] = in
	}
	other.Threads.Inter, other.Threads.Intra = contract.Split(j.Threads.Inter, j.Threads.Intra, j.Threads.Request, n)
	other.Threads.Request = n
	if len(j.Roles) > 0 {
		fewest := sampling.WithFewest(j)
		other.Roles = fewest.Roles()
	}
	other.Form = fmt.Sprintf("%dt", n)
	return &other
}

// sampled reports whether a job's run time on a machine is estimated from samples.
// That of an open job is its budget.
func (x *Experiment) sampled(h *experiments.Hardware, j *experiments.Job) bool {
	return !j.Open() && (h.Real() || j.Runtime == nil && !h.Kind().Recorded)
}

// profileKey describes all that a job's samples depend on.
func (x *Experiment) profileKey(j *experiments.Job) *store.Key {
	k := store.NewKey(stages.Writer(stages.Samples))
	k.Append(x.hostLines())
	k.Add("profile.measures", "start-up, units, save, launch, pause, resume, resize, speed of the machine")
	k.Addf("profile.lengths", "%v %s", sampling.Lengths(program.Length(j), x.spec.Profile), program.LengthUnit(j))
	k.Addf("profile.repeats", "%d", x.spec.Profile.Repeats)
	if b := x.spec.Profile.Budget; b > 0 {
		k.Addf("profile.budget", "%g", b)
	}
	if d := x.spec.Profile.Limit; d > 0 {
		k.Addf("profile.limit", "%s", d)
	}
	k.Append(x.programs.Source(j))
	k.Append(program.Held(j))
	if in := x.places[j]; in != nil && len(j.Roles) > 0 {
		k.Addf("profile.nodes", "%v", in.Nodes(j))
	}
	if j.TimeWriter != "" && j.TimeWriter != "last" {
		k.Add("job."+j.Name+".time_writer", j.TimeWriter)
	}
	return k
}

// family is what jobs have in common whose samples are fitted together: the
// program and the lengths, but not the threads.
func (x *Experiment) family(j *experiments.Job) string {
	var k store.Key
	k.Append(x.programs.Source(j))
	k.Addf("lengths", "%v %s, gpus %d, nodes %d", sampling.Lengths(program.Length(j), x.spec.Profile), program.LengthUnit(j), j.GPUs, j.Nodes)
	return k.Description()
}

// profileHash is the address of a job's samples on its request.
func (x *Experiment) profileHash(j *experiments.Job) string {
	x.hashing.Lock()
	defer x.hashing.Unlock()
	h, ok := x.sampleHash[j]
	if !ok {
		h = x.profileKey(j).Hash()
		x.sampleHash[j] = h
	}
	return h
}

// sampleHashes are the addresses of all samples that a model looks at for a
// job: those on its request first.
func (x *Experiment) sampleHashes(j *experiments.Job, model string) []string {
	hashes := []string{x.profileHash(j)}
	if usesCurve(model) {
		for _, i := range x.families[x.family(j)] {
			if h := x.units[i].Hash; h != hashes[0] {
				hashes = append(hashes, h)
			}
		}
	}
	return hashes
}

// estimateLine describes the estimate of a job: the model, and the addresses of
// its samples.
func (x *Experiment) estimateLine(j *experiments.Job) string {
	model := x.spec.Estimate.Model
	return model + " " + strings.Join(x.sampleHashes(j, model), " ")
}

// Needs returns the hashes of the samples that a cell wants for its estimates.
func (c *Cell) Needs() []string {
	var hashes []string
	for _, j := range jobsOf(c.point) {
		if !c.x.sampled(c.Hardware, j) {
			continue
		}
		for _, model := range c.x.models() {
			hashes = append(hashes, c.x.sampleHashes(j, model)...)
		}
		if copies, cores := c.x.copies(c.Hardware, j); copies > 0 {
			hashes = append(hashes, c.x.besideKey(j, copies, cores).Hash())
		}
	}
	return hashes
}

// models are the names of the models of run times: that of the estimates, and
// those that it is compared with.
func (x *Experiment) models() []string {
	return append([]string{x.spec.Estimate.Model}, x.spec.Estimate.Models...)
}

// Samples returns the samples with a hash, if they are known.
func (x *Experiment) Samples(hash string) ([]estimator.Sample, bool) {
	s, ok := x.samples[hash]
	return s, ok
}

// SetSamples makes the samples of a unit known, or with nil unknown; what was
// fitted without them is forgotten. Cells must not be realised at the same time.
func (x *Experiment) SetSamples(hash string, samples []estimator.Sample) {
	x.samples[hash] = samples
	if samples == nil {
		delete(x.samples, hash)
	}
	clear(x.fits)
}

// Budget is how much time sampling may take, as a part of what the real cells are
// predicted to take; 0 for no bound.
func (x *Experiment) Budget() float64 { return x.spec.Profile.Budget }
