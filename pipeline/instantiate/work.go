package instantiate

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/experiment"
)

// work returns the work of each job in simulation, by job number. It is the run time in the job's trace, the fitted
// estimate (on other threads with its speed-up curve), or the run time in the file. On simulated machines the file
// has precedence over the estimate; for simulations of real cells the estimate has precedence. The error wraps
// stages.ErrNoEstimate if a job has none of these.
func (c *Cell) work(r jobList) ([]simulated.Scaling, error) {
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
			continue // the engine has recorded runs of the job
		}
		// A job without a run time in a trace has a block.
		if j := r.Blocks[k]; !c.x.estimated(c.Hardware, j) && j.Runtime != nil {
			work[i] = untilTarget(j, r.Epoch(i))
			experiment.EachPart(j.Runtime.Parts, func(p stages.CellWorkPart) { p.WorkIn(c.point, j, &r.Jobs[i], &work[i]) })
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

// estimated reports whether a job's run time on a hardware is a fitted estimate.
func (x *Experiment) estimated(h *experiment.Hardware, j *experiment.Job) bool {
	if !x.sampled(h, j) {
		return false
	}
	_, ok := x.samples[x.profileHash(j)]
	return ok
}

// workOf returns the work of a job by its fitted estimate.
func (x *Experiment) workOf(j *experiment.Job) (simulated.Scaling, error) {
	est, ok := x.estimateOf(j)
	if !ok {
		return simulated.Scaling{},
			fmt.Errorf("%w of the run time of job %s: its samples failed", stages.ErrNoEstimate, j.Name)
	}
	w := simulated.Scaling{
		Fixed: seconds(est.Intercept), Scaled: seconds(est.Slope * float64(j.Length())),
		Threads: j.Threads.Request, Parallel: 1,
	}
	if est.Curve != (estimator.Curve{}) {
		w.SpeedUp = func(threads int) float64 { return est.Curve.Speedup(float64(threads)) }
	}
	return w, nil
}

// simulatorOptions returns the settings of a cell's simulated engine.
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
	if h.Cluster.Changes() {
		opts.Cluster = h.Cluster
	}
	opts.Overheads = schema.Or(h.Overheads, opts.Overheads)
	return opts
}

// simulatedFacts holds facts that only a simulation has: the run time of each job alone on its full request, in its
// fastest alternative, and its work. estimated are the corrected estimates that the policy uses.
type simulatedFacts struct {
	alone     []time.Duration
	work      []simulated.Scaling
	estimated []record.Estimated
}

// measuredOverheads returns the engine's overheads, measured by the samples of a cell's jobs.
func (c *Cell) measuredOverheads() simulated.Overheads {
	var all []estimator.Sample
	for _, j := range jobsOf(c.point) {
		if c.x.sampled(c.Hardware, j) {
			all = append(all, c.x.samples[c.x.profileHash(j)]...)
		}
	}
	return overheadsOf(all, c.Hardware.Suspends)
}

// givenWork returns the work of a job whose run time the file gives; epoch is the epoch time that was drawn for it.
func givenWork(j *experiment.Job, epoch time.Duration) simulated.Scaling {
	rt, epochs := j.Runtime, j.Length()
	if rt.Whole {
		epochs = 1
	}
	return givenTraining(j, epochs, epoch)
}

// untilTarget returns the work of a job until it reaches its target loss.
func untilTarget(j *experiment.Job, epoch time.Duration) simulated.Scaling {
	if j.Done() == j.Length() {
		return givenWork(j, epoch)
	}
	return givenTraining(j, j.Done(), epoch)
}

func givenTraining(j *experiment.Job, epochs int, epoch time.Duration) simulated.Scaling {
	rt := j.Runtime
	w := simulated.Training(rt.Startup, epochs, epoch, rt.Parallel)
	w.Threads = max(rt.Threads, 1)
	speedUp(&w, rt)
	if len(j.Parts)+len(rt.Parts) > 0 {
		return withParts(w, j)
	}
	return w
}

// withParts returns the work of a job after changes by the features that the job uses.
func withParts(w simulated.Scaling, j *experiment.Job) simulated.Scaling {
	for _, parts := range []experiment.Parts{j.Runtime.Parts, j.Parts} {
		experiment.EachPart(parts, func(p stages.WorkPart) { p.Work(&w) })
	}
	return w
}

// speedUp sets in w how the speed of a job depends on its threads, from its runtime block.
func speedUp(w *simulated.Scaling, rt *experiment.Runtime) {
	w.Parallel = rt.Parallel
	if rt.SpeedUp != nil {
		w.SpeedUp = rt.SpeedUp.At
	}
}

// speeds returns the work of each job for a policy that divides cores, with its speed by number of cores.
func (c *Cell) speeds(r jobList, known simulatedFacts) []simulated.Scaling {
	if !c.Policy.DividesCores(c.Hardware) {
		return nil
	}
	work := known.work
	if work == nil {
		work, _ = c.work(r) // on an error the policy gets no speeds
	}
	return work
}

// openWork is the work of a job that trains until its budget is used up: longer than any simulation.
var openWork = simulated.Scaling{Scaled: math.MaxInt64 / 4, Threads: 1}

// finals returns the final reports of simulated jobs that the file sets; nil if it sets none.
func finals(r jobList) []measure.Final {
	some := false
	ofBlock := make([]measure.Final, len(r.Blocks))
	for k, j := range r.Blocks {
		ofBlock[k] = measure.Unreported
		if rt := j.Runtime; rt != nil {
			loss, accuracy := math.NaN(), math.NaN()
			if n := j.Done(); n <= len(rt.Losses) && n > 0 {
				loss = rt.Losses[n-1]
			}
			loss = schema.Or(rt.Loss, loss)
			accuracy = schema.Or(rt.Accuracy, accuracy)
			ofBlock[k] = measure.Final{Loss: loss, Accuracy: accuracy}
			some = some || !math.IsNaN(loss) || !math.IsNaN(accuracy)
		}
	}
	if !some {
		return nil
	}
	return perJob(&r, ofBlock, measure.Unreported)
}

// perJob returns, by job number, the value of the job's block in ofBlock, or none for a job without a block.
func perJob[T any](r *jobList, ofBlock []T, none T) []T {
	return schema.Each(r.Block, func(k int32) T {
		if k < 0 {
			return none
		}
		return ofBlock[k]
	})
}
