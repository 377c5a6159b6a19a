package execute

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages"
)

// hugeCells counts the cells with very many jobs that have begun.
var hugeCells atomic.Int32

// Simulate runs a simulated cell and completes its folder. watch receives the progress of a long cell at intervals; it
// may be nil.
func Simulate(ctx context.Context, t stages.Task, watch Watch) (record.Cell, error) {
	on, err := simulator(t)
	if err != nil {
		return Fail(t, err)
	}
	h := hooks{watch: watch}
	if t.Setup.Len() >= hugeCell {
		percent := hugeCellGC
		if t.Setup.Drawn != nil {
			percent = drawnGC
		}
		h.begun, h.beside = func() { debug.SetGCPercent(percent) }, runtime.GOMAXPROCS(0) > 1
		if hugeCells.Add(1) > 1 {
			runtime.GC() // frees the memory of the previous cell before it is needed again
		}
	}
	if r, ok := on.(engine.Replay); ok {
		h.replay = r
	}
	return runOn(ctx, t, on, h)
}

// Outcome simulates a cell without recording it.
func Outcome(ctx context.Context, t stages.Task) (scheduler.Outcome, error) {
	on, err := simulator(t)
	if err != nil {
		return scheduler.Outcome{}, err
	}
	by := t.Decider(ctx)
	defer by.Close(nil)
	run := loop(t, by, on, nil)
	run.EventsOnly = false
	return run.Execute(ctx)
}

// simulator returns the engine of a simulated cell. The simulation of a real cell uses the standard simulator.
func simulator(t stages.Task) (scheduler.Engine, error) {
	sim := t.Simulation
	if sim == nil {
		return nil, errors.New("it has no simulated jobs")
	}
	if err := checkTurns(t); err != nil {
		return nil, err
	}
	standard := func() (scheduler.Engine, error) {
		opts := sim.Options
		opts.Contention = contention(t)
		if t.Supply != nil {
			fleet, err := t.Supply.Fleet(opts.Cluster, opts.Seed)
			if err != nil {
				return nil, err
			}
			opts.Fleet = fleet
		}
		if sim.DrawnWork != nil {
			return simulated.NewDrawn(t.Setup.Drawn, sim.DrawnWork, opts)
		}
		return simulated.New(sim.Jobs, sim.Work, opts)
	}
	on := t.ForEngine()
	if on.Kind == nil || on.Kind.Real || t.Setup.Cell.Engine == record.TwinDir {
		return standard()
	}
	return on.Kind.Simulate(engine.Simulation{
		Hardware: on, Jobs: sim.Jobs, Replicate: t.Setup.Cell.Replicate, Seed: t.Setup.Cell.Seed, Standard: standard,
	})
}

// contention returns how the jobs of a cell slow each other down; nil if they do not.
func contention(t stages.Task) *simulated.Contention {
	c := t.Simulation.Contention
	if c == nil {
		return nil
	}
	return &simulated.Contention{Cluster: t.Setup.Cluster, Slowdown: func(own, others, cores int) float64 {
		if c.Threads > 0 {
			cores = c.Threads
		}
		return c.Law.Slowdown(float64(own), float64(others), float64(cores))
	}}
}

// The largest number of quanta in a simulated cell: with a trace, which takes about 500 bytes for each quantum, and
// with metrics only.
const (
	mostTurns         = 20_000_000
	mostTurnsMeasured = 20 * mostTurns
)

// checkTurns returns an error for a cell with too many quanta: its trace would fill the disk.
func checkTurns(t stages.Task) error {
	quantum := t.Policy.Settings.Duration("quantum")
	if quantum <= 0 {
		return nil
	}
	most := float64(mostTurns)
	if t.Records == record.MetricsOnly {
		most = mostTurnsMeasured
	}
	turns := 0.0
	for i, w := range t.Simulation.Work {
		job := &t.Simulation.Jobs[i]
		run := w.RunTime(max(job.Threads, 1))
		if job.Budget() != nil {
			run = min(run, *job.Budget())
		}
		turns += float64(run) / float64(quantum)
	}
	if turns <= most {
		return nil
	}
	return fmt.Errorf("its jobs run for %.2g quanta of %s; the most is %.2g, and %.2g with records = %q in the "+
		"experiment block: "+
		"choose a longer quantum", turns, quantum, most, float64(mostTurnsMeasured), record.MetricsOnly)
}

