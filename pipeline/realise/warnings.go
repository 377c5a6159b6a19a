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
func (x *Experiment) LeftOut() []string { return x.spec.LeftOut() }

// Assumed lists what readers of logs assumed where these say nothing.
func (x *Experiment) Assumed() []string { return x.spec.Assumed() }
