package realise

import (
	"math"
	"slices"
	"time"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/pipeline/realise/drawn"
	"github.com/tfexp/tfexp/pipeline/realise/given"
	"github.com/tfexp/tfexp/pipeline/realise/program"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
)

type drawnKey struct {
	workload  *experiments.Workload
	replicate int
}

// realise returns the jobs of a cell's workload. All cells of a replicate share
// them: their random numbers are common.
func (c *Cell) realise() (drawn.Workload, error) {
	id := drawnKey{c.Workload, c.Ref.Replicate}
	if c.Workload.Trace != nil && len(c.Workload.Submits) == 0 {
		id.replicate = 0 // nothing is drawn
	}
	c.x.drawing.Lock()
	defer c.x.drawing.Unlock()
	r, ok := c.x.drawn.Get(id)
	if !ok {
		var err error
		if r, err = drawn.New(c.Workload, c.Ref.Seed); err != nil {
			return r, err
		}
		c.x.drawn.Put(id, r, len(r.Jobs))
	}
	if c.Hardware.Real() {
		r = r.Real()
	}
	return r, nil
}

// maxDrawn is how many jobs of realised workloads are kept, a kilobyte each; others are drawn again.
const maxDrawn = 500_000

// Workload returns what a workload comes to in a replicate, counted from 1: the
// jobs that its cells have, with the run times that were drawn for them, and
// without the estimates that policies are given. With runTimes it has also those
// that are the same for all jobs of a block.
func Workload(spec *experiments.Spec, w *experiments.Workload, replicate int, runTimes bool) (workload.Trace, error) {
	r, err := drawn.New(w, replicateSeed(spec.Seed, replicate))
	if err != nil {
		return workload.Trace{}, err
	}
	return r.Export(runTimes), nil
}

// fitted has the predicted run time of each job on its full request; 0 where
// there is no estimate. A run time of a trace is its own estimate.
func (x *Experiment) fitted(h *experiments.Hardware, r drawn.Workload) []time.Duration {
	ofBlock := make([]time.Duration, len(r.Blocks))
	differs := make([]bool, len(r.Blocks)) // its run time differs by job
	for k, j := range r.Blocks {
		if x.sampled(h, j) {
			if est, ok := x.estimateOf(j); ok {
				ofBlock[k] = seconds(est.Predict(program.Length(j), x.spec.Estimate.Level).Seconds)
				continue
			}
		}
		differs[k] = j.Runtime != nil
	}
	predicted := make([]time.Duration, len(r.Jobs))
	for i := range predicted {
		k := r.Block[i]
		if t, ok := r.RunTime(i); ok {
			predicted[i] = max(t, 1)
		} else if k >= 0 && differs[k] {
			predicted[i] = given.Work(r.Blocks[k], r.Epoch(i)).RunTime(r.Blocks[k].Threads.Request)
		} else if k >= 0 {
			predicted[i] = ofBlock[k]
		}
		predicted[i] = drawn.Within(r.Jobs[i].Budget(), predicted[i])
	}
	return predicted
}

// wholeRuns is fitted without the jobs that have a target loss: they are done before
// the run that is predicted ends.
func (x *Experiment) wholeRuns(h *experiments.Hardware, r drawn.Workload) []time.Duration {
	predicted := x.fitted(h, r)
	for i := range predicted {
		if k := r.Block[i]; k >= 0 && r.Blocks[k].TargetLoss > 0 {
			predicted[i] = 0
		}
	}
	return predicted
}

func seconds(s float64) time.Duration { return time.Duration(math.Round(s * 1e9)) }

// jobsFor gives a cell's jobs the estimates that its policy is to decide by.
//
// An oracle knows the run time to come: in simulation that is exact; of real
// jobs nothing is known but the fitted estimate.
func (c *Cell) jobsFor(r drawn.Workload, known truth) []scheduler.Job {
	if !c.Policy.EstimatesOn(c.Hardware) {
		return c.withAlternatives(r, r.Jobs, known.work)
	}
	jobs, own := r.Jobs, false
	fitted := c.x.fitted(c.Hardware, r)
	for n := range jobs {
		d := fitted[n]
		switch from := c.Policy.Source(); {
		case from.Asked:
			// A trace has it as the job's prediction; job blocks as their limit.
			if k := r.Block[n]; r.Asked(n) && jobs[n].Predicted > 0 {
				d = jobs[n].Predicted
			} else if d = 0; k >= 0 {
				d = r.Blocks[k].Limit
			}
		case from.Fitted:
			if k := r.Block[n]; k >= 0 {
				d = time.Duration(longer(known.estimated, r.Blocks[k]) * float64(d))
			}
			d = c.noisy(d, jobs[n].Name)
		case from.True:
			if known.alone != nil {
				d = max(known.alone[n], 1)
			}
		}
		if d == jobs[n].Predicted {
			continue
		}
		if !own { // other cells share them
			jobs, own = slices.Clone(jobs), true
		}
		jobs[n].Predicted = d
	}
	return c.withAlternatives(r, jobs, known.work)
}
