package instantiate

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/stages/experiment"
)

// point is a point of the matrix, without its replicate.
type point = experiment.Cell

// Cell is one cell of an experiment: a point of its matrix with a replicate.
type Cell struct {
	// Ref names the cell in records. Place is its position in the file; cells outside the matrix come last.
	Ref   record.CellRef
	Place int

	point
	x *Experiment
	// planned is set when its samples are planned.
	planned bool
}

// Cells are the points of the matrix with their replicates, in the order of the
// file: all replicates of a point are adjacent.
func (x *Experiment) Cells() (cells []*Cell) {
	taken := map[string]bool{}
	for _, c := range x.Spec.Cells {
		name, fixed := c.Name(), x.Spec.Fixed(c)
		for n := 2; taken[name]; n++ { // two names may differ only in characters that were replaced
			name = fmt.Sprintf("%s~%d", c.Name(), n)
		}
		taken[name] = true
		for r := 1; r <= x.Spec.Replicates; r++ {
			one := x.cell(c, fmt.Sprintf("%s-r%d", name, r), r)
			one.planned, one.Ref.Fixed = true, fixed
			one.Ref.Axes, one.Place = c.Axes, len(cells)
			cells = append(cells, one)
		}
	}
	return cells
}

// cell returns the cell of a point in a replicate, without the values of axes.
func (x *Experiment) cell(c point, name string, replicate int) *Cell {
	kind := c.Hardware.Kind()
	ref := record.CellRef{
		Cell: name, Workload: c.Workload.Name, Hardware: c.Hardware.Name, Policy: c.Policy.Name,
		Replicate: replicate, Seed: x.ReplicateSeed(replicate), Engine: c.Hardware.Engine,
		Simulated: !c.Hardware.Real(), Contained: kind.Contained, Recorded: kind.Recorded,
	}
	for _, n := range c.Hardware.Cluster.Nodes {
		ref.Cores, ref.GPUs = ref.Cores+n.Threads, ref.GPUs+n.GPUs
	}
	return &Cell{x: x, point: c, Ref: ref}
}

// ReplicateSeed returns the seed of a replicate.
func (x *Experiment) ReplicateSeed(replicate int) int64 { return replicateSeed(x.Spec.Seed, replicate) }

// replicateSeed returns the seed of all cells of a replicate, so that compared cells have the same arrivals and
// noise.
func replicateSeed(seed int64, replicate int) int64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d/replicate/%d", seed, replicate))
	return int64(binary.BigEndian.Uint64(sum[:8]) >> 1)
}

// RunOrder returns the order in which cells run, as indexes into refs. Replicates run one after the other.
//
// In odd replicates, combinations of workload and hardware are in random order. Within a combination, the cells to
// compare are adjacent, in random order. The next replicate has the reverse order (ABBA). So if the machine becomes
// slower at a constant rate, no policy has an advantage.
func RunOrder(seed int64, refs []record.CellRef) []int {
	byReplicate := map[int][]int{}
	last := 0
	for i, r := range refs {
		byReplicate[r.Replicate] = append(byReplicate[r.Replicate], i)
		last = max(last, r.Replicate)
	}
	order := make([]int, 0, len(refs))
	for r := 1; r <= last; r++ {
		block := byReplicate[r]
		random := workload.Stream(seed, "order", fmt.Sprint((r+1)/2))
		random.Shuffle(len(block), func(i, j int) { block[i], block[j] = block[j], block[i] })
		on := func(i int) [2]string { return [2]string{refs[i].Workload, refs[i].Hardware} }
		place := map[[2]string]int{}
		for _, i := range block {
			if place[on(i)] == 0 {
				place[on(i)] = len(place) + 1
			}
		}
		slices.SortStableFunc(block, func(a, b int) int { return cmp.Compare(place[on(a)], place[on(b)]) })
		if r%2 == 0 {
			slices.Reverse(block)
		}
		order = append(order, block...)
	}
	return order
}

type drawnKey struct {
	workload  *experiment.Workload
	replicate int
	drawn     bool // its jobs are drawn on demand
}

// drawnKey identifies the jobs of the cell. With later set, the jobs may be drawn on demand.
func (c *Cell) drawnKey(later bool) drawnKey {
	id := drawnKey{workload: c.Workload, replicate: c.Ref.Replicate, drawn: later && c.draws()}
	if c.Workload.Trace != nil && len(c.Workload.Submits) == 0 {
		id.replicate = 0 // the jobs are the same in all replicates
	}
	return id
}

// listJobs returns the jobs of a cell's workload. All cells of a replicate share them, so that they have common
// random numbers.
func (c *Cell) listJobs() (jobList, error) {
	r, err := c.x.draw(c.drawnKey(false), c.Ref.Seed)
	if c.Hardware.Real() {
		r.runTimes = nil // run times of real jobs are unknown before they run
	}
	return r, err
}

// jobsOrDrawing is listJobs for a caller that accepts jobs that are drawn on demand.
func (c *Cell) jobsOrDrawing() (jobList, error) {
	if !c.draws() {
		return c.listJobs()
	}
	return c.x.draw(c.drawnKey(true), c.Ref.Seed)
}

// digest is the hash of the jobs of a workload, or the error of drawing them.
type digest struct {
	text string
	err  error
}

