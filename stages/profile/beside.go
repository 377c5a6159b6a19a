package profile

import (
	"context"
	"errors"
	"fmt"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/scheduler"
)

// takeBeside runs a job and its copies side by side, each on its own cores, until all have ended. The sample has the
// means of their times. It errs as Take does; load may be nil.
func takeBeside(ctx context.Context, run Run, load *hardware.ToldLoad) (estimator.Sample, error) {
	s := estimator.Sample{Length: run.Length, Threads: run.Job.Threads, GPUs: run.GPUs,
		Others: len(run.Beside) * max(run.Job.Threads, 1), Total: run.Total}
	var w watchers
	if load != nil && run.Observed {
		w.observe = func(u engine.Sample) { load.Add(fmt.Sprint(u.Job, " ", u.Part), u.At, u.CPU/100) }
	}
	within := ctx
	if run.Limit > 0 {
		var cancel context.CancelFunc
		within, cancel = context.WithTimeoutCause(ctx, run.Limit, ErrTooLong)
		defer cancel()
	}
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

// together runs a job and its copies to their ends, and returns what each used. The error says which failed.
func (r Run) together(ctx context.Context, w watchers, n int) ([]launch.Usage, error) {
	e, err := r.Open(ctx, w)
	if err != nil {
		return nil, err
	}
	defer e.Close() // and so ends those that run on
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
