package realise

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/pipeline/realise/given"
	"github.com/tfexp/tfexp/pipeline/realise/program"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/scheduler/workload/formats"
)

type drawnKey struct {
	workload  *experiments.Workload
	replicate int
}

// realisation is the workload of one replicate: its jobs, in the order of
// their numbers, and the job block of each. Large ones are shared by all cells
// that have them, so nothing in it is ever changed.
type realisation struct {
	jobs []scheduler.Job
	// blocks are the job blocks; block has the index of each job's own, or -1 for
	// a job that a trace alone describes.
	blocks []*experiments.Job
	block  []int32
	// runTimes are those of a trace, on the full request; negative where it
	// has none, nil where it has none at all, or the jobs run for real.
	runTimes []time.Duration
	// epochs has the epoch time of each job whose run time the file gives; nil
	// when no job block draws it.
	epochs []time.Duration
	// drawnOn has the same of the alternatives of job blocks that draw it.
	drawnOn map[*experiments.Job][]time.Duration
	// requested says that the jobs come with the run times that their users
	// asked for, from a trace.
	requested bool
	// submitted marks the jobs of a workload with a trace that are not from it;
	// nil where all are from one or the other.
	submitted []bool
	resizes   []scheduler.Resize
	digest    string
}

// runTime is the run time that a trace has of a job.
func (r *realisation) runTime(job int) (time.Duration, bool) {
	if r.runTimes == nil || r.runTimes[job] < 0 {
		return 0, false
	}
	return r.runTimes[job], true
}

// realise returns the jobs of a cell's workload. All cells of a replicate share
// them: their random numbers are common.
func (c *Cell) realise() (realisation, error) {
	id := drawnKey{c.Workload, c.Ref.Replicate}
	if c.Workload.Trace != nil && len(c.Workload.Submits) == 0 {
		id.replicate = 0 // nothing is drawn
	}
	c.x.drawing.Lock()
	defer c.x.drawing.Unlock()
	r, ok := c.x.drawn.Get(id)
	if !ok {
		var err error
		if r, err = realise(c.Workload, c.Ref.Seed); err != nil {
			return r, err
		}
		c.x.drawn.Put(id, r, len(r.jobs))
	}
	if c.Hardware.Real() {
		r.runTimes = nil
	}
	return r, nil
}

// maxDrawn is how many jobs of realised workloads are kept, a kilobyte each; others are drawn again.
const maxDrawn = 500_000

// realise takes the jobs of a workload from its trace, and draws those that it
// submits.
func realise(w *experiments.Workload, seed int64) (realisation, error) {
	switch {
	case w.Trace == nil:
		return realiseSubmits(w, seed, nil)
	case len(w.Submits) == 0 && len(w.Resizes) == 0:
		return realiseTrace(w.Trace), nil
	}
	return realiseBoth(w, seed)
}

// realiseSubmits draws the jobs that a workload submits. Their names are none
// of those that are taken.
func realiseSubmits(w *experiments.Workload, seed int64, taken map[string]bool) (realisation, error) {
	var (
		batches []workload.Submit
		r       realisation
	)
	blocks := map[*experiments.Job]int32{}
	for _, s := range w.Submits {
		template := s.Job.Template()
		template.Priority, template.Deadline, template.User = s.Priority, s.Deadline, s.User
		template.Budget = s.Budget
		batches = append(batches, workload.Submit{Job: template, Count: s.Count, Arrivals: s.Arrivals})
		r.block = slices.Grow(r.block, s.Count)
		k, ok := blocks[s.Job]
		if !ok {
			k = int32(len(r.blocks))
			blocks[s.Job] = k
			r.blocks = append(r.blocks, s.Job)
		}
		for range s.Count {
			r.block = append(r.block, k)
		}
	}
	var err error
	if r.jobs, err = workload.Realise(w.Name, batches, seed, taken); err != nil {
		return r, err
	}
	r.resize(w.Resizes)
	r.epochs = drawEpochs(w, seed, len(r.jobs))
	r.drawnOn = drawAlternatives(w, seed, len(r.jobs))
	for i := range r.jobs {
		if j := r.blocks[r.block[i]]; j.Runtime != nil { // the estimate of most policies; see jobsFor
			r.jobs[i].Predicted = within(r.jobs[i].Budget, given.Work(j, r.epoch(i)).RunTime(j.Threads.Request))
		}
	}
	r.digest = digestJobs(r)
	return r, nil
}

func realiseTrace(t *experiments.Trace) realisation {
	r := realisation{jobs: t.Jobs, block: t.Block, runTimes: t.RunTimes, resizes: t.Resizes, requested: true}
	for _, k := range t.Blocks {
		r.blocks = append(r.blocks, k.Job)
	}
	// All that a trace says has a place in its written form.
	h := sha256.New()
	_ = formats.WriteCSV(h, t.Trace) // a hash does not fail
	workload.WriteRest(h, t.Jobs)
	r.digest = hex.EncodeToString(h.Sum(nil))
	return r
}

