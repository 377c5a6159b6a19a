package pipeline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/scheduler"
)

// profileUnit is one job kind, on one number of threads, to be sampled.
type profileUnit struct {
	job *experiments.Job
	// name is that of its files: the job block's, with what tells it from others.
	name string
	key  *store.Key
	// lengths of the samples, each of which is taken so many times.
	lengths []int
	repeats int
	// asked says that a job asks for this number of threads; the others are
	// sampled for the speed-up curve alone.
	asked bool
}

// planProfiles lists the job kinds that have to be sampled: those that run
// for real, for predictions, and those whose simulated run time the file does
// not give.
func (p *Plan) planProfiles() error {
	at := map[string]int{} // of units, by the hash of their key
	named := map[string]int{}
	add := func(j *experiments.Job, asked bool) {
		k := p.profileKey(j)
		h := k.Hash()
		i, ok := at[h]
		if !ok {
			i = len(p.state.profiles)
			at[h] = i
			lengths := sampleLengths(length(j), p.spec.Profile)
			name := kindName(j)
			if named[name]++; named[name] > 1 { // a block that reads axes
				name = fmt.Sprintf("%s.%d", name, named[name])
			}
			p.state.profiles = append(p.state.profiles, profileUnit{job: j, name: name, key: k, lengths: lengths, repeats: p.spec.Profile.Repeats})
			p.Profiles = append(p.Profiles, ProfileWork{
				Name: name, Job: j.Name, Threads: j.Threads.Request, Lengths: lengths, Unit: lengthUnit(j), Repeats: p.spec.Profile.Repeats,
			})
			f := p.family(j)
			p.state.families[f] = append(p.state.families[f], i)
		}
		p.state.profiles[i].asked = p.state.profiles[i].asked || asked
	}
	var extra []*experiments.Job
	for _, c := range p.spec.Cells {
		for _, j := range jobsOf(c) {
			if !p.sampled(c.Hardware, j) {
				continue
			}
			add(j, true)
			for _, n := range p.otherThreads(c, j) {
				extra = append(extra, p.onThreads(j, n))
			}
		}
	}
	for _, j := range extra {
		add(j, false)
	}
	for _, units := range p.state.families {
		slices.SortFunc(units, func(a, b int) int {
			return p.state.profiles[a].job.Threads.Request - p.state.profiles[b].job.Threads.Request
		})
	}
	return nil
}

// usesCurve tells whether a model looks at samples on other numbers of threads
// than the request.
func usesCurve(model string) bool { return model == "auto" || model == "scaling" }

// otherThreads are the numbers of threads, beside its request, on which a job of
// a cell is to be sampled: those that the file says; or else, where it may come
// to run on another number, the fewest and the most that it may hold. The
// fewest is what the file says, or half of the request: a sample on one thread
// of many would take as long as the job. None are more than the machine has.
func (p *Plan) otherThreads(c experiments.Cell, j *experiments.Job) []int {
	if !slices.ContainsFunc(append([]string{p.spec.Estimate.Model}, p.spec.Estimate.Models...), usesCurve) {
		return nil
	}
	request := j.Threads.Request
	counts := slices.Clone(p.spec.Profile.Threads)
	if len(counts) == 0 {
		partial := c.Policy.Allocation != scheduler.Strict
		resized := len(c.Workload.Resizes) > 0 || c.Workload.Trace != nil && len(c.Workload.Trace.Resizes) > 0
		if !partial && !resized {
			return nil
		}
		least := j.Threads.Min
		if least == 0 {
			least = max(1, request/2)
		}
		counts = []int{least, max(request, j.Threads.Max)}
	}
	return slices.DeleteFunc(counts, func(n int) bool {
		return n == request || n > p.state.host.Threads || n%max(j.Nodes, 1) != 0
	})
}

// onThreads is a job with another number of threads, divided into its pools as
// the engine divides them.
func (p *Plan) onThreads(j *experiments.Job, n int) *experiments.Job {
	other := *j
	if c := p.state.containers[j]; c != nil {
		p.state.containers[&other] = c
	}
	other.Threads.Inter, other.Threads.Intra = contract.Split(j.Threads.Inter, j.Threads.Intra, j.Threads.Request, n)
	other.Threads.Request = n
	other.Variant = fmt.Sprintf("%dt", n)
	return &other
}

// sampled tells whether a job's run time on a machine is estimated from samples.
func (p *Plan) sampled(h *experiments.Hardware, j *experiments.Job) bool {
	return h.Engine != engineSimulated || j.Runtime == nil
}

