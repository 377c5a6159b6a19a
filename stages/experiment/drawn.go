package experiment

import (
	"slices"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/scheduler/workload"
)

// ManyJobs is the least number of jobs of a submit block that are drawn on demand, as they arrive.
const ManyJobs = 100_000

// Draws reports whether each job of the cell can be drawn when it arrives, and forgotten when it has ended. All jobs
// must come from one submit block, and neither the policy nor a feature or a metric may need all of them.
func (c *Cell) Draws() bool {
	w, h, p := c.Workload, c.Hardware, c.Policy
	if w.Trace != nil || len(w.Submits) != 1 || len(w.Resizes) > 0 || !p.OneByOne() ||
		p.Corrected() || p.Divides() || h.Real() || h.Cluster.Changes() || h.Contention != nil ||
		h.Kind().Recorded || measure.EachJob() {
		return false
	}
	s := &w.Submits[0]
	j, template := s.Job, s.Job.Template()
	drawn := []workload.ArrivalKind{workload.Every, workload.Exponential, workload.Normal}
	if j.Runtime == nil || !slices.Contains(drawn, s.Arrivals.Kind) || !template.Plain() || s.Deadline > 0 ||
		s.Budget != nil || len(j.Alternatives)+len(j.Parts) > 0 || j.Done() != j.Length() {
		return false
	}
	r := j.Runtime
	return len(r.Parts) == 0 && r.Loss == nil && r.Accuracy == nil && len(r.Losses) == 0
}
