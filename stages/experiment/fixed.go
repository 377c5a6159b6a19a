package experiment

import (
	"slices"

	"github.com/tfexp/tfexp/scheduler/workload"
)

// Fixed reports whether no value of a cell is drawn at random, so that all its replicates give the same results.
func (s *Spec) Fixed(c Cell) bool {
	h := c.Hardware
	if h.Real() || h.Kind().Recorded || h.Noise > 0 || h.Cluster.Changes() || c.Policy.Sigma > 0 || s.repeated() ||
		c.Policy.Draws() || c.Policy.Program().Learns {
		return false
	}
	for _, b := range c.Workload.Submits {
		if b.Arrivals.Kind == workload.Exponential || b.Arrivals.Kind == workload.Normal {
			return false
		}
	}
	return !slices.ContainsFunc(c.Workload.JobBlocks(), func(j *Job) bool {
		return j.drawn() || slices.ContainsFunc(j.Alternatives, (*Job).drawn)
	})
}

// drawn reports whether a simulated job can differ from one replicate to the next.
func (j *Job) drawn() bool { return j.EndsEarly() || j.Runtime != nil && !j.Runtime.Epoch.Fixed() }

// Alike returns the names of the workloads whose replicates all give the same results, so that repeating them is
// useless.
func (s *Spec) Alike() []string {
	var names []string
	for _, c := range s.Cells {
		if s.Replicates > 1 && !slices.Contains(names, c.Workload.Name) && s.Fixed(c) {
			names = append(names, c.Workload.Name)
		}
	}
	return names
}
