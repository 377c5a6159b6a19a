package realise

import (
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/pipeline/realise/drawn"
	"github.com/tfexp/tfexp/pipeline/realise/given"
	"github.com/tfexp/tfexp/stages"
)

// speeds are how fast jobs are on numbers of cores, as far as a policy knows it that divides these.
func (c *Cell) speeds(r drawn.Workload, known truth) []simulated.Scaling {
	if !c.Policy.DividesCores(c.Hardware) {
		return nil
	}
	work := known.work
	if work == nil {
		work, _ = c.work(r) // without estimates, the policy finds none of them
	}
	return work
}

// onGPUs is the work of an elastic job under the policy of the cell.
func (c *Cell) onGPUs(r *drawn.Workload, job int) simulated.Scaling {
	block, j := r.Blocks[r.Block[job]], &r.Jobs[job]
	e := block.Runtime.Elastic
	s := &stages.Elastic{
		Program: e.Program, Batch: drawn.BatchOf(e, j), MostGPUs: e.MostGPUs, Tick: e.Resolution,
		Rates: e.Rates, Cluster: c.Hardware.Cluster,
	}
	if c.Policy.Policy.Batches() {
		s.Batch = e.Batch
	}
	w := given.Work(block, r.Epoch(job))
	w.Special = &simulated.Special{Begin: s.Begin}
	return w
}
