package realise

import (
	"fmt"
	"slices"
	"time"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/pipeline/realise/drawn"
	"github.com/tfexp/tfexp/pipeline/realise/given"
	"github.com/tfexp/tfexp/pipeline/realise/program"
	"github.com/tfexp/tfexp/pipeline/realise/sampling"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages"
)

// work says how long each job of a workload takes in simulation: what its
// trace says; or the fitted estimate, with its speed-up curve on other threads
// than the request; or what the file says. The file comes before the
// estimate on simulated machines, the estimate when a real cell is simulated.
// The error wraps stages.ErrNoEstimate for a job that has none of them.
func (c *Cell) work(r drawn.Workload) ([]simulated.Scaling, error) {
	work := make([]simulated.Scaling, len(r.Jobs))
	ofBlock := make([]simulated.Scaling, len(r.Blocks))
	known := make([]bool, len(r.Blocks))
	alternatives := alternativesOf(c.Hardware, r)
	for i := range work {
		k := r.Block[i]
		if several := alternativesAt(&r, alternatives, i); several != nil {
			var err error
			if work[i], err = c.x.workOnEach(c.Hardware, r, i, several); err != nil {
				return nil, err
			}
			continue
		}
		if traced, ok := r.Traced(i, 0); ok {
			work[i] = traced
			continue
		}
		if c.Hardware.Kind().Recorded && (k < 0 || r.Blocks[k].Runtime == nil) {
			continue // its engine knows
		}
		// Without a run time in a trace there is always a block.
		if j := r.Blocks[k]; !c.x.estimated(c.Hardware, j) && j.Runtime != nil {
			switch {
			case j.Runtime.Elastic != nil:
				work[i] = c.onGPUs(&r, i)
			case j.Runtime.Cluster != nil:
				work[i] = onCluster(j, c.Hardware)
			default:
				work[i] = given.UntilTarget(j, r.Epoch(i))
			}
			continue
		}
		if r.Blocks[k].Open() {
			work[i] = openWork
			continue
		}
		if !known[k] {
			var err error
			if ofBlock[k], err = c.x.workOf(r.Blocks[k]); err != nil {
				return nil, err
			}
			known[k] = true
		}
		work[i] = ofBlock[k]
	}
	return work, nil
}

// estimated reports whether a job's run time on a machine is a fitted estimate.
func (x *Experiment) estimated(h *experiments.Hardware, j *experiments.Job) bool {
	if !x.sampled(h, j) {
		return false
	}
	_, ok := x.samples[x.profileHash(j)]
	return ok
}

// workOf is the work of a job by its fitted estimate.
func (x *Experiment) workOf(j *experiments.Job) (simulated.Scaling, error) {
	est, ok := x.estimateOf(j)
	if !ok {
		return simulated.Scaling{},
			fmt.Errorf("%w of the run time of job %s: its samples failed", stages.ErrNoEstimate, j.Name)
	}
	w := simulated.Scaling{
		Fixed: seconds(est.Intercept), Scaled: seconds(est.Slope * float64(program.Length(j))),
		Threads: j.Threads.Request, Parallel: 1,
	}
	if est.Curve != (estimator.Curve{}) {
		w.SpeedUp = func(threads int) float64 { return est.Curve.Speedup(float64(threads)) }
	}
	return w, nil
}

// simulatorOptions are the settings of a cell's simulated engine.
func (c *Cell) simulatorOptions() simulated.Options {
	h := c.Hardware
	opts := simulated.Options{
		Overheads: c.measuredOverheads(), Noise: h.Noise, Seed: c.Ref.Seed,
		Lacks: scheduler.Capabilities{
			Pause: slices.Contains(h.Lacks, "pause"), Resize: slices.Contains(h.Lacks, "resize"),
			Memory: slices.Contains(h.Lacks, "memory"), GPUs: slices.Contains(h.Lacks, "gpus"),
			Migrate: slices.Contains(h.Lacks, "migrate"),
		},
	}
	if h.Terms != nil {
		opts.Cluster = h.Cluster
	}
	if h.Overheads != nil {
		opts.Overheads = simulated.Overheads(*h.Overheads)
	}
	return opts
}

// truth is what only a simulation knows: the run time of each job alone on its
// full request (in the fastest of its alternatives), and its work. And estimated is what runs in earlier cells have
// corrected of the estimates that a policy decides by.
type truth struct {
	alone     []time.Duration
	work      []simulated.Scaling
	estimated []record.Estimated
}

// measuredOverheads are what the engine took, over the samples of the job blocks of a cell.
func (c *Cell) measuredOverheads() simulated.Overheads {
	var all []estimator.Sample
	for _, j := range jobsOf(c.point) {
		if c.x.sampled(c.Hardware, j) {
			all = append(all, c.x.samples[c.x.profileHash(j)]...)
		}
	}
	return sampling.Overheads(all, c.Hardware.Suspends)
}
