package profile

import (
	"context"
	"time"

	"github.com/tfexp/tfexp/hardware/process"
	"github.com/tfexp/tfexp/scheduler"
)

// Engine runs the job of a sample, which is its only one.
type Engine interface {
	scheduler.Engine
	// Now is the engine's clock.
	Now() time.Duration
	// Usage is what a job consumed, and whether it has ended.
	Usage(job int) (process.Usage, bool)
	Close() error
}

// open makes the engine of a sample.
func (r Run) open(opts process.Options) (Engine, error) {
	if r.Open != nil {
		return r.Open()
	}
	return process.New([]process.Job{r.Job}, opts)
}

// alone runs the job to its end, as process.Run does.
func (r Run) alone(ctx context.Context, opts process.Options) (scheduler.End, process.Usage, error) {
	if r.Open == nil {
		return process.Run(ctx, r.Job, opts)
	}
	e, err := r.Open()
	if err != nil {
		return scheduler.End{}, process.Usage{}, err
	}
	defer e.Close()
	cores := scheduler.CoreSet{{Lo: 0, Hi: int32(max(r.Job.Threads, 1))}}
	if err := e.Start(0, scheduler.Grant{Cores: cores}); err != nil {
		reason := err.Error()
		return scheduler.End{At: e.Now(), State: scheduler.Failed, Reason: reason}, process.Usage{ExitCode: -1, Reason: reason}, nil
	}
	_, ended, err := e.Next(ctx, scheduler.Never)
	if err != nil {
		if e.Stop(0) == nil {
			_, ended, _ = e.Next(context.WithoutCancel(ctx), scheduler.Never)
		}
		if len(ended) == 0 {
			return scheduler.End{}, process.Usage{}, err
		}
	}
	usage, _ := e.Usage(0)
	return ended[0], usage, err
}
