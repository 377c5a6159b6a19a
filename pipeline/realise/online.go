package realise

import (
	"time"

	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/pipeline/realise/drawn"
	"github.com/tfexp/tfexp/pipeline/realise/given"
	"github.com/tfexp/tfexp/pipeline/realise/program"
	"github.com/tfexp/tfexp/pipeline/realise/sampling"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
)

// online is what lets the predictions of a cell follow its jobs; nil for a
// policy that does not ask for it. A job whose run time a trace gives has no
// units that it could report; one with alternatives keeps its estimates. estimated is what corrects what the samples say.
func (c *Cell) online(r drawn.Workload, estimated []record.Estimated) *stages.Online {
	if !c.Policy.Corrected() {
		return nil
	}
	o := &stages.Online{
		Units: make([]int, len(r.Jobs)), Block: r.Block, Blocks: make([]stages.Estimate, len(r.Blocks)),
		Work: make([]simulated.Scaling, len(r.Jobs)), Sigma: c.Policy.Sigma,
	}
	ready := make([]bool, len(r.Blocks)) // the run time of the block is known
	for k, j := range r.Blocks {
		b := &o.Blocks[k]
		b.Threads, b.Length, ready[k] = j.Threads.Request, program.Length(j), j.Runtime != nil
		if c.Policy.Source().Losses {
			b.Target = j.TargetLoss
			if j.Runtime != nil && !c.Hardware.Real() {
				b.Losses = j.Runtime.Losses
			}
		}
		if c.x.estimated(c.Hardware, j) {
			b.Fitted, b.Known = c.x.estimateOf(j)
			b.Fitted = b.Fitted.Times(longer(estimated, j))
			ready[k] = b.Known
		}
	}
	alternatives := alternativesOf(c.Hardware, r)
	for n := range o.Units {
		k := r.Block[n]
		if _, traced := r.RunTime(n); traced || k < 0 || alternativesAt(&r, alternatives, n) != nil || !ready[k] {
			continue
		}
		o.Units[n] = program.Length(r.Blocks[k])
		if !c.Hardware.Real() {
			o.Units[n] = r.Blocks[k].Done()
		}
		if o.Blocks[k].Known {
			o.Work[n], _ = c.x.workOf(r.Blocks[k])
			sampling.Longer(&o.Work[n], longer(estimated, r.Blocks[k]))
		} else {
			o.Work[n] = given.Work(r.Blocks[k], r.Epoch(n))
		}
	}
	if c.Policy.Sigma > 0 {
		o.Errors = make([]float64, len(r.Jobs))
		for n := range o.Errors {
			o.Errors[n] = float64(c.noisy(time.Hour, r.Jobs[n].Name)) / float64(time.Hour)
		}
	}
	return o
}
