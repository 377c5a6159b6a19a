package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/scheduler"
)

// work says how long each job of a workload takes in simulation: what its
// trace says; or the fitted estimate, with its speed-up curve on other threads
// than the request; or what the file says. The file comes before the
// estimate on simulated machines, the estimate when a real cell is simulated.
// The error wraps errNoEstimate for a job that has none of them.
func (p *Plan) work(c experiments.Cell, r realisation) ([]simulated.Work, error) {
	work := make([]simulated.Work, len(r.jobs))
	ofKind := make([]simulated.Work, len(r.kinds))
	known := make([]bool, len(r.kinds))
	ways := waysOf(c.Hardware, r)
	for i := range work {
		k := r.kind[i]
		if several := r.waysAt(ways, i); several != nil {
			var err error
			if work[i], err = p.workIn(c.Hardware, r, i, several); err != nil {
				return nil, err
			}
			continue
		}
		if told, ok := r.told(i); ok {
			work[i] = told
			continue
		}
		// Without a run time in a trace there is always a block.
		if j := r.kinds[k]; !p.estimated(c.Hardware, j) && j.Runtime != nil {
			work[i] = given(j, r.epoch(i))
			continue
		}
		if !known[k] {
			var err error
			if ofKind[k], err = p.workOf(r.kinds[k]); err != nil {
				return nil, err
			}
			known[k] = true
		}
		work[i] = ofKind[k]
	}
	return work, nil
}

// told is the work of a job whose run time a trace tells; it speeds up as the file
// says, and else in proportion to its threads.
func (r *realisation) told(job int) (simulated.Work, bool) {
	t, ok := r.runTime(job)
	if !ok {
		return simulated.Work{}, false
	}
	w := simulated.FullRequest(t, r.jobs[job].Threads)
	if k := r.kind[job]; k >= 0 && r.kinds[k].Runtime != nil {
		speedUp(&w, r.kinds[k].Runtime)
	}
	return w, true
}

// errNoEstimate is wrapped when a job has neither a run time nor samples.
var errNoEstimate = errors.New("there is no estimate")

// estimated tells whether a job's run time on a machine is a fitted estimate.
func (p *Plan) estimated(h *experiments.Hardware, j *experiments.Job) bool {
	if !p.sampled(h, j) {
		return false
	}
	_, ok := p.state.samples[p.profileHash(j)]
	return ok
}

// workOf is the work of a job by its fitted estimate.
func (p *Plan) workOf(j *experiments.Job) (simulated.Work, error) {
	est, ok := p.estimateOf(j)
	if !ok {
		return simulated.Work{}, fmt.Errorf("%w of the run time of job %s: its samples failed", errNoEstimate, j.Name)
	}
	w := simulated.Work{
		Fixed: seconds(est.Intercept), Scaled: seconds(est.Slope * float64(length(j))),
		Threads: j.Threads.Request, Parallel: 1,
	}
	if est.Curve != (estimator.Curve{}) {
		w.SpeedUp = func(threads int) float64 { return est.Curve.Speedup(float64(threads)) }
	}
	return w, nil
}

// simulatorOptions are the settings of a cell's simulated engine.
func (p *Plan) simulatorOptions(c experiments.Cell, seed int64) simulated.Options {
	h := c.Hardware
	opts := simulated.Options{
		Overheads: p.measuredOverheads(c), Noise: h.Noise, Seed: seed,
		Lacks: scheduler.Capabilities{
			Pause: slices.Contains(h.Lacks, "pause"), Resize: slices.Contains(h.Lacks, "resize"),
			Memory: slices.Contains(h.Lacks, "memory"), GPUs: slices.Contains(h.Lacks, "gpus"),
		},
	}
	opts.Contention = contention(h)
	if h.Overheads != nil {
		opts.Overheads = simulated.Overheads(*h.Overheads)
	}
	return opts
}

// measuredOverheads are what the engine took, at the median over the samples of
// the job kinds of a cell. What a program does before its first epoch is
// in the intercept of its estimate; Start is only what the engine adds. A real
// pause and the resume that follows it keep the cores idle for their sum,
// whichever of the two jobs is charged.
func (p *Plan) measuredOverheads(c experiments.Cell) simulated.Overheads {
	var launch, pause, resume, resize median
	for _, j := range jobsOf(c) {
		if !p.sampled(c.Hardware, j) {
			continue
		}
		for _, s := range p.state.samples[p.profileHash(j)] {
			launch.add(s.Launch)
			pause.add(s.Pause)
			resume.add(s.Resume)
			resize.add(s.Resize)
		}
	}
	return simulated.Overheads{Start: launch.time(), Pause: pause.time(), Resume: resume.time(), Resize: resize.time()}
}

