// Package profile measures jobs in short samples, in which a job runs alone on the cores that it requests.
package profile

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
)

// Run is a sample to take. The environment of its launch requests Length units of work: epochs, or steps if Steps is
// set.
type Run struct {
	Job    launch.Job
	Length int
	Steps  bool
	GPUs   int
	// Cluster has the nodes of the job's hardware; empty means only this machine.
	Cluster scheduler.Cluster
	// Beside are copies of the job that run at the same time; empty if the job runs alone.
	Beside []launch.Job
	// Total is the number of cores that job and copies share with others on their node.
	Total int
	// Pick selects one of several time-writer lines of a program.
	Pick contract.Pick
	// Limit is the time limit of the sample; 0 means no limit.
	Limit time.Duration
	// Open creates the engine that runs only this job. The engine reports the job's output and usage to the watchers
	// that are set.
	Open func(context.Context, watchers) (engine.Engine, error)
	// Descendants reports whether the job is a descendant process of tfexp. Then the load of other programs is known.
	Descendants bool
	// Observed reports whether the job runs elsewhere on this machine and the engine reports its usage.
	Observed bool
}

// watchers receive the reports of an engine about a running sample. Either may be nil.
type watchers struct {
	report  launch.ProgressListener
	observe func(engine.Sample)
}

// ErrTooLong is wrapped by the error of a sample that exceeded its time limit.
var ErrTooLong = errors.New("it took longer than a sample may take")

// If a sample is shorter than leastJudged, the load of other programs is too imprecise for a warning. If shorter than
// leastMeasured, it is unknown.
const (
	leastJudged   = 300 * time.Millisecond
	leastMeasured = 100 * time.Millisecond
)

// Take takes a sample, and measures the cores that other programs use meanwhile. If tfexp could not run during the
// sample, for example because the machine slept, it takes another one and returns the less disturbed sample. Jobs
// outside tfexp's process tree would count as other programs: their engine must report their usage, or the load is
// unknown.
func Take(ctx context.Context, run Run) (estimator.Sample, error) {
	return undisturbed(func() (estimator.Sample, error) {
		load, watch := hardware.NewLoadSampler(), hardware.NewWatch()
		inside := hardware.NewToldLoad(leastJudged)
		one := take
		if len(run.Beside) > 0 {
			one = takeBeside
		}
		s, err := one(ctx, run, inside)
		s.Lost = watch.End().Total().Seconds()
		busy := hardware.UnknownLoad + 0.0
		switch {
		case run.Descendants && s.Wall >= leastMeasured.Seconds():
			busy = load.Others()
		case run.Observed:
			busy = inside.Others()
		}
		if err == nil && busy != hardware.UnknownLoad {
			s.Busy, s.Machine = busy, len(hardware.AllowedCPUs())
		}
		return s, err
	})
}

// undisturbed calls take, and calls it again if time was lost.
func undisturbed(take func() (estimator.Sample, error)) (estimator.Sample, error) {
	s, err := take()
	s.Tries = 1
	if err != nil || s.Lost == 0 {
		return s, err
	}
	again, err := take()
	if err == nil && again.Lost < s.Lost {
		s = again
	}
	s.Tries = 2
	return s, err
}

// take runs one sample and reads the program's reports. The error describes the failure; an error of ctx is returned
// unchanged.
//
// A sample that exceeds its limit is ended. If the program has reported two units by then, these become the sample;
// otherwise the error wraps ErrTooLong. load receives the job's usage; it may be nil.
func take(ctx context.Context, run Run, load *hardware.ToldLoad) (estimator.Sample, error) {
	s := estimator.Sample{Length: run.Length, Threads: run.Job.Threads, GPUs: run.GPUs}
	lines := &arrivals{steps: run.Steps}
	w := watchers{report: lines.add}
	within, cancel := run.begin(ctx, &w, load)
	defer cancel()
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
		s.Wall = 0 // the wall time would include an unfinished unit
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

// begin connects load, which may be nil, to the usage of the sample's jobs. The returned context ends at the sample's
// time limit.
func (r Run) begin(ctx context.Context, w *watchers, load *hardware.ToldLoad) (context.Context, context.CancelFunc) {
	if load != nil && r.Observed {
		w.observe = func(u engine.Sample) { load.Add(fmt.Sprint(u.Job, " ", u.Part), u.At, u.CPU/100) }
	}
	if r.Limit == 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, r.Limit, ErrTooLong)
}

// readLog returns the program's reports from its log.
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

// read adds the program's reports on its units to the sample.
func read(s *estimator.Sample, report contract.Report, run Run) {
	s.Warnings = report.Warnings
	s.Startup, s.Save = max(report.Startup, 0), max(report.Save, 0)
	n := len(report.Epochs)
	switch {
	case n == s.Length:
		s.Units = report.Epochs
	case run.Steps && len(report.Steps) == s.Length:
		s.Units = report.Steps
	case n > 0 && !run.Steps: // for a job in steps, the pace comes from wall times
		s.Reported = n
		s.Warnings = append(s.Warnings, fmt.Sprintf("reported %s where %d were asked for: wall times are used instead",
			epochs(n), s.Length))
	}
}

