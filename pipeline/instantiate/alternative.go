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

// alternative is one of the requests with which a job of a block can run on some hardware.
type alternative struct {
	name string
	job  *experiment.Job // the job block, or one of its alternatives
	// index is 0 for the job block's own request, and i for its i-th alternative.
	index int
	// gpu is the type of GPU. rate is the speed on it, relative to the speed in job's runtime block.
	gpu     string
	rate    float64
	request scheduler.Alternative // has no estimate yet
}

// alternativesOn returns the alternatives of a job for which the hardware has room, including its own request. An
// alternative whose speed depends on the type of GPU is listed once per type. The result is nil for a job that has no
// alternatives and can run on any node.
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

// on returns the job blocks that can run on a hardware: the job itself if it has no alternatives, otherwise the
// alternatives for which there is room.
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

// faster divides the scaled part of work by rate; the fixed part stays.
func faster(w simulated.Scaling, rate float64) simulated.Scaling {
	if rate != 1 {
		w.Scaled = time.Duration(math.Round(float64(w.Scaled) / rate))
	}
	return w
}

// alternativesOf returns the alternatives of each job block of a drawn workload on a hardware, by index of the block.
// It is nil if no block has any.
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

// alternativesAt returns a job's alternatives; the parameter has the alternatives of all blocks.
func alternativesAt(r *jobList, alternatives [][]alternative, job int) []alternative {
	if k := r.Block[job]; alternatives != nil && k >= 0 {
		return alternatives[k]
	}
	return nil
}

// workOn returns the work of a job in one alternative: from the trace, the file, or the fitted estimate.
func (x *Experiment) workOn(h *experiment.Hardware, r jobList, job int, w alternative) (simulated.Scaling, error) {
	if traced, ok := r.Traced(job, w.index); ok {
		return faster(traced, w.rate), nil
	}
	if !x.estimated(h, w.job) && w.job.Runtime != nil {
		return faster(givenWork(w.job, r.EpochOn(job, w.index)), w.rate), nil
	}
	return x.workOf(w.job)
}

// workOnEach returns the work of a job in each of several alternatives.
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

// aloneOf returns the true run time of a job that runs alone, in its fastest alternative.
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

// fittedOn returns the predicted run time of each job in each of its alternatives, by job number. A time is 0 if it
// cannot be predicted. The result is nil if no job has alternatives.
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

// withAlternatives adds to jobs their alternatives on the cell's hardware, with the estimates that the policy uses.
// trueTimes are the true run times by job number; nil if unknown.
func (c *Cell) withAlternatives(r jobList, jobs []scheduler.Job, trueTimes []simulated.Scaling) []scheduler.Job {
	alternatives := alternativesOf(c.Hardware, r)
	if alternatives == nil {
		return jobs
	}
	jobs = slices.Clone(jobs) // other cells use the same slice
	fitted, options := c.x.fittedOn(c.Hardware, r), c.simulatorOptions()
	for n := range jobs {
		j := &jobs[n]
		for k, w := range alternativesAt(&r, alternatives, n) {
			a := w.request
			if w.index == 0 { // the trace may have a run time for the job's own request
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
				case from.Fitted: // errors of separate estimates are drawn separately
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

// asked returns the run time that a job's user requested for one of its alternatives.
func asked(r *jobList, job, alternative int) time.Duration {
	if all := r.AlternativesOf(job); all != nil {
		return all[alternative].Predicted
	}
	return r.Jobs[job].Predicted
}

// noisy multiplies an estimate by a lognormal error with median 1. All policies of a replicate get the same errors.
func (c *Cell) noisy(d time.Duration, of ...string) time.Duration {
	if c.Policy.Sigma == 0 {
		return d
	}
	z := workload.Stream(c.Ref.Seed, append([]string{"estimates"}, of...)...).NormFloat64()
	return time.Duration(float64(d) * math.Exp(c.Policy.Sigma*z))
}

// launchAlternatives returns the requests of a real job, one per alternative.
func launchAlternatives(h *experiment.Hardware, j *experiment.Job) []launch.Request {
	var requests []launch.Request
	for _, w := range alternativesOn(h, j) {
		t := w.job.Threads
		requests = append(requests, launch.Request{Threads: t.Request, Inter: t.Inter, Intra: t.Intra, Memory: w.job.Memory})
	}
	return requests
}

// alternativeLines adds to a key the lines about a job's alternatives on a hardware.
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

// blocks returns the job blocks of a cell's workload, first the blocks of its trace, then of submit blocks. A block
// may appear more than once.
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

// divided marks jobs that set no number of nodes as divisible over nodes, if the policy divides jobs.
func (c *Cell) divided(jobs []scheduler.Job) []scheduler.Job {
	if !c.Policy.Divides() {
		return jobs
	}
	jobs = slices.Clone(jobs) // other cells use the same slice
	for i := range jobs {
		jobs[i].Divided = jobs[i].Divisible()
	}
	return jobs
}
