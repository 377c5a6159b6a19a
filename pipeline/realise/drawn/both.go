package drawn

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
)

// both merges the jobs of a trace and those that are submitted beside
// it, by their arrivals; at one instant the trace comes first.
func both(w *experiments.Workload, seed int64) (Workload, error) {
	trace := traced(w.Trace)
	taken := make(map[string]bool, len(trace.Jobs))
	for i := range trace.Jobs {
		taken[trace.Jobs[i].Name] = true
	}
	own := *w
	own.Trace, own.Resizes = nil, nil
	drawn, err := submitted(&own, seed, taken)
	if err != nil {
		return drawn, err
	}
	all := slices.Concat(trace.Jobs, drawn.Jobs)
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(all[a].Arrival, all[b].Arrival) })

	n := len(trace.Jobs)
	r := Workload{
		Jobs: make([]scheduler.Job, len(all)), Block: make([]int32, len(all)), submitted: make([]bool, len(all)),
		Blocks: slices.Concat(trace.Blocks, drawn.Blocks), requested: true,
	}
	if trace.runTimes != nil {
		r.runTimes = make([]time.Duration, len(all))
	}
	if trace.Alternatives != nil {
		r.Alternatives = make([][]workload.Alternative, len(all))
	}
	if drawn.epochsOn != nil {
		r.epochsOn = make([][]time.Duration, len(all))
	}
	if drawn.epochs != nil {
		r.epochs = make([]time.Duration, len(all))
	}
	number := make([]int, len(all))
	for i, from := range order {
		number[from] = i
		r.Jobs[i] = all[from]
		r.Jobs[i].Number = i
		if from < n {
			r.Block[i] = trace.Block[from]
			if r.runTimes != nil {
				r.runTimes[i] = trace.runTimes[from]
			}
			if r.Alternatives != nil {
				r.Alternatives[i] = trace.Alternatives[from]
			}
			if k := r.Block[i]; r.epochs != nil && k >= 0 && r.Blocks[k].Runtime != nil {
				r.epochs[i] = r.Blocks[k].Runtime.Epoch.Mean
			}
			continue
		}
		r.submitted[i] = true
		r.Block[i] = drawn.Block[from-n] + int32(len(trace.Blocks))
		if r.runTimes != nil {
			r.runTimes[i] = -1
		}
		if r.epochsOn != nil {
			r.epochsOn[i] = drawn.epochsOn[from-n]
		}
		if r.epochs != nil {
			r.epochs[i] = drawn.epochs[from-n]
		}
	}
	for _, z := range trace.Resizes {
		z.Job = number[z.Job]
		r.Resizes = append(r.Resizes, z)
	}
	r.resize(w.Resizes)
	digest := sha256.Sum256([]byte(trace.Digest + drawn.Digest))
	r.Digest = hex.EncodeToString(digest[:])
	return r, nil
}

// resize adds the resize requests of a workload. A job that a lenient reader
// has left out of the trace has none.
func (r *Workload) resize(requests []experiments.Update) {
	if len(requests) == 0 {
		return
	}
	byName := make(map[string]int, len(r.Jobs))
	for i := range r.Jobs {
		byName[r.Jobs[i].Name] = i
	}
	for _, z := range requests {
		if job, ok := byName[z.Job]; ok {
			r.Resizes = append(r.Resizes, scheduler.Resize{At: z.At, Job: job, Threads: z.Threads})
		}
	}
}

// Asked reports whether a job's prediction is the run time that its user asked
// for.
func (r *Workload) Asked(job int) bool {
	return r.requested && (r.submitted == nil || !r.submitted[job])
}
