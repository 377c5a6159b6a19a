package realise

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/scheduler"
)

// realiseBoth merges the jobs of a trace and those that are submitted beside
// it, by their arrivals; at one instant the trace comes first.
func realiseBoth(w *experiments.Workload, seed int64) (realisation, error) {
	trace := realiseTrace(w.Trace)
	taken := make(map[string]bool, len(trace.jobs))
	for i := range trace.jobs {
		taken[trace.jobs[i].Name] = true
	}
	own := *w
	own.Trace, own.Resizes = nil, nil
	drawn, err := realiseSubmits(&own, seed, taken)
	if err != nil {
		return drawn, err
	}
	all := slices.Concat(trace.jobs, drawn.jobs)
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(all[a].Arrival, all[b].Arrival) })

	n := len(trace.jobs)
	r := realisation{
		jobs: make([]scheduler.Job, len(all)), block: make([]int32, len(all)), submitted: make([]bool, len(all)),
		blocks: slices.Concat(trace.blocks, drawn.blocks), requested: true,
	}
	if trace.runTimes != nil {
		r.runTimes = make([]time.Duration, len(all))
	}
	if drawn.epochs != nil {
		r.epochs = make([]time.Duration, len(all))
	}
	number := make([]int, len(all))
	for i, from := range order {
		number[from] = i
		r.jobs[i] = all[from]
		r.jobs[i].Number = i
		if from < n {
			r.block[i] = trace.block[from]
			if r.runTimes != nil {
				r.runTimes[i] = trace.runTimes[from]
			}
			if k := r.block[i]; r.epochs != nil && k >= 0 && r.blocks[k].Runtime != nil {
				r.epochs[i] = r.blocks[k].Runtime.Epoch.Mean
			}
			continue
		}
		r.submitted[i] = true
		r.block[i] = drawn.block[from-n] + int32(len(trace.blocks))
		if r.runTimes != nil {
			r.runTimes[i] = -1
		}
		if r.epochs != nil {
			r.epochs[i] = drawn.epochs[from-n]
		}
	}
	for _, z := range trace.resizes {
		z.Job = number[z.Job]
		r.resizes = append(r.resizes, z)
	}
	r.resize(w.Resizes)
	digest := sha256.Sum256([]byte(trace.digest + drawn.digest))
	r.digest = hex.EncodeToString(digest[:])
	return r, nil
}

// resize adds the resize requests of a workload. A job that a lenient reader
// has left out of the trace has none.
func (r *realisation) resize(requests []experiments.Update) {
	if len(requests) == 0 {
		return
	}
	byName := make(map[string]int, len(r.jobs))
	for i := range r.jobs {
		byName[r.jobs[i].Name] = i
	}
	for _, z := range requests {
		if job, ok := byName[z.Job]; ok {
			r.resizes = append(r.resizes, scheduler.Resize{At: z.At, Job: job, Threads: z.Threads})
		}
	}
}

// asked reports whether a job's prediction is the run time that its user asked
// for.
func (r *realisation) asked(job int) bool {
	return r.requested && (r.submitted == nil || !r.submitted[job])
}
