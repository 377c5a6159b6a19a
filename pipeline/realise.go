package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
)

type realisedKey struct {
	workload  *experiments.Workload
	replicate int
}

// realisation is the workload of one replicate: its jobs, in the order of
// their numbers, and the job block of each.
type realisation struct {
	jobs   []scheduler.Job
	blocks []*experiments.Job
	// epochs has the epoch time of each job whose run time the file gives; nil
	// when no job block draws it.
	epochs  []time.Duration
	resizes []scheduler.Resize
	digest  string
}

// realise draws the jobs of a workload for a replicate. All cells of the
// replicate share them: their random numbers are common.
func (p *Plan) realise(w *experiments.Workload, replicate int) (realisation, error) {
	id := realisedKey{w, replicate}
	if r, ok := p.state.realised[id]; ok {
		return r, nil
	}
	var (
		batches []workload.Submit
		r       realisation
	)
	for _, s := range w.Submits {
		j := s.Job
		template := scheduler.Job{
			Class: j.Name, Threads: j.Threads.Request, MinThreads: j.Threads.Min, MaxThreads: j.Threads.Max,
			GPUs: j.GPUs, Memory: j.Memory, Malleable: j.Malleable, Priority: j.Priority, User: s.User,
		}
		if s.HasPriority {
			template.Priority = s.Priority
		}
		template.Deadline = s.Deadline
		batches = append(batches, workload.Submit{Job: template, Count: s.Count, Arrivals: s.Arrivals})
		r.blocks = slices.Grow(r.blocks, s.Count)
		for range s.Count {
			r.blocks = append(r.blocks, j)
		}
	}
	var err error
	seed := replicateSeed(p.spec.Seed, replicate)
	if r.jobs, err = workload.Realise(w.Name, batches, seed); err != nil {
		return r, err
	}
	if len(w.Resizes) > 0 {
		byName := make(map[string]int, len(r.jobs))
		for _, j := range r.jobs {
			byName[j.Name] = j.Number
		}
		for _, z := range w.Resizes {
			r.resizes = append(r.resizes, scheduler.Resize{At: z.At, Job: byName[z.Job], Threads: z.Threads})
		}
	}
	r.epochs = drawEpochs(w, seed, len(r.jobs))
	for i, j := range r.blocks {
		if j.Runtime != nil { // what most policies will be told; see jobsFor
			r.jobs[i].Predicted = runtimeOn(j, r.epoch(i), j.Threads.Request)
		}
	}
	r.digest = digestJobs(r)
	p.state.realised[id] = r
	return r, nil
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
		rng := workload.Stream(seed, "workload", w.Name, "submit", strconv.Itoa(i), "epochs")
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
	if r.epochs != nil {
		return r.epochs[job]
	}
	return r.blocks[job].Runtime.Epoch.Mean
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
// there is no estimate.
func (p *Plan) fitted(r realisation) []time.Duration {
	predicted := make([]time.Duration, len(r.jobs))
	memo := map[*experiments.Job]time.Duration{}
	for i, j := range r.blocks {
		if j.Runtime != nil {
			predicted[i] = runtimeOn(j, r.epoch(i), j.Threads.Request)
			continue
		}
		d, ok := memo[j]
		if !ok {
			if est, ok := p.estimateOf(j); ok {
				d = seconds(est.Predict(length(j), p.spec.Estimate.Level).Seconds)
			}
			memo[j] = d
		}
		predicted[i] = d
	}
	return predicted
}

func seconds(s float64) time.Duration { return time.Duration(math.Round(s * 1e9)) }

// runtimeOn is the run time that the file gives a job, on so many threads
// (Amdahl's law on its epochs).
func runtimeOn(j *experiments.Job, epoch time.Duration, threads int) time.Duration {
	work := float64(epoch) * float64(length(j))
	return j.Runtime.Startup + time.Duration(math.Round(work*(1-j.Runtime.Parallel+j.Runtime.Parallel/float64(threads))))
}

// jobsFor gives a cell's jobs the estimates that its policy is to decide by.
//
// An oracle knows the run time to come: in simulation that is exact; of real
// jobs nobody knows more than the fitted estimate.
func (p *Plan) jobsFor(c experiments.Cell, i int, r realisation, alone []time.Duration) []scheduler.Job {
	if !usesPredictions(c.Policy) {
		return r.jobs
	}
	jobs, own := r.jobs, false
	fitted := p.fitted(r)
	for n := range jobs {
		d := fitted[n]
		switch c.Policy.Estimates {
		case "requested":
			d = r.blocks[n].Limit
		case "noisy":
			// Lognormal with median 1, drawn by job: all policies of a replicate
			// see the same errors.
			z := workload.Stream(p.Cells[i].Seed, "estimates", jobs[n].Name).NormFloat64()
			d = time.Duration(float64(d) * math.Exp(c.Policy.Sigma*z))
		case "oracle":
			if alone != nil {
				d = max(alone[n], 1)
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
	return jobs
}
