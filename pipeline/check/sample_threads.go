package check

import (
	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/stages/experiment"
)

// beyondSamples warns of simulated jobs that have no run times and request more threads than this machine has: their
// samples cannot be taken here. The warning becomes an error when jobs are about to run. It is left out if the file
// has errors, because one of them may be about the same request.
func (c *Checker) beyondSamples() {
	for _, cell := range c.allCells() {
		h := cell.Hardware
		if h.Real() || h.Kind().Recorded || c.Host.Threads <= 0 {
			continue
		}
		for _, j := range sampledOn(h, cell.Workload) {
			if j.Threads.Request <= c.Host.Threads || !c.First("sampled", j) {
				continue
			}
			at := j.Threads.Range
			if at.File == "" {
				at = j.Range
			}
			d := experiments.WarningAt(at, "More threads than samples can have",
				"The job %q has no runtime block, so it is sampled on this machine before it is simulated: that takes %s, and "+
					"this machine has %d. Set its run time in a runtime block, request at most %[3]d, or sample it on a machine "+
					"with as many.", j.Name, schema.Plural(j.Threads.Request, "thread"), c.Host.Threads)
			d.Unavailable = true
			c.Add(d)
		}
	}
}

// sampledOn returns the jobs of a workload whose run times on simulated hardware come from samples. Alternatives for
// which the hardware has no room are left out.
func sampledOn(h *experiment.Hardware, w *experiment.Workload) []*experiment.Job {
	var jobs []*experiment.Job
	add := func(j *experiment.Job) {
		for _, a := range j.WithAlternatives() {
			if a.Runtime == nil && !a.Open() && (!j.Placed() || a.On(h)) {
				jobs = append(jobs, a)
			}
		}
	}
	for _, s := range w.Submits {
		add(s.Job)
	}
	if w.Trace != nil {
		for _, b := range w.Trace.Blocks {
			if !b.Timed {
				add(b.Job)
			}
		}
	}
	return jobs
}
