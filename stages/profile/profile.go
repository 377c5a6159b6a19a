// Package profile measures short samples of a job, alone on the cores that it
// asks for.
package profile

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
)

// Run is one sample to take: a launch whose environment asks for Length units
// of work, epochs or (with Steps) steps.
type Run struct {
	Job    launch.Job
	Length int
	Steps  bool
	GPUs   int
	// Cluster is the nodes of the job's hardware; none where that is simply this machine.
	Cluster scheduler.Cluster
	// Pick is the time-writer line that counts when the program prints several.
	Pick contract.Pick
	// Open makes the engine that runs the job, which is its only one.
	Open func(context.Context) (engine.Engine, error)
	// Descendants reports whether the job is a process below this one, so that the load of other programs is known.
	Descendants bool
}

// A sample that other processes disturbed is taken again, mostTries times in
// all. Below leastJudged its load is not known.
const (
	mostTries   = 3
	leastJudged = 300 * time.Millisecond
)

// TakeQuiet is Take, again while other processes use more than
// hardware.BusyCores of the machine, and while tfexp could not run; the least
// disturbed of the samples is returned, and Tries says how often it ran. What jobs use that are not processes below
// this one would count as another's, so those are not judged.
func TakeQuiet(ctx context.Context, run Run) (estimator.Sample, error) {
	return quietest(func() (estimator.Sample, error) {
		load, watch := hardware.NewLoadSampler(), hardware.NewWatch()
		s, err := Take(ctx, run)
		s.Lost = watch.End().Total().Seconds()
		if busy := load.Others(); err == nil && run.Descendants && s.Wall >= leastJudged.Seconds() &&
			busy != hardware.UnknownLoad {
			s.Busy = busy
		}
		return s, err
	})
}

func quietest(take func() (estimator.Sample, error)) (best estimator.Sample, err error) {
	for try := 1; try <= mostTries; try++ {
		s, err := take()
		if err != nil {
			return s, err
		}
		if try == 1 || s.Lost < best.Lost || s.Lost == best.Lost && s.Busy < best.Busy {
			best = s
		}
		best.Tries = try
		if best.Lost == 0 && best.Busy <= hardware.BusyCores {
			break
		}
	}
	return best, nil
}

// Take runs one sample to its end and reads what the program reported. The
// error says how the sample failed; ctx's error is returned as it is.
func Take(ctx context.Context, run Run) (estimator.Sample, error) {
	s := estimator.Sample{Length: run.Length, Threads: run.Job.Threads, GPUs: run.GPUs}
	end, usage, err := run.alone(ctx)
	if ctx.Err() != nil {
		return s, ctx.Err()
	}
	if err != nil {
		return s, fmt.Errorf("sample %s: %w", run.Job.Name, err)
	}
	if end.State != scheduler.Finished {
		return s, fmt.Errorf("sample %s: %s", run.Job.Name, end.Reason)
	}
	s.Wall = usage.Service.Seconds()
	s.Launch = max(0, (end.At - usage.Service).Seconds())
	return read(s, run)
}

// read adds what the program printed of its units.
func read(s estimator.Sample, run Run) (estimator.Sample, error) {
	f, err := os.Open(run.Job.LogPath)
	if err != nil {
		return s, fmt.Errorf("read sample: %w", err)
	}
	defer f.Close()
	report, err := contract.Parse(f, run.Pick)
	if err != nil {
		return s, fmt.Errorf("read sample: %w", err)
	}
	s.Warnings = report.Warnings
	s.Startup, s.Save = max(report.Startup, 0), max(report.Save, 0)
	n := len(report.Epochs)
	switch {
	case n == s.Length:
		s.Units = report.Epochs
	case run.Steps && len(report.Steps) == s.Length:
		s.Units = report.Steps
	case n > 0 && !run.Steps: // of a job by steps, wall times give the pace
		s.Warnings = append(s.Warnings, fmt.Sprintf("reported %s where %d were asked for: wall times are used instead",
			epochs(n), s.Length))
	}
	return s, nil
}

func epochs(n int) string { return plural(n, "epoch") }

func threads(n int) string { return plural(n, "thread") }

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
