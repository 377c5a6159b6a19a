package realise

import (
	"math"
	"time"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/pipeline/realise/given"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages"
)

// speeds are how fast jobs are on numbers of cores, as far as a policy knows it that divides these.
func (c *Cell) speeds(r realisation, known truth) []simulated.Scaling {
	if !c.Policy.DividesCores(c.Hardware) {
		return nil
	}
	work := known.work
	if work == nil {
		work, _ = c.work(r) // without estimates, the policy finds none of them
	}
	return work
}

// elasticAlone is how long an elastic job takes on what it requests, with the batch size that
// its user asked for.
func elasticAlone(e *experiments.Elastic, j *scheduler.Job) time.Duration {
	s := e.Program.Alone(batchOf(e, j), j.GPUs, j.Nodes)
	return max(time.Duration(math.Round(min(s*1e9, math.MaxInt64/2))), 1)
}

// batchOf is the batch size of a job where its policy chooses none.
func batchOf(e *experiments.Elastic, j *scheduler.Job) int {
	if e.Batch > 0 {
		return e.Batch
	}
	return j.Batch
}

// onGPUs is the work of an elastic job under the policy of the cell.
func (c *Cell) onGPUs(r *realisation, job int) simulated.Scaling {
	block, j := r.blocks[r.block[job]], &r.jobs[job]
	e := block.Runtime.Elastic
	s := &stages.Elastic{
		Program: e.Program, Batch: batchOf(e, j), MostGPUs: e.MostGPUs, Tick: e.Resolution,
		Rates: e.Rates, Cluster: c.Hardware.Cluster,
	}
	if c.Policy.Policy.Batches() {
		s.Batch = e.Batch
	}
	w := given.Work(block, r.epoch(job))
	w.Begin = s.Begin
	return w
}