func epochs(n int) string { return schema.Plural(n, "epoch") }

func threads(n int) string { return schema.Plural(n, "thread") }

// takeBeside runs a job and its copies at the same time, each on its own cores, until all have ended. The sample has
// the means of their times. Errors are as in take; load may be nil.
func takeBeside(ctx context.Context, run Run, load *hardware.ToldLoad) (estimator.Sample, error) {
	s := estimator.Sample{Length: run.Length, Threads: run.Job.Threads, GPUs: run.GPUs,
		Others: len(run.Beside) * max(run.Job.Threads, 1), Total: run.Total}
	var w watchers
	within, cancel := run.begin(ctx, &w, load)
	defer cancel()
	jobs := append([]launch.Job{run.Job}, run.Beside...)
	usage, err := run.together(within, w, len(jobs))
	switch {
	case ctx.Err() != nil:
		return s, ctx.Err()
	case errors.Is(context.Cause(within), ErrTooLong):
		return s, fmt.Errorf("sample %s: %w (%s): it was ended", run.Job.Name, ErrTooLong, run.Limit)
	case err != nil:
		return s, fmt.Errorf("sample %s: %w", run.Job.Name, err)
	}
	n := float64(len(jobs))
	units, reporting := make([]float64, run.Length), 0
	for i, j := range jobs {
		one := run
		one.Job = j
		report, err := readLog(one)
		if err != nil {
			return s, err
		}
		s.Units = nil
		read(&s, report, one)
		s.Wall += usage[i].Service.Seconds() / n
		for k, u := range s.Units {
			units[k] += u / n
		}
		if len(s.Units) > 0 {
			reporting++
		}
	}
	if s.Units = nil; reporting == len(jobs) {
		s.Units = units
	}
	return s, nil
}

// together runs a job and its copies until all have ended, and returns the usage of each. An error names the job that
// failed.
func (r Run) together(ctx context.Context, w watchers, n int) ([]launch.Usage, error) {
	e, err := r.Open(ctx, w)
	if err != nil {
		return nil, err
	}
	defer e.Close() // this also ends the jobs that still run
	cores := int32(max(r.Job.Threads, 1))
	for i := range n {
		first := int32(i) * cores
		if err := e.Start(i, scheduler.Grant{Cores: scheduler.CoreSet{{Lo: first, Hi: first + cores}}}); err != nil {
			return nil, err
		}
	}
	usage := make([]launch.Usage, n)
	for left := n; left > 0; {
		_, ended, err := e.Next(ctx, scheduler.Never)
		if err != nil {
			return nil, err
		}
		for _, end := range ended {
			if end.Kind != scheduler.JobEnded {
				continue
			}
			if end.State != scheduler.Finished {
				return nil, errors.New(end.Reason)
			}
			usage[end.Job], _ = e.Usage(end.Job)
			left--
		}
	}
	return usage, nil
}

// grant returns the resources of a sample: the first cores and GPUs of the machine, as many as the job requests.
func (r Run) grant() scheduler.Grant {
	if len(r.Job.Roles) > 0 {
		return r.inParts()
	}
	g := scheduler.Grant{Cores: scheduler.CoreSet{{Lo: 0, Hi: int32(max(r.Job.Threads, 1))}}}
	if r.Job.GPUs > 0 {
		g.GPUs = scheduler.CoreSet{{Lo: 0, Hi: int32(r.Job.GPUs)}}
	}
	return g
}

// inParts returns the grant of a job with roles. Its parts are on the nodes where they would start alone on the job's
// hardware; without a cluster, all are on one node.
func (r Run) inParts() scheduler.Grant {
	j := scheduler.Job{Special: &scheduler.Special{Roles: r.Job.Roles}}
	need, count := j.Needs(int32(r.Job.Threads))
	if len(r.Cluster.Nodes) > 1 {
		m := cluster.NewMachine(r.Cluster)
		need.Parts.On(m)
		if nodes, ok := cluster.Fit(m.Whole, need, count, nil, nil); ok {
			return m.Choose(nodes, need, scheduler.Grant{})
		}
	}
	m := cluster.NewMachine(scheduler.Cluster{Nodes: []scheduler.Node{{Threads: r.Job.Threads, GPUs: r.Job.GPUs}}})
	return m.Choose(make([]int32, count), need, scheduler.Grant{})
}

