package simulated

import (
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/market"
	"github.com/tfexp/tfexp/scheduler"
)

var _ = engine.Register(&Kind)

// Kind is this engine as experiments see it. An engine that simulates in another way can begin as a copy of it.
var Kind = engine.Kind{
	Name: "simulated", Rank: 20,
	Doc: "runs jobs in virtual time, on any cluster",
	Example: `hardware "cluster" {
  engine = "simulated"
  noise  = 0.05
  node "big" {
    count   = 4
    threads = 16
    memory  = "64GiB"
  }
  overheads {
    start = "200ms"
    pause = "10ms"
  }
}`,
	Clusters: true,
	Args: []schema.Arg{
		{Name: "noise", Type: schema.Number, Default: `0`, Min: schema.Limit(0), Max: schema.Limit(10),
			Doc: "Relative standard deviation of run times (lognormal).", Example: `0.05`},
		{Name: "lacks", Type: schema.Strings, MayBeEmpty: true,
			Allowed: []string{"pause", "resize", "memory", "gpus", "migrate"},
			Doc:     "What the engine is to do without.", Example: `["pause"]`},
	},
	NodeArgs:     market.NodeArgs,
	Blocks:       []*schema.Block{overheadsBlock, contentionBlock, market.BillingBlock},
	Capabilities: func(*engine.Hardware) scheduler.Capabilities { return All },
	Simulate:     func(s engine.Simulation) (scheduler.Engine, error) { return s.Standard() },
}

var overheadsBlock = &schema.Block{
	Name: "overheads", Single: true,
	Doc: "Time that an action costs the job it is done to. Without this block the times apply that were measured " +
		"with the samples of the jobs; for jobs that are not sampled, because the file gives their `runtime`, there are " +
		"none. A job that is paused during one has the rest of it still to come. Policies do not know them: what a " +
		"job has left, by its estimate, is the estimate less the time for which it has run, with these.",
	Args: []schema.Arg{
		{Name: "start", Type: schema.Duration, Default: `"0s"`, Doc: "To start.", Example: `"200ms"`},
		{Name: "pause", Type: schema.Duration, Default: `"0s"`, Doc: "To pause.", Example: `"10ms"`},
		{Name: "resume", Type: schema.Duration, Default: `"0s"`, Doc: "To resume.", Example: `"10ms"`},
		{Name: "resize", Type: schema.Duration, Default: `"0s"`, Doc: "To resize.", Example: `"50ms"`},
		{Name: "migrate", Type: schema.Duration, DefaultDoc: "the time to resume", Example: `"30s"`,
			Doc: "To go on on other nodes, or with other GPUs, than those on which it was paused; in the place of `resume`."},
	},
}
