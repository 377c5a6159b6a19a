package check

import (
	"fmt"
	"slices"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/stages/experiment"
)

// bytesOfJob is the memory in bytes that each job of a simulated cell takes while the cell runs. Measured with 10⁶
// jobs: 510 if the cell records only metrics, 560 with all records.
const bytesOfJob = 560

// bytesOfDrawn is the memory in bytes per job when jobs are drawn only as they arrive.
const bytesOfDrawn = 32

// memory warns if the cells that run at the same time need more than half of the machine's memory. (A cell that needs
// more than all of it becomes an error before it runs.) It reports a submit block with more jobs than a list can
// hold, unless its jobs are drawn as they arrive.
func (c *Checker) memory() {
	cells, listed := map[*experiment.Workload]int{}, map[*experiment.Workload]bool{}
	for _, cell := range c.allCells() {
		w := cell.Workload
		listed[w] = listed[w] || w.Jobs() < experiment.ManyJobs || !cell.Draws()
		if !cell.Hardware.Real() {
			cells[w] += max(c.Spec.Replicates, 1)
		}
	}
	for _, cell := range c.allCells() {
		w := cell.Workload
		together := min(cells[w], c.Host.Threads+1)
		jobs := w.Jobs()
		tooMany := func(s experiment.Submit) bool { return s.Count > workload.MaxJobs }
		if listed[w] && slices.ContainsFunc(w.Submits, tooMany) {
			if c.First("many jobs", w) {
				c.Fail(w.Range, "Too many jobs", "A submit block of workload %q has more than %d jobs, which are not drawn when "+
					"they arrive: docs/scale.md lists the policies and features that need all of them.", w.Name, workload.MaxJobs)
			}
			continue
		}
		if together == 0 || !c.First("memory", w) || c.Host.MemoryBytes <= 0 {
			continue
		}
		one := int64(jobs) * bytesOfDrawn
		if listed[w] {
			one = int64(jobs) * bytesOfJob
		}
		all := one * int64(together)
		if all <= c.Host.MemoryBytes/2 {
			continue
		}
		side, advice := "", "Submit fewer jobs, or run it on a machine with more."
		if together > 1 && one <= c.Host.MemoryBytes/2 {
			side = fmt.Sprintf(", and about %.1f GiB for %d such cells that run at the same time", gib(all), together)
			advice = "Submit fewer jobs, or run fewer cells at a time (--parallel)."
		}
		d := experiments.WarningAt(w.Range, "Cells that need much memory",
			"A cell of workload %q has %s and takes about %.1f GiB of memory%s; this machine has %.1f GiB. %s",
			w.Name, schema.Plural(jobs, "job"), gib(one), side, gib(c.Host.MemoryBytes), advice)
		d.Unavailable = one > c.Host.MemoryBytes
		c.Add(d)
	}
}

func gib(bytes int64) float64 { return float64(bytes) / (1 << 30) }
