package pipeline

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/scheduler"
)

// work says how long each job of a workload takes in simulation: what the
// file says, or the fitted estimate on the full request, which is taken to
// scale with the threads. It fails for a job that has neither.
func (p *Plan) work(r realisation) ([]simulated.Work, error) {
	work := make([]simulated.Work, len(r.jobs))
	memo := map[*experiments.Job]simulated.Work{}
	for i, j := range r.blocks {
		if t := j.Runtime; t != nil {
			work[i] = simulated.Training(t.Startup, length(j), r.epoch(i), t.Parallel)
			continue
		}
		w, ok := memo[j]
		if !ok {
			var err error
			if w, err = p.workOf(j); err != nil {
				return nil, err
			}
			memo[j] = w
		}
		work[i] = w
	}
	return work, nil
}

// workOf is the work of a job by its fitted estimate.
func (p *Plan) workOf(j *experiments.Job) (simulated.Work, error) {
	est, ok := p.estimateOf(j)
	if !ok {
		return simulated.Work{}, fmt.Errorf("there is no estimate of the run time of job %s: its samples failed", j.Name)
	}
	return simulated.Work{
		Fixed: seconds(est.Intercept), Scaled: seconds(est.Slope * float64(length(j))),
		Threads: j.Threads.Request, Parallel: 1,
	}, nil
}

// simulatorOptions are the settings of a cell's simulated engine.
func simulatorOptions(h *experiments.Hardware, seed int64) simulated.Options {
	return simulated.Options{
		Overheads: simulated.Overheads(h.Overheads), Noise: h.Noise, Seed: seed,
		Lacks: scheduler.Capabilities{
			Pause: slices.Contains(h.Lacks, "pause"), Resize: slices.Contains(h.Lacks, "resize"),
			Memory: slices.Contains(h.Lacks, "memory"), GPUs: slices.Contains(h.Lacks, "gpus"),
		},
	}
}

// simulate makes the engine of a simulated cell, and the true run time of each
// job on its full request.
func (p *Plan) simulate(c experiments.Cell, i int, r realisation) (*simulated.Engine, []time.Duration, error) {
	work, err := p.work(r)
	if err != nil {
		return nil, nil, err
	}
	opts := simulatorOptions(c.Hardware, p.Cells[i].Seed)
	alone := make([]time.Duration, len(work))
	for n := range work {
		t := work[n].RunTime(r.jobs[n].Threads)
		alone[n] = time.Duration(float64(t) * opts.Factor(r.jobs[n].Name))
	}
	engine, err := simulated.New(r.jobs, work, opts)
	return engine, alone, err
}

// predict simulates the real cells that will run, for how long they take.
// Cells with a job that has no estimate yet stay unknown.
func (p *Plan) predict() error {
	for i := range p.Cells {
		if p.Work[i].Reuse || p.Cells[i].Engine == engineSimulated {
			continue
		}
		c := p.spec.Cells[p.state.specCell[i]]
		r, err := p.realise(c.Workload, p.Cells[i].Replicate)
		if err != nil {
			return err
		}
		work, err := p.work(r)
		if err != nil {
			continue
		}
		engine, err := simulated.New(r.jobs, work, simulated.Options{Seed: p.Cells[i].Seed})
		if err != nil {
			return fmt.Errorf("predict cell %s: %w", p.Cells[i].Cell, err)
		}
		out, err := scheduler.Run{
			Policy: c.Policy.Policy, Cluster: c.Hardware.Cluster, Jobs: p.jobsFor(c, i, r, nil), Resizes: r.resizes, Engine: engine,
		}.Execute(context.Background())
		if err != nil {
			continue // the real run will say the same, in its cell
		}
		p.Work[i].Predicted = out.End
		p.Cells[i].PredictedSeconds = out.End.Seconds()
	}
	return nil
}