// online returns the parameters for predictions that are updated from progress; nil if they are not.
func online(o *stages.Online) *scheduler.Online {
	if o == nil {
		return nil
	}
	return &scheduler.Online{Units: o.Units, Predictor: &foresight{Online: o, jobs: make([]learned, len(o.Units))}}
}

// foresight updates the predictions of jobs from their finished units. It implements scheduler.Predictor.
type foresight struct {
	*stages.Online
	jobs []learned
}

// learned is the knowledge from the finished units of a job.
type learned struct {
	pace  estimator.Learned
	first bool // pace is from the first units only, without the fixed costs before them
	units int
	// end forecasts the job's end, for a job that may end before all its work is done; otherwise it is nil.
	end stages.JobForecast
}

// Learn implements scheduler.Predictor. Only the estimate has the time before the first unit, and the first unit
// includes warm-up. So the pace of the first report is used only until the second.
func (f *foresight) Learn(job, units int, losses []scheduler.Loss, held []scheduler.Held) time.Duration {
	if f.Units[job] == 0 {
		return -1
	}
	est, work := f.estimate(job), f.Work[job]
	l := &f.jobs[job]
	times := make([]estimator.Held, len(held))
	for i, h := range held {
		times[i] = estimator.Held{Seconds: h.Time.Seconds(), Threads: h.Cores}
	}
	switch {
	case l.units == 0:
		l.first = true
		fixed := est.Launch + est.Intercept
		for i := range times {
			before := min(fixed, times[i].Seconds)
			times[i].Seconds -= before
			fixed -= before
		}
	case l.first:
		l.first, l.pace = false, estimator.Learned{}
	}
	request := est.Resource.Threads
	full := float64(work.RunTime(request) - work.Fixed)
	for i := range times { // convert to times on the full request
		if on := float64(work.RunTime(times[i].Threads) - work.Fixed); on > 0 {
			times[i].Seconds *= full / on
		}
		times[i].Threads = request
	}
	l.pace.Add(est, units, times)
	l.units += units
	return seconds(est.After(l.pace).Slope * f.left(job, losses))
}

// left predicts the remaining units of a job: until all units are done or, if earlier, until the forecast end.
func (f *foresight) left(job int, losses []scheduler.Loss) float64 {
	l, b := &f.jobs[job], &f.Blocks[f.Block[job]]
	all := float64(max(b.Length-l.units, 0))
	if b.Ends == nil {
		return all
	}
	if l.end == nil {
		l.end = b.Ends.Begin()
	}
	return l.end.Left(l.units, all, losses)
}

// Forget implements scheduler.Predictor.
func (f *foresight) Forget(job int) { f.jobs[job] = learned{} }

// estimate returns the estimate of a job before its first unit.
func (f *foresight) estimate(job int) estimator.Estimate {
	b, work := &f.Blocks[f.Block[job]], &f.Work[job]
	est := b.Fitted
	if !b.Known {
		est.Intercept, est.Launch = work.Fixed.Seconds(), 0
		est.Slope = (work.RunTime(b.Threads) - work.Fixed).Seconds() / float64(b.Length)
	}
	est.Resource.Threads = b.Threads
	if f.Sigma > 0 { // the estimates have been made wrong by this factor
		by := f.Errors[job]
		est.Slope, est.Intercept, est.PaceSD = est.Slope*by, est.Intercept*by, f.Sigma
	}
	return est
}

func seconds(s float64) time.Duration { return time.Duration(math.Round(s * 1e9)) }
