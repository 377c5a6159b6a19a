package realise

import "slices"

// Alike lists the workloads with simulated cells in which nothing is drawn
// that could make replicates differ.
func (x *Experiment) Alike() []string {
	var names []string
	for _, c := range x.spec.Cells {
		drawn := c.Workload.Trace == nil || len(c.Workload.Submits) > 0 || c.Hardware.Real() || c.Hardware.Noise > 0 ||
			c.Policy.Sigma > 0
		if !drawn && x.spec.Replicates > 1 && !slices.Contains(names, c.Workload.Name) {
			names = append(names, c.Workload.Name)
		}
	}
	return names
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