// Workload returns what a workload comes to in a replicate, counted from 1: the
// jobs that its cells have, with the run times that were drawn for them, and
// without the estimates that policies are given. With runTimes it has also those
// that are the same for all jobs of a block.
func Workload(spec *experiments.Spec, w *experiments.Workload, replicate int, runTimes bool) (workload.Trace, error) {
	r, err := realise(w, replicateSeed(spec.Seed, replicate))
	if err != nil {
		return workload.Trace{}, err
	}
	t := workload.Trace{Jobs: r.jobs, RunTimes: slices.Clone(r.runTimes), Resizes: r.resizes}
	if !r.requested || r.submitted != nil {
		t.Jobs = slices.Clone(r.jobs)
		for i := range t.Jobs {
			if !r.asked(i) {
				t.Jobs[i].Predicted = 0
			}
		}
	}
	if r.epochs != nil || runTimes { // a replay cannot draw them again
		if t.RunTimes == nil {
			t.RunTimes = slices.Repeat([]time.Duration{-1}, len(r.jobs))
		}
		for i := range t.RunTimes {
			if t.RunTimes[i] >= 0 || r.requested && r.asked(i) && !runTimes || r.block[i] < 0 {
				continue
			}
			if j := r.blocks[r.block[i]]; j.Runtime != nil {
				t.RunTimes[i] = given.Work(j, r.epoch(i)).RunTime(j.Threads.Request)
			}
		}
	}
	return t, nil
}

// drawEpochs draws the epoch time of each job, where a job block asks for that.
func drawEpochs(w *experiments.Workload, seed int64, jobs int) []time.Duration {
	if !slices.ContainsFunc(w.Submits, func(s experiments.Submit) bool {
		return s.Job.Runtime != nil && !s.Job.Runtime.Epoch.Fixed()
	}) {
		return nil
	}
	epochs := make([]time.Duration, 0, jobs)
	for i, s := range w.Submits {
		rng := epochStream(w, seed, i)
		for range s.Count {
			var d time.Duration
			if s.Job.Runtime != nil {
				d = s.Job.Runtime.Epoch.Draw(rng)
			}
			epochs = append(epochs, d)
		}
	}
	return epochs
}

// epoch is the epoch time that the file gives a job, by its number.
func (r *realisation) epoch(job int) time.Duration {
	block := r.blocks[r.block[job]]
	switch {
	case block.Runtime != nil && block.Runtime.Elastic != nil:
		return elasticAlone(block.Runtime.Elastic, &r.jobs[job])
	case r.epochs != nil:
		return r.epochs[job]
	}
	return block.Runtime.Epoch.Mean
}

// digestJobs is the hash of all that was drawn.
func digestJobs(r realisation) string {
	h := sha256.New()
	var b []byte
	for i := range r.jobs {
		j := &r.jobs[i]
		b = append(b[:0], j.Name...)
		b = append(b, ' ')
		b = strconv.AppendInt(b, int64(j.Arrival), 10)
		b = append(b, ' ')
		b = strconv.AppendInt(b, int64(j.Deadline), 10)
		if r.epochs != nil {
			b = append(b, ' ')
			b = strconv.AppendInt(b, int64(r.epochs[i]), 10)
		}
		h.Write(append(b, '\n'))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// fitted has the predicted run time of each job on its full request; 0 where
// there is no estimate. A run time of a trace is its own estimate.
func (x *Experiment) fitted(h *experiments.Hardware, r realisation) []time.Duration {
	ofBlock := make([]time.Duration, len(r.blocks))
	drawn := make([]bool, len(r.blocks)) // its run time differs by job
	for k, j := range r.blocks {
		if x.sampled(h, j) {
			if est, ok := x.estimateOf(j); ok {
				ofBlock[k] = seconds(est.Predict(program.Length(j), x.spec.Estimate.Level).Seconds)
				continue
			}
		}
		drawn[k] = j.Runtime != nil
	}
	predicted := make([]time.Duration, len(r.jobs))
	for i := range predicted {
		k := r.block[i]
		if t, ok := r.runTime(i); ok {
			predicted[i] = max(t, 1)
		} else if k >= 0 && drawn[k] {
			predicted[i] = given.Work(r.blocks[k], r.epoch(i)).RunTime(r.blocks[k].Threads.Request)
		} else if k >= 0 {
			predicted[i] = ofBlock[k]
		}
		predicted[i] = within(r.jobs[i].Budget, predicted[i])
	}
	return predicted
}

// wholeRuns is fitted without the jobs that have a target loss: they are done before
// the run that is predicted ends.
func (x *Experiment) wholeRuns(h *experiments.Hardware, r realisation) []time.Duration {
	predicted := x.fitted(h, r)
	for i := range predicted {
		if k := r.block[i]; k >= 0 && r.blocks[k].TargetLoss > 0 {
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
func (c *Cell) jobsFor(r realisation, known truth) []scheduler.Job {
	if !c.Policy.EstimatesOn(c.Hardware) {
		return c.withAlternatives(r, r.jobs, known.work)
	}
	jobs, own := r.jobs, false
	fitted := c.x.fitted(c.Hardware, r)
	for n := range jobs {
		d := fitted[n]
		switch from := c.Policy.Source(); {
		case from.Asked:
			// A trace has it as the job's prediction; job blocks as their limit.
			if k := r.block[n]; r.asked(n) && jobs[n].Predicted > 0 {
				d = jobs[n].Predicted
			} else if d = 0; k >= 0 {
				d = r.blocks[k].Limit
			}
		case from.Fitted:
			if k := r.block[n]; k >= 0 {
				d = time.Duration(longer(known.estimated, r.blocks[k]) * float64(d))
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
