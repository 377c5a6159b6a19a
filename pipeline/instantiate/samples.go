package instantiate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/experiment"
)

// planSamples lists the jobs to sample: real jobs, for predictions, and simulated jobs whose run time the file does
// not give.
func (x *Experiment) planSamples() {
	x.addUnits(x.Spec.Cells, func(c point, j *experiment.Job) bool { return x.sampled(c.Hardware, j) })
}

// Added registers the samples that cells outside the matrix need: samples that policies use, and samples of simulated
// jobs without a run time in the file. Real jobs of such cells are not sampled only to predict their run time.
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
	x.addUnits(points, func(c point, j *experiment.Job) bool {
		return x.sampled(c.Hardware, j) && (!c.Hardware.Real() || x.decidesByEstimates(c))
	})
}

// addUnits adds the jobs of points for which wants is true, without repetitions, and then the same jobs on other
// numbers of threads.
func (x *Experiment) addUnits(points []point, wants func(point, *experiment.Job) bool) {
	at := map[string]*stages.Unit{} // by the hash of its key
	named := map[string]int{}
	for _, u := range x.units {
		at[u.Hash] = u
		named[u.Block]++
	}
	add := func(j *experiment.Job, asked bool) {
		k := x.profileKey(j)
		h := k.Hash()
		u, ok := at[h]
		if !ok {
			u = x.unit(j, k, h)
			if named[u.Name]++; named[u.Name] > 1 { // several forms of a block that reads axes
				u.Name = fmt.Sprintf("%s.%d", u.Name, named[u.Name])
			}
			at[h] = u
			f := x.family(j)
			x.families[f] = append(x.families[f], len(x.units))
			x.units = append(x.units, u)
		}
		u.Asked = u.Asked || asked
	}
	var extra []*experiment.Job
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

func (x *Experiment) unit(j *experiment.Job, key *store.Key, hash string) *stages.Unit {
	u := &stages.Unit{
		Name: blockName(j), Block: blockName(j), Key: key.Description(), Hash: hash, Job: j.Name,
		Threads: j.Threads.Request, Inter: j.Threads.Inter, Intra: j.Threads.Intra,
		GPUs: j.GPUs, GPUType: x.gpuType(j), Steps: j.Steps > 0, Pick: pickOf(j.TimeWriter),
		Lengths: sampleLengths(j.Length(), x.Spec.Profile), Repeats: x.Spec.Profile.Repeats,
		Engine: engine.Local(),
		Launch: func(name string, length int, logs, scratch string) launch.Job {
			return x.launch(j, name, length, logs, scratch)
		},
	}
	x.sampledJob[u] = j
	if len(x.Spec.Profile.Lengths) == 0 {
		u.Total = j.Length()
	}
	u.Limit = sampleLimit(x.Spec.Profile, j)
	if in := x.places[j]; in != nil {
		u.Engine, u.Hardware = in.On.Kind(), in.On.ForEngine()
	}
	return u
}

// gpuType returns the model of the GPUs that a job runs on; "" if it uses none.
func (x *Experiment) gpuType(j *experiment.Job) string {
	if j.GPUs == 0 {
		return ""
	}
	return x.Host.GPUType
}

// HostPrint returns the fingerprint of the machine, as samples and past runs record it.
func (x *Experiment) HostPrint() string {
	var k store.Key
	x.hostLines(&k)
	return k.Hash()[:12]
}

func (x *Experiment) hostLines(k *store.Key) {
	for _, s := range x.Host.Fingerprint() {
		k.Add("host."+s.Name, s.Value)
	}
}

// SampledUnits implements stages.Sampling.
func (x *Experiment) SampledUnits() []*stages.Unit { return x.units }

// onThreads returns a job with another number of threads, divided into its thread pools as the engine divides them.
func (x *Experiment) onThreads(j *experiment.Job, n int) *experiment.Job {
	other := *j
	if in := x.places[j]; in != nil {
		x.places[&other] = in
	}
	other.Threads.Inter, other.Threads.Intra = contract.Split(j.Threads.Inter, j.Threads.Intra, j.Threads.Request, n)
	other.Threads.Request = n
	other.Parts = j.WithFewest().Parts
	other.Form = fmt.Sprintf("%dt", n)
	return &other
}

// sampled reports whether a job's run time on a hardware is estimated from samples. The run time of an open job is
// its budget.
func (x *Experiment) sampled(h *experiment.Hardware, j *experiment.Job) bool {
	return !j.Open() && (h.Real() || j.Runtime == nil && !h.Kind().Recorded)
}

// profileKey returns the description of everything that a job's samples depend on.
func (x *Experiment) profileKey(j *experiment.Job) *store.Key {
	k := store.NewKey(stages.Writer(stages.Samples))
	x.hostLines(k)
	k.Add("profile.measures", "start-up, units, save, launch, pause, resume, resize, speed of the machine")
	k.Addf("profile.lengths", "%v %s", sampleLengths(j.Length(), x.Spec.Profile), lengthUnit(j))
	k.Addf("profile.repeats", "%d", x.Spec.Profile.Repeats)
	k.Given("profile.budget", x.Spec.Profile.Budget)
	k.Given("profile.limit", x.Spec.Profile.Limit)
	if w := x.Spec.Estimate.Within; w != experiment.UsualWithin {
		k.Given("profile.within", w)
	}
	x.source(k, j)
	heldLines(k, j)
	if in := x.places[j]; in != nil && j.RunsAsSeveralPrograms() {
		k.Addf("profile.nodes", "%v", in.Nodes(j))
	}
	if j.TimeWriter != "" && j.TimeWriter != "last" {
		k.Add("job."+j.Name+".time_writer", j.TimeWriter)
	}
	return k
}

// family returns the settings that jobs have in common when their samples are fitted together: the program and the
// lengths, not the threads.
func (x *Experiment) family(j *experiment.Job) string {
	var k store.Key
	x.source(&k, j)
	k.Addf("lengths", "%v %s, gpus %d, nodes %d", sampleLengths(j.Length(), x.Spec.Profile), lengthUnit(j), j.GPUs, j.Nodes)
	return k.Description()
}

// profileHash returns the address of a job's samples on its request.
func (x *Experiment) profileHash(j *experiment.Job) string {
	return once(&x.known, samplesOf{j}, func() string { return x.profileKey(j).Hash() })
}

type samplesOf struct{ job *experiment.Job }

// sampleHashes returns the addresses of all samples that a model uses for a job, first those on its request.
func (x *Experiment) sampleHashes(j *experiment.Job, model string) []string {
	hashes := []string{x.profileHash(j)}
	if experiment.UsesCurve(model) {
		for _, i := range x.families[x.family(j)] {
			if h := x.units[i].Hash; h != hashes[0] {
				hashes = append(hashes, h)
			}
		}
	}
	return hashes
}

// estimateLine describes the estimate of a job for keys: the model, and the addresses of its samples.
func (x *Experiment) estimateLine(j *experiment.Job) string {
	model := x.Spec.Estimate.Model
	return model + " " + strings.Join(x.sampleHashes(j, model), " ")
}

// Needs returns the hashes of the samples that a cell needs for its estimates.
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

// models returns the names of the run-time models: first the model of the estimates, then the models that it is
// compared with.
func (x *Experiment) models() []string {
	return append([]string{x.Spec.Estimate.Model}, x.Spec.Estimate.Models...)
}

// Budget returns how much time sampling may take, as a fraction of the predicted time of the real cells; 0 means no
// limit.
func (x *Experiment) Budget() float64 { return x.Spec.Profile.Budget }

// Within implements stages.Sampling.
func (x *Experiment) Within() float64 { return x.Spec.Estimate.Within }

// besideKey returns the description of everything that a sample of copies of a job side by side depends on.
func (x *Experiment) besideKey(j *experiment.Job, copies, cores int) *store.Key {
	k := x.profileKey(j)
	k.Addf("profile.beside", "%d copies on %d cores", copies, cores)
	return k
}

// addBeside adds the sample of copies of a job side by side, if the hardware of the point measures contention.
func (x *Experiment) addBeside(c point, j *experiment.Job, at map[string]*stages.Unit) {
	copies, cores := x.copies(c.Hardware, j)
	if copies == 0 {
		return
	}
	k := x.besideKey(j, copies, cores)
	h := k.Hash()
	if at[h] != nil {
		return
	}
	alone := at[x.profileHash(j)]
	u := x.unit(j, k, h)
	u.Name = fmt.Sprintf("%s-beside-%d-on-%d", alone.Name, copies-1, cores)
	u.Block += fmt.Sprintf(" beside %d on %d", copies-1, cores)
	u.Copies, u.Cores, u.Total, u.Repeats = copies, cores, 0, 1
	u.Lengths = u.Lengths[len(u.Lengths)-1:]
	u.Relatives = x.families[x.family(j)]
	at[h] = u
	x.units = append(x.units, u)
}

// measured returns the contention law of a hardware, fitted to samples of jobs that ran side by side. It returns
// false without such samples.
func (x *Experiment) measured(h *experiment.Hardware) (estimator.Contention, bool) {
	var slowed []estimator.Slowed
	for _, u := range x.units {
		job := x.sampledJob[u]
		if _, cores := x.copies(h, job); u.Copies == 0 || cores != u.Cores {
			continue
		}
		for _, s := range x.samples[u.Hash] {
			if m, ok := estimator.SideBySide(x.samples[x.profileHash(job)], s); ok {
				slowed = append(slowed, m)
			}
		}
	}
	return estimator.FitSlowed(slowed), len(slowed) > 0
}

// sharing adds to the simulation of a real cell the measured law by which its jobs slow each other down.
func (c *Cell) sharing(task *stages.Task, k *store.Key) {
	law, measured := c.x.measured(c.Hardware)
	if !measured {
		return
	}
	task.Simulation.Contention = &stages.Contention{Law: law}
	k.Addf("contention", "serial %.4g, capacity %.4g, sharpness %.4g", law.Serial, law.Capacity, law.Sharpness)
}

// blockName returns the name of a job block with the name of its form.
func blockName(j *experiment.Job) string {
	if j.Form == "" {
		return j.Name
	}
	return j.Name + "-" + j.Form
}

// pickOf returns how lines of the time writer are read, for a word of the language.
func pickOf(word string) contract.Pick {
	switch word {
	case "first":
		return contract.First
	case "longest":
		return contract.Longest
	}
	return contract.Last
}

// otherThreads returns the numbers of threads, besides its request, on which a job of a cell is sampled, if a model
// fits a speed-up curve.
//
// They are the numbers in the file. Without them, if the job may run on other numbers, they are the fewest and the
// most threads that it may hold. The fewest is the number in the file, or half of the request: a sample on one thread
// could take as long as the job. No number exceeds the machine's threads.
func (x *Experiment) otherThreads(c point, j *experiment.Job) []int {
	switch {
	case !slices.ContainsFunc(x.models(), experiment.UsesCurve):
		return nil
	case j.RunsAsSeveralPrograms(): // the fewest parts with which it can run if nodes may be lost
		if fewest := j.WithFewest(); c.Hardware.Cluster.Changes() && c.Hardware.Real() && fewest.Threads.Request < j.Threads.Request {
			return []int{fewest.Threads.Request}
		}
		return nil
	}
	request, counts := j.Threads.Request, slices.Clone(x.Spec.Profile.Threads)
	if len(counts) == 0 {
		partial := c.Policy.Partial() || c.Policy.DividesCores(c.Hardware)
		resized := len(c.Workload.Resizes) > 0 || c.Workload.Trace != nil && len(c.Workload.Trace.Resizes) > 0
		if !partial && !resized {
			return nil
		}
		counts = []int{cmp.Or(j.Threads.Min, max(1, request/2)), max(request, j.Threads.Max)}
	}
	return slices.DeleteFunc(counts, func(n int) bool {
		return n == request || n > x.Host.Threads || n%max(j.Nodes, 1) != 0
	})
}

// sampleLengths returns the lengths of a job's samples: those in the file, or multiples of the fraction of the job in
// the file (at least one unit). None exceeds the job's length.
func sampleLengths(total int, profile experiment.Profile) []int {
	if len(profile.Lengths) > 0 {
		lengths := slices.Clone(profile.Lengths)
		for i := range lengths {
			lengths[i] = min(total, lengths[i])
		}
		return slices.Compact(lengths)
	}
	shortest := max(1, int(float64(total)*profile.Fraction+0.5))
	lengths := make([]int, profile.Samples)
	for i := range lengths {
		lengths[i] = min(total, shortest*(i+1))
	}
	return lengths
}

// longestSample is the longest time that a sample may take if the file sets no limit.
const longestSample = 10 * time.Minute

// sampleLimit returns the longest time that a sample of a job may take.
func sampleLimit(p experiment.Profile, j *experiment.Job) time.Duration {
	if p.Limit == 0 && j.Budget != nil {
		return *j.Budget
	}
	return cmp.Or(p.Limit, longestSample)
}

// mostCopies is the largest number of copies of a job that are sampled side by side.
const mostCopies = 8

// copies returns how many copies of a job are sampled side by side for a hardware, and how many cores of a node they
// share. It returns 0 if two copies do not fit, or if contention is not measured.
func (x *Experiment) copies(h *experiment.Hardware, j *experiment.Job) (copies, cores int) {
	kind := h.Kind()
	if x.Spec.Profile.Alone || !h.Real() || !kind.Here && !kind.Contained ||
		j.RunsAsSeveralPrograms() || j.GPUs > 0 || len(h.Cluster.Nodes) == 0 || h.Cluster.Changes() {
		return 0, 0
	}
	cores = min(h.Cluster.Nodes[0].Threads, x.Host.Threads)
	if copies = min(cores/max(j.Threads.Request, 1), mostCopies); copies < 2 {
		return 0, 0
	}
	return copies, cores
}