// Digest returns the hash of the cell's jobs. It stays stored when the jobs themselves are dropped from memory.
func (c *Cell) Digest() (string, error) {
	d := once(&c.x.known, c.drawnKey(true), func() digest {
		r, err := c.jobsOrDrawing()
		return digest{r.Digest, err}
	})
	return d.text, d.err
}

// draw returns a drawn workload.
func (k *known) draw(id drawnKey, seed int64) (jobList, error) {
	w := id.workload
	jobs, drawWith := w.Jobs(), draw
	if id.drawn {
		jobs, drawWith = 0, drawLater
	}
	k.mu.Lock()
	drawn, ok := k.drawn[id]
	if !ok {
		if k.jobs += jobs; k.jobs > maxDrawn {
			clear(k.drawn)
			k.jobs = jobs
		}
		drawn = sync.OnceValues(func() (jobList, error) {
			r, err := drawWith(w, seed)
			r.truths = &sync.Map{}
			return r, err
		})
		k.drawn[id] = drawn
	}
	k.mu.Unlock()
	return drawn()
}

// maxDrawn is the number of drawn jobs that are kept in memory, about 1 KB each. Other workloads are drawn again when
// needed.
const maxDrawn = 500_000

// Workload returns the jobs of a workload in a replicate, counted from 1. They have the run times drawn for them,
// without the estimates of policies. With runTimes set, they also have run times that are equal for all jobs of a
// block.
func Workload(spec *experiment.Spec, w *experiment.Workload, replicate int, runTimes bool) (workload.Trace, error) {
	r, err := draw(w, replicateSeed(spec.Seed, replicate))
	if err != nil {
		return workload.Trace{}, err
	}
	return r.Export(runTimes), nil
}

// fitted returns the predicted run time of each job on its full request, by job number; 0 without an estimate. A run
// time in a trace is its own estimate.
func (x *Experiment) fitted(h *experiment.Hardware, r jobList) []time.Duration {
	ofBlock := make([]time.Duration, len(r.Blocks))
	differs := make([]bool, len(r.Blocks)) // the run time differs from job to job
	for k, j := range r.Blocks {
		if x.sampled(h, j) {
			if est, ok := x.estimateOf(j); ok {
				ofBlock[k] = seconds(est.Predict(j.Length(), x.Spec.Estimate.Level).Seconds)
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
		} else if k >= 0 && differs[k] && !r.Asked(i) {
			predicted[i] = r.Jobs[i].Predicted // the run time that was drawn
		} else if k >= 0 && differs[k] {
			predicted[i] = givenWork(r.Blocks[k], r.Epoch(i)).RunTime(r.Blocks[k].Threads.Request)
		} else if k >= 0 {
			predicted[i] = ofBlock[k]
		}
		predicted[i] = within(r.Jobs[i].Budget(), predicted[i])
	}
	return predicted
}

// wholeRuns is fitted with 0 for jobs that may end early: such a job ends before the predicted run time.
func (x *Experiment) wholeRuns(h *experiment.Hardware, r jobList) []time.Duration {
	predicted := x.fitted(h, r)
	for i := range predicted {
		if k := r.Block[i]; k >= 0 && r.Blocks[k].EndsEarly() {
			predicted[i] = 0
		}
	}
	return predicted
}

func seconds(s float64) time.Duration { return time.Duration(math.Round(s * 1e9)) }

// jobsFor returns a cell's jobs with the estimates that its policy uses.
//
// With estimates = "oracle", the estimate of a simulated job is its true run time. The true run time of a real job is
// unknown, so its estimate is the fitted one.
func (c *Cell) jobsFor(r jobList, known simulatedFacts) []scheduler.Job {
	if !c.Policy.EstimatesOn(c.Hardware) {
		return c.withAlternatives(r, r.Jobs, known.work)
	}
	jobs, own := r.Jobs, false
	fitted := c.x.fitted(c.Hardware, r)
	for n := range jobs {
		var block *experiment.Job
		if k := r.Block[n]; k >= 0 {
			block = r.Blocks[k]
		}
		alone := unknown
		if known.alone != nil {
			alone = known.alone[n]
		}
		d := c.estimate(&jobs[n], r.Asked(n), block, fitted[n], alone, known.estimated)
		if d == jobs[n].Predicted {
			continue
		}
		if !own { // other cells use the same slice
			jobs, own = slices.Clone(jobs), true
		}
		jobs[n].Predicted = d
	}
	return c.withAlternatives(r, jobs, known.work)
}

// unknown is the value of an unknown run time.
const unknown = time.Duration(-1)

// estimate returns the estimate of a job for the cell's policy. fitted and alone are its fitted and its true run
// time; with asked, the estimate is the time that its user requested. block is nil for a job that only a trace
// describes.
func (c *Cell) estimate(j *scheduler.Job, asked bool, block *experiment.Job, fitted, alone time.Duration,
	corrections []record.Estimated) time.Duration {
	switch from := c.Policy.Source(); {
	case from.Asked:
		// In a trace the requested time is the job's prediction; in a job block it is the limit.
		switch {
		case asked && j.Predicted > 0:
			return j.Predicted
		case block != nil:
			return block.Limit
		}
		return 0
	case from.Fitted:
		if block != nil {
			fitted = time.Duration(longer(corrections, block) * float64(fitted))
		}
		return c.noisy(fitted, j.Name)
	case from.True && alone != unknown:
		return max(alone, 1)
	}
	return fitted
}
