package instantiate

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/experiment"
)

// task returns the cell as plain values, without the programs of its jobs. known has facts about its jobs that only a
// simulation has.
func (c *Cell) task(r jobList, known simulatedFacts) stages.Task {
	on, base := c.Hardware.ForEngine(), ""
	if c.Policy.Program().Command != nil {
		base = c.x.base
	}
	supply := c.supply()
	return stages.Task{
		Records: record.Records(c.x.Spec.Records), Policy: c.Policy.Policy, Base: base, Resizes: r.Resizes,
		Until: c.x.Spec.Until, Online: c.online(r, known.estimated), Speeds: c.speeds(r, known),
		Hardware: stages.Hardware{
			Name: on.Name, Kind: c.Ref.Engine, Settings: on.Settings, Suspends: on.Suspends, Place: on.Place,
		},
		Setup: record.Setup{Cell: c.Ref, Setup: measure.Setup{
			Cluster: c.Hardware.Cluster, Jobs: c.divided(c.seen(r, c.jobsFor(r, known))), Alone: known.alone,
			Predicted: c.x.wholeRuns(c.Hardware, r), PredictedOn: c.x.fittedOn(c.Hardware, r),
		}},
		Supply: supply,
	}
}

// Task implements stages.Cell.
func (c *Cell) Task(dirs stages.Folders) (stages.Task, error) {
	jobs := c.jobsOrDrawing
	if dirs.Listed {
		jobs = c.listJobs
	}
	r, err := jobs()
	if err != nil {
		return stages.Task{}, err
	}
	if r.drawing != nil {
		return c.drawnTask(r, dirs), nil
	}
	if c.Ref.Real() {
		task := c.real(r, dirs)
		err = c.complete(&task, dirs)
		return task, err
	}
	known, err := c.factsOf(r)
	if err != nil {
		t := c.task(r, simulatedFacts{})
		t.Setup.Jobs, t.Folders = nil, dirs
		return t, err
	}
	opts, work, alone := c.simulatorOptions(), known.work, known.alone
	task := c.task(r, known)
	if slices.Equal(task.Setup.Predicted, alone) { // as in most simulated cells: the same values are stored once
		task.Setup.Predicted = alone
	}
	task.Folders = dirs
	opts.Checkpoints = c.checkpoints(r)
	task.Simulation = &stages.Simulation{Jobs: r.Jobs, Work: work, Options: opts, Finals: finals(r)}
	if law := c.Hardware.Contention; law != nil {
		task.Simulation.Contention = &stages.Contention{Law: law.Law, Threads: law.Threads}
	}
	err = c.complete(&task, dirs)
	return task, err
}

// supply returns how the cell's nodes come and go; nil if they stay.
func (c *Cell) supply() stages.Supply {
	if p, ok := experiment.PartOf[stages.SupplyPart](c.Hardware.Parts); ok {
		return p.Supply(c.Ref.Replicate)
	}
	return nil
}

// seen returns the jobs as the policy sees them, which features can change.
func (c *Cell) seen(r jobList, jobs []scheduler.Job) []scheduler.Job {
	return stages.View{Cell: c.point, Jobs: jobs, Block: func(n int) *experiment.Job {
		if k := r.Block[n]; k >= 0 {
			return r.Blocks[k]
		}
		return nil
	}}.ShownJobs()
}

// checkpoints returns the checkpoints of each job, by job number; nil if no job writes any.
func (c *Cell) checkpoints(r jobList) []*simulated.Checkpoint {
	ofBlock := make([]*simulated.Checkpoint, len(r.Blocks))
	some := false
	for k, j := range r.Blocks {
		if p, ok := experiment.PartOf[stages.SavesPart](j.Parts); ok {
			ofBlock[k], some = p.Saves(j), true
		}
	}
	if !some {
		return nil
	}
	return perJob(&r, ofBlock, nil)
}

