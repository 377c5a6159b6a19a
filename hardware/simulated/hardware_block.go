package simulated

import (
	"embed"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/scheduler"
)

var _ = engine.Register(&Kind)

//go:embed hardware_block.go
var source embed.FS

// blockOf returns the description of a block whose arguments fill a struct of this package.
func blockOf[T any](name string) *schema.Block {
	schema.Document("simulated", source)
	return schema.BlockFor[T](schema.Block{Name: name, Single: true})
}

// Kind describes this engine to other packages. An engine that simulates differently can start from a copy of it.
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
	Traits: engine.Traits{Clusters: true, Changes: true},
	Args: []schema.Arg{
		{Name: "noise", Type: schema.Number, Default: `0`, Min: schema.Limit(0), Max: schema.Limit(10),
			Doc: "Relative standard deviation of run times (lognormal).", Example: `0.05`},
		{Name: "lacks", Type: schema.Strings, MayBeEmpty: true,
			Allowed: []string{"pause", "resize", "memory", "gpus", "migrate"},
			Doc:     "Capabilities that the engine must not use.", Example: `["pause"]`},
	},
	Blocks:       []*schema.Block{overheadsBlock},
	Capabilities: func(*engine.Hardware) scheduler.Capabilities { return All },
	Simulate:     func(s engine.Simulation) (scheduler.Engine, error) { return s.Standard() },
}

var overheadsBlock = blockOf[Overheads]("overheads")

// Overheads are what actions cost the job that they are done to.
//
// The time that each action costs a job. Without this block the times apply that were measured with the samples of
// the jobs; jobs with a `runtime` block are not sampled, and have no overheads. A job that is paused during an
// overhead spends the rest of it later. Policies do not know overheads: a job's remaining time is the estimate less
// the time that it has run, overheads included.
type Overheads struct {
	// The time to start a job.
	//
	//	start = "200ms"
	Start time.Duration `arg:"start" default:"0s"`
	// The time to pause a job.
	//
	//	pause = "10ms"
	Pause time.Duration `arg:"pause" default:"0s"`
	// The time to resume a job.
	//
	//	resume = "10ms"
	Resume time.Duration `arg:"resume" default:"0s"`
	// The time to resize a job.
	//
	//	resize = "50ms"
	Resize time.Duration `arg:"resize" default:"0s"`
	// The time to resume a job on other nodes or GPUs, instead of `resume`.
	//
	// Default: the time to resume.
	//
	//	migrate = "30s"
	Migrate time.Duration `arg:"migrate"`
}
