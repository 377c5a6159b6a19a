// Package profile measures short samples of a job, alone on the cores that it
// asks for.
package profile

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/results/folder"
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
	// Beside are the copies of the job that run beside it; none where it runs alone.
	Beside []launch.Job
	// Total is how many cores they share with others of their node.
	Total int
	// Pick is the time-writer line that counts when the program prints several.
	Pick contract.Pick
	// Limit is how long the sample may take; 0 for any time.
	Limit time.Duration
	// Open makes the engine that runs the job, which is its only one. It reports what the job prints and uses, as far as
	// the watchers ask for it.
	Open func(context.Context, watchers) (engine.Engine, error)
	// Descendants reports whether the job is a process below this one, so that the load of other programs is known.
	Descendants bool
	// Observed reports whether the engine runs the job elsewhere on this machine, and reports what it uses.
	Observed bool
}

// watchers are what an engine tells of a sample while it runs; either may be nil.
type watchers struct {
	report  launch.ProgressListener
	observe func(engine.Sample)
}

// ErrTooLong is wrapped by the error of a sample that was ended because it took longer than its limit.
var ErrTooLong = errors.New("it took longer than a sample may take")

// A sample that other processes disturbed is taken again, mostTries times in
// all. Below leastJudged its load is not known.
const (
	mostTries   = 3
	leastJudged = 300 * time.Millisecond
)

// TakeQuiet is Take, again while other processes use more than
// hardware.BusyCores of the machine, and while tfexp could not run; the least
// disturbed of the samples is returned, and Tries says how often it ran. What jobs use that are not processes below
// this one would count as another's: the engine has to tell it, or they are not judged.
func TakeQuiet(ctx context.Context, run Run) (estimator.Sample, error) {
	return quietest(func() (estimator.Sample, error) {
		var speed hardware.Speed
		if run.Descendants || run.Observed {
			speed = hardware.ProbeSpeed(run.Job.Threads)
		}
		load, watch := hardware.NewLoadSampler(), hardware.NewWatch()
		inside := hardware.NewToldLoad(leastJudged)
		one := take
		if len(run.Beside) > 0 {
			one = takeBeside
		}
		s, err := one(ctx, run, inside)
		if speed.Cores > 0 {
			speed = speed.Until(hardware.ProbeSpeed(run.Job.Threads))
		}
		s.Probe, s.ProbeCores, s.ProbeError = speed.Seconds, speed.Cores, speed.Error
		s.Lost = watch.End().Total().Seconds()
		busy := hardware.UnknownLoad + 0.0
		switch {
		case run.Descendants && s.Wall >= leastJudged.Seconds():
			busy = load.Others()
		case run.Observed:
			busy = inside.Others()
		}
		if err == nil && busy != hardware.UnknownLoad {
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
//
// A sample that takes longer than its limit is ended. If the program has reported two units by then, the sample is
// these; otherwise the error wraps ErrTooLong.
func Take(ctx context.Context, run Run) (estimator.Sample, error) { return take(ctx, run, nil) }

// take is Take, and tells load what the job uses; load may be nil.
func take(ctx context.Context, run Run, load *hardware.ToldLoad) (estimator.Sample, error) {
	s := estimator.Sample{Length: run.Length, Threads: run.Job.Threads, GPUs: run.GPUs}
	lines := &arrivals{steps: run.Steps}
	w := watchers{report: lines.add}
	if load != nil && run.Observed {
		w.observe = func(u engine.Sample) { load.Add(u.Part, u.At, u.CPU/100) }
	}
	within := ctx
	if run.Limit > 0 {
		var cancel context.CancelFunc
		within, cancel = context.WithTimeoutCause(ctx, run.Limit, ErrTooLong)
		defer cancel()
	}
	end, usage, err := run.alone(within, w)
	tooLong := errors.Is(context.Cause(within), ErrTooLong) && end.State != scheduler.Finished
	switch {
	case ctx.Err() != nil:
		return s, ctx.Err()
	case tooLong:
	case err != nil:
		return s, fmt.Errorf("sample %s: %w", run.Job.Name, err)
	case end.State != scheduler.Finished:
		return s, fmt.Errorf("sample %s: %s", run.Job.Name, end.Reason)
	}
	s.Wall = usage.Service.Seconds()
	s.Launch = max(0, (end.At - usage.Service).Seconds())
	report, err := readLog(run)
	if err != nil {
		return s, err
	}
	if tooLong {
		if s.Length = max(len(report.Epochs), len(report.Steps)); s.Length < 2 {
			return s, fmt.Errorf("sample %s: %w (%s): it was ended", run.Job.Name, ErrTooLong, run.Limit)
		}
		s.Wall = 0 // the part of a unit that was not finished is not in it
	}
	read(&s, report, run)
	lines.complete(&s, end.At-usage.Service)
	if tooLong {
		s.Wall = s.Startup
		for _, u := range s.Units {
			s.Wall += u
		}
		s.Warnings = append(s.Warnings, fmt.Sprintf("ended after %s: %d of %d units are its sample", run.Limit, s.Length,
			run.Length))
	}
	return s, nil
}

// readLog returns what the program printed.
func readLog(run Run) (contract.Report, error) {
	f, err := folder.Open(filepath.Split(run.Job.LogPath))
	if err != nil {
		return contract.Report{}, fmt.Errorf("read sample: %w", err)
	}
	defer f.Close()
	report, err := contract.Parse(f, run.Pick)
	if err != nil {
		return report, fmt.Errorf("read sample: %w", err)
	}
	return report, nil
}

// read adds what the program reported of its units.
func read(s *estimator.Sample, report contract.Report, run Run) {
	s.Warnings = report.Warnings
	s.Startup, s.Save = max(report.Startup, 0), max(report.Save, 0)
	n := len(report.Epochs)
	switch {
	case n == s.Length:
		s.Units = report.Epochs
	case run.Steps && len(report.Steps) == s.Length:
		s.Units = report.Steps
	case n > 0 && !run.Steps: // of a job by steps, wall times give the pace
		s.Reported = n
		s.Warnings = append(s.Warnings, fmt.Sprintf("reported %s where %d were asked for: wall times are used instead",
			epochs(n), s.Length))
	}
}

func epochs(n int) string { return plural(n, "epoch") }

func threads(n int) string { return plural(n, "thread") }

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