// alone runs the job until it ends. If ctx ends first, it stops the job and waits for its end. A failed job is not an
// error: the notice and the usage describe the failure.
func (r Run) alone(ctx context.Context, w watchers) (scheduler.Notice, launch.Usage, error) {
	e, err := r.Open(ctx, w)
	if err != nil {
		return scheduler.Notice{}, launch.Usage{}, err
	}
	defer e.Close()
	if err := e.Start(0, r.grant()); err != nil {
		reason := err.Error()
		return scheduler.Notice{Kind: scheduler.JobEnded, At: e.Now(), State: scheduler.Failed,
			Reason: reason}, launch.Usage{ExitCode: -1, Reason: reason}, nil
	}
	ended, err := r.end(ctx, e)
	if err != nil {
		if e.Stop(0) == nil {
			ended, _ = r.end(context.WithoutCancel(ctx), e)
		}
		if len(ended) == 0 {
			return scheduler.Notice{}, launch.Usage{}, err
		}
	}
	usage, _ := e.Usage(0)
	return ended[0], usage, err
}

// end waits for the end of the job. If a part of the job fails, the sample fails, even if the job could continue
// without that part.
func (r Run) end(ctx context.Context, e engine.Engine) ([]scheduler.Notice, error) {
	for {
		_, news, err := e.Next(ctx, scheduler.Never)
		if err != nil {
			return nil, err
		}
		parts := len(news)
		news = slices.DeleteFunc(news, func(n scheduler.Notice) bool { return n.Kind == scheduler.PartEnded })
		if parts > len(news) {
			if err := e.Stop(0); err != nil {
				return nil, err
			}
		}
		if len(news) > 0 {
			return news, nil
		}
	}
}

// arrivals records when the progress lines of a sample arrived, on the engine's clock.
type arrivals struct {
	steps bool

	mu sync.Mutex // guards at
	at []time.Duration
}

// add is a progress.Listener. If a line does not follow the previous one, it and all later lines are ignored.
func (a *arrivals) add(_ int, at time.Duration, p contract.Progress) {
	n := p.Epoch
	if a.steps {
		n = p.Step
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !p.News() && n == len(a.at)+1 {
		a.at = append(a.at, at)
	}
}

// complete sets the times of a sample that only the arrival of its lines shows: the start-up and, if the program does
// not report them, the units. Only the sum of start-up and first unit is known. The first unit is assumed to take the
// median time of the others.
func (a *arrivals) complete(s *estimator.Sample, began time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := len(a.at)
	if n == 0 {
		return
	}
	first := (a.at[0] - began).Seconds()
	if len(s.Units) == 0 && n == s.Length && n > 2 {
		var units []float64
		for i := range a.at[1:] {
			units = append(units, (a.at[i+1] - a.at[i]).Seconds())
		}
		s.Units = append([]float64{min(first, estimator.Median(units))}, units...)
	}
	if s.Startup == 0 && len(s.Units) > 0 {
		s.Startup = max(0, first-s.Units[0])
	}
}

// Costs are the times that the engine needs for an action on a job, in which the job's cores are idle; 0 if unknown.
type Costs struct {
	Pause, Resume, Resize time.Duration
}

// A probe repeats each action a few times, and lets the job run in between, because loading takes time and threads
// start later. The first action may wait until the engine has started the job, so it counts only if it is the only one.
const (
	probeRounds = 7
	probeGap    = 5 * time.Millisecond
	// probeLength is the requested length of the job as a multiple of the longest sample.
	probeLength = 4
)

// Probe starts a job, pauses, resumes and resizes it a few times, and kills it. Costs are medians. If the job ends by
// itself, actions until then count. An error of ctx is returned unchanged.
func Probe(ctx context.Context, run Run) (c Costs, err error) {
	fail := func(err error) (Costs, error) {
		if ctx.Err() != nil {
			return Costs{}, ctx.Err()
		}
		return Costs{}, fmt.Errorf("probe %s: %w", run.Job.Name, err)
	}
	e, err := run.Open(ctx, watchers{})
	if err != nil {
		return fail(err)
	}
	defer e.Close()
	grant := run.grant()
	if err := e.Start(0, grant); err != nil {
		return fail(err)
	}
	actions := []struct {
		do    func() error
		cost  *time.Duration
		times []time.Duration
	}{
		{do: func() error { return e.Pause(0) }, cost: &c.Pause},
		{do: func() error { return e.Resume(0, grant) }, cost: &c.Resume},
		{do: func() error { return e.Resize(0, grant) }, cost: &c.Resize},
	}
	for round := 0; ; round++ {
		_, ended, err := e.Next(ctx, e.Now()+probeGap)
		if err != nil {
			return fail(err)
		}
		if len(ended) > 0 && round > 1 { // actions on an ended job take no time
			for i := range actions {
				actions[i].times = actions[i].times[:round-1]
			}
		}
		if len(ended) > 0 || round == probeRounds {
			break
		}
		for i := range actions {
			began := time.Now()
			if err := actions[i].do(); err != nil {
				return fail(err)
			}
			actions[i].times = append(actions[i].times, time.Since(began))
		}
	}
	for _, a := range actions {
		if times := a.times[min(1, max(0, len(a.times)-1)):]; len(times) > 0 {
			slices.Sort(times)
			*a.cost = times[len(times)/2]
		}
	}
	return c, nil
}
