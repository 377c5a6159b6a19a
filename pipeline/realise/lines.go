package realise

import (
	"slices"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/pipeline/realise/describe"
	"github.com/tfexp/tfexp/pipeline/store"
)

// overheadLines describe the overheads of a simulated machine.
func (c *Cell) overheadLines() []string {
	if c.Hardware.Real() {
		return nil
	}
	var k store.Key
	if o := c.Hardware.Overheads; o != nil {
		k.Add("hardware.overheads", simulated.Overheads(*o).String())
	} else if slices.ContainsFunc(jobsOf(c.point), func(j *experiments.Job) bool { return c.x.sampled(c.Hardware, j) }) {
		k.Add("hardware.overheads", "measured") // with the samples, which have lines of their own
	} else {
		k.Add("hardware.overheads", simulated.Overheads{}.String())
	}
	return k.Lines()
}

// runtimeLines describe where a simulated job's run time comes from.
func (x *Experiment) runtimeLines(h *experiments.Hardware, j *experiments.Job) []string {
	var k store.Key
	if x.sampled(h, j) {
		k.Add("job."+j.Name+".runtime", "fitted "+x.estimateLine(j))
	} else if j.Open() {
		k.Add("job."+j.Name+".runtime", "its budget")
	} else if j.Runtime == nil {
		k.Add("job."+j.Name+".runtime", "as its run was recorded")
	} else {
		k.Add("job."+j.Name+".runtime", describe.RuntimeText(j))
	}
	if cp := j.Checkpoint; cp != nil {
		k.Addf("job."+j.Name+".checkpoint", "%+v", *cp)
	}
	return k.Lines()
}

// estimateLines describe the estimates that a policy decides by; policies that
// use none do not depend on them.
func (c *Cell) estimateLines() []string {
	if !c.Policy.EstimatesOn(c.Hardware) {
		return nil
	}
	var k store.Key
	k.Add("policy.estimates", c.Policy.Estimates)
	if c.Policy.Sigma > 0 {
		k.Addf("policy.sigma", "%g", c.Policy.Sigma)
	}
	if c.Policy.Source().Asked {
		return k.Lines()
	}
	for _, j := range jobsOf(c.point) {
		if c.x.sampled(c.Hardware, j) {
			k.Add("job."+j.Name+".estimate", c.x.estimateLine(j))
		}
	}
	if c.x.spec.Estimate.Correct == experiments.CorrectPolicies && c.Hardware.Real() && c.x.decidesByEstimates(c.point) {
		k.Add("estimates", "corrected by runs in earlier cells") // these are in no key, as past runs are not
	}
	return k.Lines()
}

// jobsOf lists the job blocks that a cell depends on, each once, in order. A
// simulated job whose trace has its run time depends on no program.
func jobsOf(c experiments.Cell) []*experiments.Job {
	var jobs []*experiments.Job
	if t := c.Workload.Trace; t != nil {
		for _, k := range t.Blocks {
			if !k.Timed || c.Hardware.Real() {
				jobs = append(jobs, on(c.Hardware, k.Job)...)
			}
		}
	}
	seen := map[*experiments.Job]bool{}
	for _, j := range jobs {
		seen[j] = true
	}
	for _, s := range c.Workload.Submits {
		if !seen[s.Job] {
			seen[s.Job] = true
			jobs = append(jobs, on(c.Hardware, s.Job)...)
		}
	}
	return jobs
}
