package realise

import (
	"time"

	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/pipeline/realise/given"
	"github.com/tfexp/tfexp/pipeline/realise/program"
	"github.com/tfexp/tfexp/pipeline/realise/sampling"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
)

// online is what lets the predictions of a cell follow its jobs; nil for a
// policy that does not ask for it. A job whose run time a trace gives has no
// units that it could report; one with alternatives keeps its estimates. estimated is what corrects what the samples say.
func (c *Cell) online(r realisation, estimated []record.Estimated) *stages.Online {
	if !c.Policy.Corrected() {
		return nil
	}
	o := &stages.Online{
		Units: make([]int, len(r.jobs)), Block: r.block, Blocks: make([]stages.Estimate, len(r.blocks)),
		Work: make([]simulated.Scaling, len(r.jobs)), Sigma: c.Policy.Sigma,
	}
	ready := make([]bool, len(r.blocks)) // the run time of the block is known
	for k, j := range r.blocks {
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
		k := r.block[n]
		if _, traced := r.runTime(n); traced || k < 0 || r.alternativesAt(alternatives, n) != nil || !ready[k] {
			continue
		}
		o.Units[n] = program.Length(r.blocks[k])
		if !c.Hardware.Real() {
			o.Units[n] = r.blocks[k].Done()
		}
		if o.Blocks[k].Known {
			o.Work[n], _ = c.x.workOf(r.blocks[k])
			sampling.Longer(&o.Work[n], longer(estimated, r.blocks[k]))
		} else {
			o.Work[n] = given.Work(r.blocks[k], r.epoch(n))
		}
	}
	if c.Policy.Sigma > 0 {
		o.Errors = make([]float64, len(r.jobs))
		for n := range o.Errors {
			o.Errors[n] = float64(c.noisy(time.Hour, r.jobs[n].Name)) / float64(time.Hour)
		}
	}
	return o
}