// factsOf returns facts about the jobs that only their simulation has. Cells with the same jobs on the same hardware
// share them if the file alone gives the run times.
func (c *Cell) factsOf(r jobList) (simulatedFacts, error) {
	find := func() (simulatedFacts, error) {
		work, err := c.work(r)
		if err != nil {
			return simulatedFacts{}, err
		}
		opts := c.simulatorOptions()
		alone := make([]time.Duration, len(work))
		alternatives := alternativesOf(c.Hardware, r)
		for n := range work {
			t := aloneOf(work[n], alternativesAt(&r, alternatives, n), r.Jobs[n].Threads)
			alone[n] = within(r.Jobs[n].Budget(), time.Duration(float64(t)*opts.Factor(r.Jobs[n].Name)))
		}
		return simulatedFacts{alone: alone, work: work}, nil
	}
	special := func(j *experiment.Job) bool {
		_, worked := experiment.PartOf[stages.WorkPart](j.Parts)
		return j.Runtime == nil || len(j.Alternatives)+len(j.Runtime.Parts) > 0 || worked
	}
	if c.Hardware.Noise > 0 || r.Alternatives != nil || slices.ContainsFunc(r.Blocks, special) {
		return find()
	}
	shared, _ := r.truths.LoadOrStore(c.Hardware, sync.OnceValues(find))
	return shared.(func() (simulatedFacts, error))()
}

// real returns the task of a cell whose jobs run for real.
func (c *Cell) real(r jobList, dirs stages.Folders) stages.Task {
	estimated := c.Estimated()
	task := c.task(r, simulatedFacts{estimated: c.forPolicies(estimated)})
	task.Setup.Estimated = estimated
	task.Folders, task.Logs = dirs, filepath.Join(dirs.Dir, record.LogsDir)
	task.Launches = make([]launch.Job, len(r.Jobs))
	for n := range r.Jobs {
		task.Launches[n] = c.launch(r, n, dirs)
	}
	return task
}

// launch returns how job n of a real cell is started.
func (c *Cell) launch(r jobList, n int, dirs stages.Folders) launch.Job {
	block := r.Blocks[r.Block[n]] // each real job has a block
	logs := filepath.Join(dirs.Dir, record.LogsDir)
	out := c.x.launch(block, r.Jobs[n].Name, block.Length(), logs, dirs.Scratch)
	experiment.EachPart(block.Parts, func(p stages.StartPart) {
		p.Start(stages.Starting{
			Job: block, Hardware: c.Hardware, Parts: func() []scheduler.Part { return partsOn(c.Hardware, block) },
		}, &out)
	})
	experiment.EachPart(block.Parts, func(p stages.CellLaunchPart) { p.LaunchIn(&out) })
	out.Budget = r.Jobs[n].Budget()
	out.Alternatives = launchAlternatives(c.Hardware, block)
	return out
}

// Jobs returns the jobs of the cell's workload, without the estimates for its policy. Other cells share the slice: do
// not change it.
func (c *Cell) Jobs() ([]scheduler.Job, error) {
	r, err := c.listJobs()
	return r.Jobs, err
}

// Overheads returns the overheads of the cell's simulated engine.
func (c *Cell) Overheads() simulated.Overheads { return c.simulatorOptions().Overheads }

// Beside implements stages.Cell.
func (c *Cell) Beside() int {
	if k := c.Hardware.Kind(); k != nil && k.Beside != nil && c.Ref.Beyond == nil {
		return k.Beside(c.Hardware.ForEngine())
	}
	return 0
}

// twinVersion is part of the keys of simulations of real cells. Increase it when real cells are simulated
// differently.
const twinVersion = 5

// Twin implements stages.Cell. The simulation has the policy and the arrivals of the cell.
func (c *Cell) Twin(seen stages.Seen) (stages.Task, string, error) {
	r, err := c.listJobs()
	if err != nil {
		return stages.Task{}, "", err
	}
	if c.Ref.Recorded && slices.ContainsFunc(r.Blocks, func(j *experiment.Job) bool { return j.Runtime == nil }) {
		return stages.Task{}, "", fmt.Errorf("%w: a job has no run time to simulate it with", stages.ErrNoEstimate)
	}
	for _, j := range r.Blocks {
		if end, ok := experiment.PartOf[experiment.EndPart](j.Parts); ok {
			return stages.Task{}, "", fmt.Errorf("%w of the epochs that job %s takes to %s", stages.ErrNoEstimate, j.Name, end.End())
		}
	}
	work, err := c.work(r)
	if err != nil {
		return stages.Task{}, "", err
	}
	correct(r, work, seen.Estimated)
	opts := simulated.Options{Overheads: c.measuredOverheads(), Seed: c.Ref.Seed}
	opts.Lacks.Migrate = !c.Hardware.Capabilities().Migrate
	if c.Hardware.Cluster.Changes() {
		opts.Cluster = c.Hardware.Cluster
	}
	key := c.twinKey(r, work, opts)
	opts.Checkpoints = c.checkpoints(r)
	task := c.task(r, simulatedFacts{estimated: c.forPolicies(seen.Estimated)})
	task.Simulation = &stages.Simulation{Jobs: r.Jobs, Work: work, Options: opts, Finals: finals(r)}
	c.sharing(&task, key)
	task.Setup.Cell = c.Ref.Twin()
	task.Setup.Cell.Key = key.Hash()
	err = c.complete(&task, task.Folders)
	return task, key.Description(), err
}

