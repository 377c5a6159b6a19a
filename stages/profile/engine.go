package profile

import (
	"context"
	"slices"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
)

// grant is what a sample runs on: the first cores and GPUs of the machine, as many as the job requests.
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

// inParts is the grant of a job with roles: its parts are on the nodes on which it would start alone on its
// hardware or, where that is simply this machine, all on one.
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

// alone runs the job to its end. When the context is done first it stops the job and waits for its end. A job that
// fails is no error: the notice of its end and Usage say how.
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

// end waits for the end of the job. A sample of which a part fails has failed, also where jobs can do without the part.
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
