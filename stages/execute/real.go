package execute

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/gpu"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/hardware/market"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages"
)

// Machine is where real cells run.
type Machine struct {
	// Site is the opened engine of the cell.
	Site engine.Site
	// GPUs is where GPUs are found; nil means this machine's, as far as this process
	// may use them.
	GPUs gpu.Source
	// Spare is how often cells may still be run again because they were disturbed; nil for as often as each is.
	Spare *int
	// Again, unless it is nil, is told why a cell runs again, before it does.
	Again func(why string)
}

// Real runs a cell whose jobs run for real, and leaves its folder complete. watch
// may be nil.
//
// A cell that was disturbed by something outside of the experiment is run again:
// tfexp was stopped or the machine slept, so that ends were noticed too late, or
// other programs used the machine.
func Real(ctx context.Context, t stages.Task, on Machine, watch Watch) (record.Cell, error) {
	var before disturbance
	tries := 0
	return undisturbed(t.Dir, t.Scratch+".aside", on.Spare, func() (cell record.Cell, by disturbance, err error) {
		if tries++; tries > 1 && on.Again != nil {
			on.Again(before.why())
		}
		cell, by, err = once(ctx, t, on, watch)
		before = by
		return cell, by, err
	})
}

// once runs a real cell, and reports what disturbed it.
func once(ctx context.Context, t stages.Task, on Machine, watch Watch) (
	out record.Cell, by disturbance, err error,
) {
	fail := func(err error) (record.Cell, disturbance, error) { return record.Cell{}, by, err }
	if err := os.MkdirAll(t.Scratch, 0o755); err != nil {
		return fail(fmt.Errorf("make a folder for control files: %w", err))
	}
	defer os.RemoveAll(t.Scratch)
	if err := os.MkdirAll(t.Logs, 0o755); err != nil {
		return fail(fmt.Errorf("make the log folder: %w", err))
	}
	t.Setup.Began = time.Now()
	hw := t.ForEngine()
	if hw.Kind.Loses {
		t.Setup.Cluster = thatComeAndGo(t.Setup.Cluster)
	}
	var beat *pulse
	if watch != nil {
		beat = newPulse(watch, t.Setup.Jobs)
	}
	tables, err := openLive(t, t.Setup.Jobs, hw.Kind.Contained)
	if err != nil {
		return fail(err)
	}
	var fleet *market.Fleet
	if t.Setup.Terms != nil { // the seed is that of its simulation: the same servers are lost
		if fleet, err = market.NewFleet(t.Setup.Cluster, t.Setup.Terms, t.Setup.Cell.Seed); err != nil {
			return fail(errors.Join(err, tables.close(nil)))
		}
	}
	running, err := on.Site.Engine(ctx, engine.Task{
		Fleet: fleet, Suspends: hw.Suspends,
		Hardware: hw, Cell: t.Setup.Cell.Cell, Jobs: t.Launches, Report: tables.report(beat), Warn: tables.warn,
		Observe: tables.observe(),
	})
	if err != nil {
		return fail(errors.Join(err, tables.close(nil)))
	}
	tables.follow(running)
	gpus := &gpuWatch{}
	if on.Site.Local(hw) {
		if gpus, err = watchGPUs(t, on.GPUs, running.Zero()); err != nil {
			return fail(errors.Join(err, running.Close(), tables.close(nil)))
		}
	}
	defer gpus.abort()
	var speeds []hardware.Speed
	if hw.Kind.Descendants || hw.Kind.Contained && on.Site.Local(hw) {
		speeds = probe(t.Launches)
	}
	load, lost := hardware.NewLoadSampler(), hardware.NewWatch()
	defer lost.End()
	var closed error
	out, err = runOn(ctx, t, running, hooks{pulse: beat, finals: tables.finals, finally: func(out *record.Cell) {
		gpus.finish(out)
		for _, s := range speeds {
			out.Speeds = append(out.Speeds, record.Speed(s.Until(hardware.ProbeSpeed(s.Cores))))
		}
		by = disturbance{lost.End(), hardware.UnknownLoad}
		if busy := load.Others(); hw.Kind.Descendants {
			by.busy = busy
		}
		closed = errors.Join(running.Close(), tables.close(out))
		by.warn(out, t.Setup.Cell.Cell)
	}})
	return out, by, errors.Join(err, closed, running.Close(), tables.close(nil))
}

// mostProbes is on how many numbers of cores the machine's speed is measured before a cell.
const mostProbes = 4

// probe measures the speed of the machine on as many cores as jobs ask for.
func probe(jobs []launch.Job) []hardware.Speed {
	var speeds []hardware.Speed
	for _, j := range jobs {
		known := func(s hardware.Speed) bool { return s.Cores == max(j.Threads, 1) }
		if len(speeds) < mostProbes && !slices.ContainsFunc(speeds, known) {
			speeds = append(speeds, hardware.ProbeSpeed(j.Threads))
		}
	}
	return speeds
}

// thatComeAndGo returns a cluster whose nodes may be lost, and others take their places.
func thatComeAndGo(c scheduler.Cluster) scheduler.Cluster {
	c.Nodes = slices.Clone(c.Nodes)
	for i := range c.Nodes {
		if c.Nodes[i].Supply == scheduler.Standing {
			c.Nodes[i].Supply = scheduler.Fixed
		}
	}
	return c
}
