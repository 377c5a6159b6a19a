package instantiate

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/stages/experiment"
)

// alternative is one in which the jobs of a block can run on a hardware.
type alternative struct {
	name string
	job  *experiment.Job // the block, or one of its alternatives
	// index is the index of job among the block and its alternatives.
	index int
	// gpu is its type of GPU, and rate how much faster it is there than the run
	// time of job.
	gpu     string
	rate    float64
	request scheduler.Alternative // without an estimate
}

// alternativesOn returns the alternatives in which a job can run on a hardware: its own request
// and its alternatives, as far as the hardware has room for them; and of those
// that are faster on one type of GPU than on another, one for each type. It is
// nil for a job without alternatives that runs on any node.
func alternativesOn(h *experiment.Hardware, j *experiment.Job) []alternative {
	if len(j.Alternatives) == 0 && j.GPU == "" &&
		(j.GPUs == 0 || j.Runtime == nil || len(j.Runtime.GPURates)+len(j.Runtime.Neighbours) == 0) {
		return nil
	}
	var alternatives []alternative
	for i, w := range j.WithAlternatives() {
		if !w.Reaches(h) {
			continue
		}
		if w.GPUs == 0 || w.Runtime == nil || len(w.Runtime.GPURates) == 0 || h.Real() {
			name := w.AlternativeName()
			alternatives = append(alternatives, alternative{name, w, i, w.GPU, 1, w.RequestOn(name, w.GPU)})
			continue
		}
		for _, gpu := range h.GPUTypes() {
			typed := *w
			typed.GPU = gpu
			if rate, ok := w.Runtime.RateOn(gpu); ok && (w.GPU == "" || w.GPU == gpu) && typed.Reaches(h) {
				name := w.AlternativeName() + ":" + gpu
				alternatives = append(alternatives, alternative{name, w, i, gpu, rate, w.RequestOn(name, gpu)})
			}
		}
	}
	return alternatives
}

// on lists the blocks of a job that run on a hardware: the job itself, if it
// has no alternatives, else the alternatives for which there is room.
func on(h *experiment.Hardware, j *experiment.Job) []*experiment.Job {
	var jobs []*experiment.Job
	for _, w := range alternativesOn(h, j) {
		if !slices.Contains(jobs, w.job) {
			jobs = append(jobs, w.job)
		}
	}
	if jobs == nil {
		return []*experiment.Job{j}
	}
	return jobs
}

// faster is work at a rate; the fixed part stays.
func faster(w simulated.Scaling, rate float64) simulated.Scaling {
	if rate != 1 {
		w.Scaled = time.Duration(math.Round(float64(w.Scaled) / rate))
	}
	return w
}

// alternativesOf returns the alternatives of each job block of a drawn workload
// on a hardware; nil when none has any.
func alternativesOf(h *experiment.Hardware, r jobList) [][]alternative {
	var all [][]alternative
	for k, j := range r.Blocks {
		if alternatives := alternativesOn(h, j); alternatives != nil {
			if all == nil {
				all = make([][]alternative, len(r.Blocks))
			}
			all[k] = alternatives
		}
	}
	return all
}

// alternativesAt returns a job's alternatives, from the alternatives of all blocks.
func alternativesAt(r *jobList, alternatives [][]alternative, job int) []alternative {
	if k := r.Block[job]; alternatives != nil && k >= 0 {
		return alternatives[k]
	}
	return nil
}

// workOn is the work of a job in one alternative: from its trace or the file, or
// the fitted estimate.
func (x *Experiment) workOn(h *experiment.Hardware, r jobList, job int, w alternative) (simulated.Scaling, error) {
	if traced, ok := r.Traced(job, w.index); ok {
		return faster(traced, w.rate), nil
	}
	if !x.estimated(h, w.job) && w.job.Runtime != nil {
		return faster(givenWork(w.job, r.EpochOn(job, w.index)), w.rate), nil
	}
	return x.workOf(w.job)
}

// workOnEach is the work of a job in each of several alternatives.
func (x *Experiment) workOnEach(
	h *experiment.Hardware, r jobList, job int, alternatives []alternative,
) (work simulated.Scaling, err error) {
	for _, w := range alternatives {
		on, err := x.workOn(h, r, job, w)
		if err != nil {
			return work, err
		}
		on.Special = &simulated.Special{Beside: w.request.Beside}
		work.AddAlternative(on)
	}
	return work, nil
}

// aloneOf is the true run time of a job alone: in the fastest of its alternatives.
func aloneOf(work simulated.Scaling, alternatives []alternative, threads int) time.Duration {
	if len(alternatives) == 0 {
		return work.RunTime(threads)
	}
	least := scheduler.Never
	for i, w := range alternatives {
		least = min(least, work.Alternatives()[i].RunTime(w.job.Threads.Request))
	}
	return least
}

