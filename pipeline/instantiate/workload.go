package instantiate

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/experiment"
)

// jobList is the workload of one replicate: its jobs, by their numbers, with their job blocks. Cells share it, so it
// must not be changed.
type jobList struct {
	Jobs []scheduler.Job
	// Blocks are the job blocks. Block is, by job number, the index of the job's block, or -1 for a job that only a
	// trace describes.
	Blocks []*experiment.Job
	Block  []int32
	// runTimes are the run times in a trace on the full request, by job number; negative if a job has none. The slice
	// is nil if no job has one, or if the jobs run for real.
	runTimes []time.Duration
	// Alternatives are the alternatives in a trace, by job number; nil if no job has any.
	Alternatives [][]workload.Alternative
	// epochs are the epoch times that were drawn, by job number; nil if no job block draws them.
	epochs []time.Duration
	// epochsOn are the drawn epoch times of the alternatives of each job, by job number; nil if none is drawn.
	epochsOn [][]time.Duration
	// requested is set if the jobs of the trace have the run times that their users requested.
	requested bool
	// submitted marks, by job number, the jobs that a submit block adds to a trace; nil if all jobs are from one
	// source.
	submitted []bool
	Resizes   []scheduler.Resize
	Digest    string
	// drawing replaces all fields but Blocks and Digest when jobs are drawn on demand; nil otherwise.
	drawing *drawing
	// truths caches, by hardware, the facts that cells with these jobs share; see Cell.factsOf.
	truths *sync.Map
}

// draw returns the jobs of a workload: jobs of its trace, and jobs that it draws for submit blocks.
func draw(w *experiment.Workload, seed int64) (jobList, error) {
	switch {
	case w.Trace == nil:
		return submitted(w, seed, nil)
	case len(w.Submits) == 0 && len(w.Resizes) == 0:
		return traced(w.Trace), nil
	}
	return both(w, seed)
}

// submitted draws the jobs of the submit blocks of a workload. It avoids the names in taken.
func submitted(w *experiment.Workload, seed int64, taken map[string]bool) (jobList, error) {
	var (
		batches []workload.Submit
		r       jobList
	)
	blocks := map[*experiment.Job]int32{}
	for _, s := range w.Submits {
		batches = append(batches, workload.Submit{Job: templateOf(&s), Count: s.Count, Arrivals: s.Arrivals})
		r.Block = slices.Grow(r.Block, s.Count)
		k, ok := blocks[s.Job]
		if !ok {
			k = int32(len(r.Blocks))
			blocks[s.Job] = k
			r.Blocks = append(r.Blocks, s.Job)
		}
		for range s.Count {
			r.Block = append(r.Block, k)
		}
	}
	var err error
	if r.Jobs, err = workload.Realise(w.Name, batches, seed, taken); err != nil {
		return r, err
	}
	r.resize(w.Resizes)
	r.epochs = drawEpochs(w, seed, len(r.Jobs))
	r.epochsOn = drawAlternatives(w, seed, len(r.Jobs))
	for i := range r.Jobs {
		if j := r.Blocks[r.Block[i]]; j.Runtime != nil { // most policies use it as the estimate; see jobsFor
			r.Jobs[i].Predicted = within(r.Jobs[i].Budget(), givenWork(j, r.Epoch(i)).RunTime(j.Threads.Request))
		}
	}
	r.Digest = digestJobs(r)
	return r, nil
}

// templateOf returns a job of a submit block, without number, name and arrival.
func templateOf(s *experiment.Submit) scheduler.Job {
	template := s.Job.TemplateWith(func(j *scheduler.Job) {
		j.Priority, j.Deadline, j.User = s.Priority, s.Deadline, s.User
		j.Own().Budget = s.Budget
	})
	experiment.EachPart(s.Parts, func(p experiment.RequestPart) { p.Request(&template) })
	return template
}

func traced(t *experiment.Trace) jobList {
	r := jobList{Jobs: t.Jobs, Block: t.Block, runTimes: t.RunTimes, Resizes: t.Resizes, requested: true,
		Alternatives: t.Alternatives}
	for _, k := range t.Blocks {
		r.Blocks = append(r.Blocks, k.Job)
	}
	// The written form of a trace contains everything in it.
	h := sha256.New()
	_ = t.Format.WriteAll(h, t.Trace) // writing to a hash cannot fail
	workload.WriteRest(h, t.Jobs)
	r.Digest = hex.EncodeToString(h.Sum(nil))
	return r
}

// RunTime returns the run time of a job in its trace, if there is one.
func (r *jobList) RunTime(job int) (time.Duration, bool) {
	if r.runTimes == nil || r.runTimes[job] < 0 {
		return 0, false
	}
	return r.runTimes[job], true
}

