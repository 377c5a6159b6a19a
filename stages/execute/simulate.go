package execute

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/market"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages"
)

// Simulate runs a simulated cell and leaves its folder complete. watch, which may be nil, is told now and then how a
// cell does that takes longer than a moment.
func Simulate(ctx context.Context, t stages.Task, watch Watch) (record.Cell, error) {
	on, err := simulator(t)
	if err != nil {
		return fail(t, err)
	}
	h := hooks{watch: watch}
	if len(t.Setup.Jobs) >= hugeCell {
		h.begun, h.beside = func() { debug.SetGCPercent(hugeCellGC) }, runtime.GOMAXPROCS(0) > 1
		defer runtime.GC() // or what the cell kept would stay until as much again is in use
	}
	if r, ok := on.(engine.Replay); ok {
		h.replay = r
	}
	return runOn(ctx, t, on, h)
}

// Outcome simulates a cell, and records nothing of it.
func Outcome(ctx context.Context, t stages.Task) (scheduler.Outcome, error) {
	on, err := simulator(t)
	if err != nil {
		return scheduler.Outcome{}, err
	}
	run := loop(t, on, nil)
	run.EventsOnly = false
	return run.Execute(ctx)
}

// simulator makes the engine of a simulated cell. Twins of real cells have the
// standard one.
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
		if sim.Terms != nil {
			fleet, err := market.NewFleet(opts.Cluster, sim.Terms, opts.Seed)
			if err != nil {
				return nil, err
			}
			opts.Fleet = fleet
		}
		e, err := simulated.New(sim.Jobs, sim.Work, opts)
		if err != nil {
			return nil, err
		}
		return e, nil
	}
	on := t.ForEngine()
	if on.Kind == nil || on.Kind.Real || t.Setup.Cell.Engine == record.TwinDir {
		return standard()
	}
	return on.Kind.Simulate(engine.Simulation{
		Hardware: on, Jobs: sim.Jobs, Replicate: t.Setup.Cell.Replicate, Seed: t.Setup.Cell.Seed, Standard: standard,
	})
}

// contention is how the jobs of a cell slow each other down; nil if they do not.
func contention(t stages.Task) *simulated.Contention {
	c := t.Simulation.Contention
	if c == nil {
		return nil
	}
	return &simulated.Contention{
		Cluster: t.Setup.Cluster,
		Slowdown: func(own, others, cores int) float64 {
			if c.Threads > 0 {
				cores = c.Threads
			}
			return c.Law.Slowdown(float64(own), float64(others), float64(cores))
		},
	}
}

// How many quanta the jobs of a simulated cell may run for: with its whole trace, which takes about 500 bytes for
// each, and when only the metrics are recorded.
const (
	mostTurns         = 20_000_000
	mostTurnsMeasured = 20 * mostTurns
)

// checkTurns refuses a cell whose jobs run for so many quanta that its trace would fill the disk.
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
