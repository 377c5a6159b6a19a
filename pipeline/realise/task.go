package realise

import (
	"context"
	"errors"
	"time"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages"
)

// task is a cell ready to run, but for its engine and its folder. known is what
// only a simulation knows of its jobs.
func (c *Cell) task(r realisation, known truth) stages.Task {
	return stages.Task{
		Records: record.Records(c.x.spec.Records), Policy: c.Policy.Policy, Resizes: r.resizes,
		Until: c.x.spec.Until, Online: c.online(r),
		Setup: record.Setup{Cell: c.Ref, Setup: measure.Setup{
			Cluster: c.Hardware.Cluster, Jobs: c.jobsFor(r, known), Alone: known.alone,
			Predicted: c.x.fitted(c.Hardware, r), PredictedOn: c.x.fittedOn(c.Hardware, r),
		}},
	}
}

// Simulated returns the task of a simulated cell with its engine. The error
// wraps ErrNoEstimate when the run time of a job is not known; the task then has
// all but the jobs and the engine.
func (c *Cell) Simulated() (stages.Task, error) {
	r, err := c.realise()
	if err != nil {
		return stages.Task{}, err
	}
	work, err := c.work(r)
	if err != nil {
		t := c.task(r, truth{})
		t.Setup.Jobs = nil
		return t, err
	}
	opts := c.simulatorOptions()
	alone := make([]time.Duration, len(work))
	alternatives := alternativesOf(c.Hardware, r)
	for n := range work {
		t := aloneOf(work[n], r.alternativesAt(alternatives, n), r.jobs[n].Threads)
		alone[n] = time.Duration(float64(t) * opts.Factor(r.jobs[n].Name))
	}
	task := c.task(r, truth{alone, work})
	task.Engine, err = c.Hardware.Kind().Simulate(engine.Simulation{
		Hardware: c.Hardware.ForEngine(), Jobs: r.jobs, Seed: c.Ref.Seed,
		Standard: func() (scheduler.Engine, error) { return simulated.New(r.jobs, work, opts) },
	})
	return task, err
}

// Jobs are the jobs of the cell's workload, without the estimates that its policy
// is given. They are shared: the caller does not change them.
func (c *Cell) Jobs() ([]scheduler.Job, error) {
	r, err := c.realise()
	return r.jobs, err
}

// Overheads are those of the cell's simulated engine.
func (c *Cell) Overheads() simulated.Overheads { return c.simulatorOptions().Overheads }

// Real returns the task of a cell whose jobs run for real, without its engine,
// and how each of its jobs is started.
func (c *Cell) Real(dirs Folders) (stages.Task, []launch.Job, error) {
	r, err := c.realise()
	if err != nil {
		return stages.Task{}, nil, err
	}
	launches := make([]launch.Job, len(r.jobs))
	for n, j := range r.jobs {
		block := r.kinds[r.kind[n]] // real jobs have a block each
		launches[n] = c.x.programs.launch(block, j.Name, length(block), dirs)
		launches[n].Alternatives = launchAlternatives(c.Hardware, block)
	}
	return c.task(r, truth{}), launches, nil
}

// twinVersion is part of the keys of simulated twins: raise it when real cells
// are simulated differently.
const twinVersion = 1

// Twin returns the task that simulates a real cell from the fitted estimates,
// with the same policy and arrivals, and the description
// of its key. The error wraps ErrNoEstimate
// when a job has no estimate.
func (c *Cell) Twin() (stages.Task, string, error) {
	r, err := c.realise()
	if err != nil {
		return stages.Task{}, "", err
	}
	work, err := c.work(r)
	if err != nil {
		return stages.Task{}, "", err
	}
	opts := simulated.Options{Overheads: c.measuredOverheads(), Seed: c.Ref.Seed}
	key := c.twinKey(r, work, opts)
	task := c.task(r, truth{})
	task.Setup.Cell = c.Ref.Twin()
	task.Setup.Cell.Key = key.Hash()
	twin, err := simulated.New(r.jobs, work, opts)
	if err == nil {
		task.Engine = twin
	}
	return task, key.Description(), err
}

// twinKey describes all that a twin adds to the cell's own key.
func (c *Cell) twinKey(r realisation, work []simulated.Scaling, opts simulated.Options) *store.Key {
	k := store.NewKey("fidelity")
	k.Addf("version", "%d", twinVersion)
	k.Add("cell", c.Ref.Key)
	k.Add("overheads", opts.Overheads.String())
	seen := map[*experiments.Job]bool{}
	for n, w := range work {
		j := r.kinds[r.kind[n]]
		if seen[j] {
			continue
		}
		seen[j] = true
		for _, on := range append([]simulated.Scaling{w}, w.Alternatives...) {
			k.Addf("job."+j.Name, "fixed %s, scaled %s on %d, parallel %g", on.Fixed, on.Scaled, on.Threads, on.Parallel)
		}
		if est, ok := c.x.estimateOf(j); ok && w.SpeedUp != nil && j.Runtime == nil {
			k.Addf("job."+j.Name+".curve", "%+v", est.Curve)
		}
	}
	return k
}

// Predict simulates a real cell, for how long it will take; 0 when that is not
// known, because a job has no estimate yet.
func (c *Cell) Predict(ctx context.Context) (time.Duration, error) {
	task, _, err := c.Twin()
	if errors.Is(err, stages.ErrNoEstimate) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	out, err := scheduler.Run{
		Policy: task.Policy, Cluster: task.Setup.Cluster, Jobs: task.Setup.Jobs, Resizes: task.Resizes,
		Engine: task.Engine, Online: task.Online, Until: task.Until,
	}.Execute(ctx)
	if err != nil {
		return 0, nil // the real run fails in the same way, and is then explained
	}
	return out.End, nil
}