// fittedOn has the predicted run time of each job in each of its alternatives; nil
// when no job has several. A job that cannot be predicted has 0.
func (x *Experiment) fittedOn(h *experiment.Hardware, r jobList) [][]time.Duration {
	alternatives := alternativesOf(h, r)
	if alternatives == nil {
		return nil
	}
	predicted := make([][]time.Duration, len(r.Jobs))
	for i := range predicted {
		for _, w := range alternativesAt(&r, alternatives, i) {
			d := time.Duration(0)
			if on, err := x.workOn(h, r, i, w); err == nil {
				d = max(on.RunTime(w.job.Threads.Request), 1)
			}
			predicted[i] = append(predicted[i], d)
		}
	}
	return predicted
}

// withAlternatives gives jobs their alternatives on a hardware, with the estimates that
// the policy is to decide by. trueTimes has the true run times, if they are known.
func (c *Cell) withAlternatives(r jobList, jobs []scheduler.Job, trueTimes []simulated.Scaling) []scheduler.Job {
	alternatives := alternativesOf(c.Hardware, r)
	if alternatives == nil {
		return jobs
	}
	jobs = slices.Clone(jobs) // other cells share them
	fitted, options := c.x.fittedOn(c.Hardware, r), c.simulatorOptions()
	for n := range jobs {
		j := &jobs[n]
		for k, w := range alternativesAt(&r, alternatives, n) {
			a := w.request
			if w.index == 0 { // a trace may say more than the block
				a.Threads, a.GPUs, a.Memory = j.Threads, j.GPUs, j.Memory
			}
			if c.Policy.EstimatesOn(c.Hardware) {
				a.Predicted = fitted[n][k]
				switch from := c.Policy.Source(); {
				case from.Asked:
					a.Predicted = w.job.Limit
					if asked := asked(&r, n, w.index); r.Asked(n) && asked > 0 {
						a.Predicted = asked
					}
				case from.Fitted: // each has a separate estimate, and so a separate error
					a.Predicted = c.noisy(a.Predicted, j.Name, w.name)
				case from.True:
					if trueTimes != nil {
						factor := options.Factor(j.Name)
						a.Predicted = max(time.Duration(float64(trueTimes[n].Alternatives()[k].RunTime(a.Threads))*factor), 1)
					}
				}
			}
			j.Own().Alternatives = append(j.Alternatives(), a)
		}
		if len(j.Alternatives()) > 0 {
			first := j.Alternatives()[0]
			j.Threads, j.GPUs, j.Memory, j.Predicted = first.Threads, first.GPUs, first.Memory, first.Predicted
			j.MinThreads, j.MaxThreads = 0, 0
		}
	}
	return jobs
}

// asked is the run time that a job's user requested for one of its alternatives.
func asked(r *jobList, job, alternative int) time.Duration {
	if all := r.AlternativesOf(job); all != nil {
		return all[alternative].Predicted
	}
	return r.Jobs[job].Predicted
}

// noisy gives an estimate a lognormal error with median 1: all policies of a
// replicate see the same errors.
func (c *Cell) noisy(d time.Duration, of ...string) time.Duration {
	if c.Policy.Sigma == 0 {
		return d
	}
	z := workload.Stream(c.Ref.Seed, append([]string{"estimates"}, of...)...).NormFloat64()
	return time.Duration(float64(d) * math.Exp(c.Policy.Sigma*z))
}

// launchAlternatives returns the request of a real job in each of its alternatives.
func launchAlternatives(h *experiment.Hardware, j *experiment.Job) []launch.Request {
	var requests []launch.Request
	for _, w := range alternativesOn(h, j) {
		t := w.job.Threads
		requests = append(requests, launch.Request{Threads: t.Request, Inter: t.Inter, Intra: t.Intra, Memory: w.job.Memory})
	}
	return requests
}

// alternativeLines adds the key lines of a job's alternatives on a hardware.
func alternativeLines(k *store.Key, h *experiment.Hardware, j *experiment.Job) {
	for _, w := range alternativesOn(h, j) {
		text := w.job.AlternativeName()
		if w.gpu != "" {
			text += " on " + w.gpu
		}
		if w.rate != 1 {
			text += " at the rate " + strconv.FormatFloat(w.rate, 'g', -1, 64)
		}
		k.Add("job."+j.Name+".way."+strings.ReplaceAll(w.name, " ", "_"), text)
	}
}

// blocks lists the job blocks of a cell's workload: first the blocks of its trace,
// then the submitted ones. A block may appear more than once.
func blocks(c experiment.Cell) []*experiment.Job {
	var jobs []*experiment.Job
	if t := c.Workload.Trace; t != nil {
		for _, k := range t.Blocks {
			jobs = append(jobs, k.Job)
		}
	}
	for _, s := range c.Workload.Submits {
		jobs = append(jobs, s.Job)
	}
	return jobs
}

// divided lets the policy divide jobs over nodes, if it does that: those that ask for no number of
// nodes.
func (c *Cell) divided(jobs []scheduler.Job) []scheduler.Job {
	if !c.Policy.Divides() {
		return jobs
	}
	jobs = slices.Clone(jobs) // other cells share them
	for i := range jobs {
		jobs[i].Divided = jobs[i].Divisible()
	}
	return jobs
}