// Traced returns the work of a job whose run time is in a trace, for one of its alternatives. It speeds up as the
// file says, or else in proportion to its threads.
func (r *jobList) Traced(job, alternative int) (simulated.Scaling, bool) {
	t, ok := r.RunTime(job)
	if !ok {
		return simulated.Scaling{}, false
	}
	if all := r.AlternativesOf(job); all != nil {
		a := all[alternative]
		return simulated.FullRequest(a.RunTime, a.Threads), a.RunTime >= 0
	}
	w := simulated.FullRequest(t, r.Jobs[job].Threads)
	if k := r.Block[job]; k >= 0 && r.Blocks[k].Runtime != nil {
		speedUp(&w, r.Blocks[k].Runtime)
	}
	return w, true
}

// AlternativesOf returns the alternatives of a job in its trace; nil if it has none.
func (r *jobList) AlternativesOf(job int) []workload.Alternative {
	if r.Alternatives == nil {
		return nil
	}
	return r.Alternatives[job]
}

// drawEpochs draws the epoch times of jobs whose block has a distribution of them.
func drawEpochs(w *experiment.Workload, seed int64, jobs int) []time.Duration {
	if !slices.ContainsFunc(w.Submits, func(s experiment.Submit) bool {
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

// Epoch returns the epoch time of a job from the file.
func (r *jobList) Epoch(job int) time.Duration {
	block := r.Blocks[r.Block[job]]
	if block.Runtime != nil && len(block.Runtime.Parts) > 0 {
		if part, ok := experiment.PartOf[stages.UnitPart](block.Runtime.Parts); ok {
			return part.UnitTime(&r.Jobs[job])
		}
	}
	if r.epochs != nil {
		return r.epochs[job]
	}
	return block.Runtime.Epoch.Mean
}

// digestJobs returns the hash of everything that was drawn for the jobs.
func digestJobs(r jobList) string {
	h := sha256.New()
	var b []byte
	for i := range r.Jobs {
		j := &r.Jobs[i]
		if len(b) >= 1<<14 {
			h.Write(b)
			b = b[:0]
		}
		epoch := notDrawn
		if r.epochs != nil {
			epoch = r.epochs[i]
		}
		b = appendDrawn(append(b, j.Name...), j.Arrival, j.Deadline, epoch)
	}
	h.Write(b)
	return hex.EncodeToString(h.Sum(nil))
}

// notDrawn is the epoch time of jobs for which none is drawn.
const notDrawn = time.Duration(-1)

// appendDrawn appends everything that was drawn for a job to its name: a zero byte, which no name contains, and three
// numbers of eight bytes.
func appendDrawn(b []byte, arrival, deadline, epoch time.Duration) []byte {
	b = binary.LittleEndian.AppendUint64(append(b, 0), uint64(arrival))
	b = binary.LittleEndian.AppendUint64(b, uint64(deadline))
	return binary.LittleEndian.AppendUint64(b, uint64(epoch))
}

// EpochOn returns the epoch time, from the file, of a job in one of its alternatives; index 0 is the job block. Drawn
// times use the same random numbers for all alternatives: a job that is long in one is long in the others.
func (r *jobList) EpochOn(job, alternative int) time.Duration {
	if alternative == 0 {
		return r.Epoch(job)
	}
	if r.epochsOn != nil && r.epochsOn[job] != nil {
		return r.epochsOn[job][alternative-1]
	}
	return r.Blocks[r.Block[job]].Alternatives[alternative-1].Runtime.Epoch.Mean
}

// drawAlternatives draws the epoch times of alternatives with a distribution of them.
func drawAlternatives(w *experiment.Workload, seed int64, jobs int) [][]time.Duration {
	drawn := func(a *experiment.Job) bool { return a.Runtime != nil && !a.Runtime.Epoch.Fixed() }
	var all [][]time.Duration
	at := 0
	for i, s := range w.Submits {
		if slices.ContainsFunc(s.Job.Alternatives, drawn) {
			if all == nil {
				all = make([][]time.Duration, jobs)
			}
			for n := range s.Count {
				all[at+n] = make([]time.Duration, len(s.Job.Alternatives))
			}
			for k, a := range s.Job.Alternatives {
				rng := epochStream(w, seed, i)
				for n := range s.Count {
					if a.Runtime != nil {
						all[at+n][k] = a.Runtime.Epoch.Draw(rng)
					}
				}
			}
		}
		at += s.Count
	}
	return all
}

// epochStream returns the random stream of the epoch times of a submit block.
func epochStream(w *experiment.Workload, seed int64, submit int) *rand.Rand {
	return workload.Stream(seed, epochsPath(w, submit)...)
}

func epochsPath(w *experiment.Workload, submit int) []string {
	return []string{"workload", w.Name, "submit", strconv.Itoa(submit), "epochs"}
}

// within limits a run time to a budget. It returns the budget for an unknown run time, and 1 ns for an empty budget,
// since 0 means unknown.
func within(budget *time.Duration, d time.Duration) time.Duration {
	if budget == nil || d > 0 && d <= *budget {
		return d
	}
	return max(*budget, 1)
}

// Export returns the workload as a trace, without the estimates for policies. With runTimes set, it includes run
// times that are equal for all jobs of a block.
func (r *jobList) Export(runTimes bool) workload.Trace {
	t := workload.Trace{
		Jobs: r.Jobs, RunTimes: slices.Clone(r.runTimes), Alternatives: r.Alternatives, Resizes: r.Resizes,
	}
	if !r.requested || r.submitted != nil {
		t.Jobs = slices.Clone(r.Jobs)
		for i := range t.Jobs {
			if !r.Asked(i) {
				t.Jobs[i].Predicted = 0
			}
		}
	}
	if r.epochs != nil || r.epochsOn != nil || runTimes { // drawn times must be in the trace: a replay cannot draw them
		if t.RunTimes == nil {
			t.RunTimes = slices.Repeat([]time.Duration{-1}, len(r.Jobs))
		}
		for i := range t.RunTimes {
			if t.RunTimes[i] >= 0 || r.requested && r.Asked(i) && !runTimes || r.Block[i] < 0 {
				continue
			}
			if j := r.Blocks[r.Block[i]]; j.Runtime != nil {
				t.RunTimes[i] = givenWork(j, r.Epoch(i)).RunTime(j.Threads.Request)
			}
		}
	}
	r.exportAlternatives(&t)
	return t
}

// exportAlternatives adds to a trace the alternatives of jobs. It leaves out alternatives whose speeds depend on the
// types of GPUs of a hardware.
func (r *jobList) exportAlternatives(t *workload.Trace) {
	cloned := false
	for i, k := range r.Block {
		if k < 0 || r.AlternativesOf(i) != nil || len(r.Blocks[k].Alternatives) == 0 {
			continue
		}
		all := r.Blocks[k].WithAlternatives()
		if slices.ContainsFunc(all, func(w *experiment.Job) bool {
			return w.Runtime != nil && len(w.Runtime.GPURates)+len(w.Runtime.Neighbours) > 0
		}) {
			continue
		}
		if !cloned {
			cloned = true
			missing := len(r.Jobs) - len(t.Alternatives)
			t.Alternatives = append(slices.Clone(t.Alternatives), make([][]workload.Alternative, missing)...)
		}
		for n, w := range all {
			a := workload.Alternative{Alternative: w.RequestOn(w.AlternativeName(), w.GPU), RunTime: -1}
			if n == 0 {
				a.Predicted = t.Jobs[i].Predicted
			}
			if w.Runtime != nil && t.Timed(i) {
				a.RunTime = givenWork(w, r.EpochOn(i, n)).RunTime(w.Threads.Request)
			}
			t.Alternatives[i] = append(t.Alternatives[i], a)
		}
	}
}

// both merges the jobs of a trace and the submitted jobs by their arrivals; with equal arrivals the trace's jobs come
// first.
func both(w *experiment.Workload, seed int64) (jobList, error) {
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

	n, m := len(trace.Jobs), len(drawn.Jobs)
	r := jobList{
		Jobs: make([]scheduler.Job, n+m), Block: make([]int32, n+m), submitted: make([]bool, n+m),
		Blocks: slices.Concat(trace.Blocks, drawn.Blocks), requested: true,
		runTimes:     merged(order, trace.runTimes, n, nil, m, -1),
		Alternatives: merged(order, trace.Alternatives, n, nil, m, nil),
		epochs:       merged(order, nil, n, drawn.epochs, m, 0),
		epochsOn:     merged(order, nil, n, drawn.epochsOn, m, nil),
	}
	number := make([]int, n+m)
	for i, from := range order {
		number[from] = i
		r.Jobs[i] = all[from]
		r.Jobs[i].Number = i
		if from >= n {
			r.submitted[i] = true
			r.Block[i] = drawn.Block[from-n] + int32(len(trace.Blocks))
			continue
		}
		r.Block[i] = trace.Block[from]
		if k := r.Block[i]; r.epochs != nil && k >= 0 && r.Blocks[k].Runtime != nil {
			r.epochs[i] = r.Blocks[k].Runtime.Epoch.Mean
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

// merged merges the values a of n jobs and the values b of m other jobs in the given order. A job without a value
// gets none. The result is nil if no job has a value.
func merged[T any](order []int, a []T, n int, b []T, m int, none T) []T {
	if a == nil && b == nil {
		return nil
	}
	if a == nil {
		a = slices.Repeat([]T{none}, n)
	}
	if b == nil {
		b = slices.Repeat([]T{none}, m)
	}
	out := make([]T, n+m)
	for i, from := range order {
		if from < n {
			out[i] = a[from]
		} else {
			out[i] = b[from-n]
		}
	}
	return out
}

// resize adds the resize requests of a workload. It skips requests of jobs that a lenient reader has left out of the
// trace.
func (r *jobList) resize(requests []experiment.Update) {
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

// Asked reports whether a job's prediction is the run time that its user requested.
func (r *jobList) Asked(job int) bool {
	return r.requested && (r.submitted == nil || !r.submitted[job])
}