// twinKey returns the key of the cell's simulation: the cell's own key with lines about the simulation.
func (c *Cell) twinKey(r jobList, work []simulated.Scaling, opts simulated.Options) *store.Key {
	k := store.NewKey(stages.Writer(stages.Twins))
	k.Addf("version", "%d", twinVersion)
	k.Add("cell", c.Ref.Key)
	k.Add("overheads", opts.Overheads.String())
	seen := map[*experiment.Job]bool{}
	for n, w := range work {
		j := r.Blocks[r.Block[n]]
		if seen[j] {
			continue
		}
		seen[j] = true
		for _, on := range append([]simulated.Scaling{w}, w.Alternatives()...) {
			k.Addf("job."+j.Name, "fixed %s, scaled %s on %d, parallel %g", on.Fixed, on.Scaled, on.Threads, on.Parallel)
		}
		if est, ok := c.x.estimateOf(j); ok && w.SpeedUp != nil && j.Runtime == nil {
			k.Addf("job."+j.Name+".curve", "%+v", est.Curve)
		}
	}
	return k
}

// online returns the settings for predictions that follow the progress of a cell's jobs; nil if the policy does not
// use them. Jobs with a run time from a trace report no progress, and jobs with alternatives keep their estimates.
// estimated has corrections of the samples' estimates.
func (c *Cell) online(r jobList, estimated []record.Estimated) *stages.Online {
	if !c.Policy.Corrected() {
		return nil
	}
	o := &stages.Online{
		Units: make([]int, len(r.Jobs)), Block: r.Block, Blocks: make([]stages.Estimate, len(r.Blocks)),
		Work: make([]simulated.Scaling, len(r.Jobs)), Sigma: c.Policy.Sigma,
	}
	ready := make([]bool, len(r.Blocks)) // the run time of the block is stored
	for k, j := range r.Blocks {
		b := &o.Blocks[k]
		b.Threads, b.Length, ready[k] = j.Threads.Request, j.Length(), j.Runtime != nil
		if end, ok := experiment.PartOf[stages.ForecastPart](j.Parts); ok {
			b.Ends = end.Forecast(j, c.Policy.Estimates, c.Hardware.Real())
		}
		if c.x.estimated(c.Hardware, j) {
			b.Fitted, b.Known = c.x.estimateOf(j)
			b.Fitted = b.Fitted.Times(longer(estimated, j))
			ready[k] = b.Known
		}
	}
	alternatives := alternativesOf(c.Hardware, r)
	for n := range o.Units {
		k := r.Block[n]
		if _, traced := r.RunTime(n); traced || k < 0 || alternativesAt(&r, alternatives, n) != nil || !ready[k] {
			continue
		}
		o.Units[n] = r.Blocks[k].Length()
		if !c.Hardware.Real() {
			o.Units[n] = r.Blocks[k].Done()
		}
		if o.Blocks[k].Known {
			o.Work[n], _ = c.x.workOf(r.Blocks[k])
			stretch(&o.Work[n], longer(estimated, r.Blocks[k]))
		} else {
			o.Work[n] = givenWork(r.Blocks[k], r.Epoch(n))
		}
	}
	if c.Policy.Sigma > 0 {
		o.Errors = make([]float64, len(r.Jobs))
		for n := range o.Errors {
			o.Errors[n] = float64(c.noisy(time.Hour, r.Jobs[n].Name)) / float64(time.Hour)
		}
	}
	return o
}
