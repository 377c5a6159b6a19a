package realise

import (
	"slices"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/scheduler/workload"
)

// Alike lists the workloads with simulated cells in which nothing is drawn
// that could make replicates differ.
func (x *Experiment) Alike() []string {
	var names []string
	for _, c := range x.spec.Cells {
		if x.spec.Replicates > 1 && !slices.Contains(names, c.Workload.Name) && x.fixed(c) {
			names = append(names, c.Workload.Name)
		}
	}
	return names
}

// fixed reports whether nothing is drawn at random at a point of the matrix, so that its replicates are alike.
func (x *Experiment) fixed(c point) bool {
	h := c.Hardware
	if h.Real() || h.Kind().Recorded || h.Noise > 0 || h.Terms != nil || c.Policy.Sigma > 0 || len(x.spec.Tunings) > 0 {
		return false
	}
	for _, s := range c.Workload.Submits {
		if s.Count > 0 && (s.Arrivals.Kind == workload.Exponential || s.Arrivals.Kind == workload.Normal) {
			return false
		}
	}
	return !slices.ContainsFunc(blocks(c), func(j *experiments.Job) bool {
		return drawn(j) || slices.ContainsFunc(j.Alternatives, drawn)
	})
}

// drawn reports whether something of a simulated job differs from one replicate to the next.
func drawn(j *experiments.Job) bool {
	return j.TargetLoss > 0 || j.Runtime != nil && !j.Runtime.Epoch.Fixed()
}

// LeftOut lists what lenient readers left out of the experiment's files.
func (x *Experiment) LeftOut() []string {
	var texts []string
	add := func(text string) {
		if text != "" && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	for _, c := range x.spec.Cells {
		if c.Workload.Trace != nil {
			add(c.Workload.Trace.LeftOut())
		}
		for _, s := range c.Workload.Submits {
			add(s.LeftOut)
		}
	}
	return texts
}