// profileKey describes all that a job's samples depend on.
func (p *Plan) profileKey(j *experiments.Job) *store.Key {
	k := store.NewKey("profile")
	for _, s := range p.state.host.Fingerprint() {
		k.Add("host."+s.Name, s.Value)
	}
	k.Add("profile.measures", "start-up, units, save, launch, pause, resume, resize")
	k.Addf("profile.lengths", "%v %s", sampleLengths(length(j), p.spec.Profile), lengthUnit(j))
	k.Addf("profile.repeats", "%d", p.spec.Profile.Repeats)
	if b := p.spec.Profile.Budget; b > 0 {
		k.Addf("profile.budget", "%g", b)
	}
	k.Append(p.state.programs.source(j))
	k.Append(held(j))
	if j.TimeWriter != "" && j.TimeWriter != "last" {
		k.Add("job."+j.Name+".time_writer", j.TimeWriter)
	}
	return k
}

// family is what jobs have in common whose samples tell of one another: the
// program and the lengths, but not the threads.
func (p *Plan) family(j *experiments.Job) string {
	var k store.Key
	k.Append(p.state.programs.source(j))
	k.Addf("lengths", "%v %s, gpus %d, nodes %d", sampleLengths(length(j), p.spec.Profile), lengthUnit(j), j.GPUs, j.Nodes)
	return k.Description()
}

// profileHash is the address of a job's samples on its request.
func (p *Plan) profileHash(j *experiments.Job) string {
	h, ok := p.state.profileHashes[j]
	if !ok {
		h = p.profileKey(j).Hash()
		p.state.profileHashes[j] = h
	}
	return h
}

// sampleHashes are the addresses of all samples that a model looks at for a
// job: those on its request first.
func (p *Plan) sampleHashes(j *experiments.Job, model string) []string {
	hashes := []string{p.profileHash(j)}
	if usesCurve(model) {
		for _, i := range p.state.families[p.family(j)] {
			if h := p.state.profiles[i].key.Hash(); h != hashes[0] {
				hashes = append(hashes, h)
			}
		}
	}
	return hashes
}

// estimateLine describes the estimate of a job: the model, and the addresses of
// its samples.
func (p *Plan) estimateLine(j *experiments.Job) string {
	model := p.spec.Estimate.Model
	return model + " " + strings.Join(p.sampleHashes(j, model), " ")
}

// sampleLengths are the lengths of a job's samples: those that the file lists,
// or multiples of the part of the job that the file asks for (at least one
// unit); never more than the job.
func sampleLengths(total int, profile experiments.Profile) []int {
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

// needProfiles marks the job kinds that a cell which runs will want samples of.
func (p *Plan) needProfiles(i int) {
	c := p.spec.Cells[p.state.specCell[i]]
	for _, j := range jobsOf(c) {
		if !p.sampled(c.Hardware, j) {
			continue
		}
		for _, model := range append([]string{p.spec.Estimate.Model}, p.spec.Estimate.Models...) {
			for _, h := range p.sampleHashes(j, model) {
				p.state.needed[h] = true
			}
		}
	}
}

func (p *Plan) lookUpProfile(v store.View, i int) {
	unit, work := &p.state.profiles[i], &p.Profiles[i]
	hash := unit.key.Hash()
	if raw, ok := v.Output(hash); ok && !p.options.Fresh {
		var samples []estimator.Sample
		if json.Unmarshal(raw, &samples) == nil {
			p.setSamples(hash, samples)
			work.Reuse, work.Reason = true, "sampled earlier"
			return
		}
	}
	if samples, ok := readSamples(p.Dir, *unit); ok && !p.options.Fresh {
		p.setSamples(hash, samples)
		work.Reuse, work.Reason = true, "sampled earlier"
		return
	}
	switch e, ok := v.Last(profileUnitName(unit.job)); {
	case p.options.Fresh:
		work.Reason = "asked to run afresh"
	case !p.state.needed[hash]:
		work.Reuse, work.Reason = true, "no cell that runs needs it; predictions stay those of earlier samples"
	case ok:
		work.Changes = store.Diff(e.Description, unit.key.Description())
		work.Reason = store.Reason(work.Changes)
	default:
		work.Reason = "new"
	}
}

// setSamples makes the samples of a unit known; what was fitted without them is
// forgotten.
func (p *Plan) setSamples(hash string, samples []estimator.Sample) {
	p.state.samples[hash] = samples
	clear(p.state.fits)
}