// median is of the measured ones among times in seconds; 0 stands for none. The
// first launch of a run is often far slower than the others: a mean would charge
// it to all.
type median []float64

func (m *median) add(s float64) {
	if s > 0 {
		*m = append(*m, s)
	}
}

func (m median) time() time.Duration {
	if len(m) == 0 {
		return 0
	}
	slices.Sort(m)
	return seconds((m[(len(m)-1)/2] + m[len(m)/2]) / 2)
}

// simulate makes the engine of a simulated cell, and the true run time of each
// job on its full request.
func (p *Plan) simulate(c experiments.Cell, i int, r realisation) (*simulated.Engine, truth, error) {
	work, err := p.work(c, r)
	if err != nil {
		return nil, truth{}, err
	}
	opts := p.simulatorOptions(c, p.Cells[i].Seed)
	alone := make([]time.Duration, len(work))
	ways := waysOf(c.Hardware, r)
	for n := range work {
		t := aloneOf(work[n], r.waysAt(ways, n), r.jobs[n].Threads)
		alone[n] = time.Duration(float64(t) * opts.Factor(r.jobs[n].Name))
	}
	engine, err := simulated.New(r.jobs, work, opts)
	return engine, truth{alone, work}, err
}

// truth is what only a simulation knows: the run time of each job alone on its
// full request (in the fastest of its ways), and its work.
type truth struct {
	alone []time.Duration
	work  []simulated.Work
}

// twin makes the engine that simulates a real cell from the fitted estimates,
// and the description of all that it adds to the cell's own key. The error
// wraps errNoEstimate when a job has no estimate.
func (p *Plan) twin(c experiments.Cell, i int, r realisation) (*simulated.Engine, *store.Key, error) {
	work, err := p.work(c, r)
	if err != nil {
		return nil, nil, err
	}
	opts := simulated.Options{Overheads: p.measuredOverheads(c), Seed: p.Cells[i].Seed}
	k := store.NewKey("fidelity")
	k.Addf("version", "%d", fidelityVersion)
	k.Add("cell", p.Cells[i].Key)
	k.Add("overheads", opts.Overheads.String())
	seen := map[*experiments.Job]bool{}
	for n, w := range work {
		if j := r.kinds[r.kind[n]]; !seen[j] {
			seen[j] = true
			for _, on := range append([]simulated.Work{w}, w.Alternatives...) {
				k.Addf("job."+j.Name, "fixed %s, scaled %s on %d, parallel %g", on.Fixed, on.Scaled, on.Threads, on.Parallel)
			}
			if est, ok := p.estimateOf(j); ok && w.SpeedUp != nil && j.Runtime == nil {
				k.Addf("job."+j.Name+".curve", "%+v", est.Curve)
			}
		}
	}
	engine, err := simulated.New(r.jobs, work, opts)
	return engine, k, err
}

// predict simulates the real cells, for how long they take; also those that are
// reused, so that plan.json has it beside what they took.
// Cells with a job that has no estimate yet stay unknown.
func (p *Plan) predict() error {
	for i := range p.Cells {
		if p.Cells[i].Engine == engineSimulated {
			continue
		}
		c := p.spec.Cells[p.state.specCell[i]]
		r, err := p.realise(c, p.Cells[i].Replicate)
		if err != nil {
			return err
		}
		engine, _, err := p.twin(c, i, r)
		if errors.Is(err, errNoEstimate) {
			continue
		}
		if err != nil {
			return fmt.Errorf("predict cell %s: %w", p.Cells[i].Cell, err)
		}
		out, err := scheduler.Run{
			Policy: c.Policy.Policy, Cluster: c.Hardware.Cluster, Jobs: p.jobsFor(c, i, r, truth{}), Resizes: r.resizes, Engine: engine, Until: p.spec.Until,
			Online: p.online(c, i, r),
		}.Execute(context.Background())
		if err != nil {
			continue // the real run will say the same, in its cell
		}
		p.Work[i].Predicted = out.End
		p.Cells[i].PredictedSeconds = out.End.Seconds()
	}
	return nil
}
