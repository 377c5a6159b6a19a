package process

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/experiments/units"
	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/gpu"
	"github.com/tfexp/tfexp/hardware/market"
	"github.com/tfexp/tfexp/scheduler"
)

// kindName is what experiments call this engine.
const kindName = "process"

func init() { engine.Register(&kind) }

// kind is this engine as experiments see it.
var kind = engine.Kind{
	Name: kindName, Rank: 10,
	Doc: "runs jobs for real, as processes of this machine",
	Example: `hardware "here" {
  engine  = "process"
  threads = host.threads
}`,
	Real: true, Descendants: true, Here: true, Clusters: true, Parts: true,
	NodeArgs: market.NodeArgs, Blocks: []*schema.Block{market.BillingBlock},
	Machine: func(_ engine.Block, host engine.Host) scheduler.Node {
		return scheduler.Node{Threads: host.Threads, Memory: host.MemoryBytes, GPUs: host.GPUs, GPU: host.GPUType}
	},
	Capabilities: func(h *engine.Hardware) scheduler.Capabilities {
		c := Capabilities()
		c.GPUs = h.HasGPUs()
		c.Migrate = !c.GPUs // a program that has begun keeps its GPUs
		return c
	},
	Check:    checkMachine,
	CheckJob: checkJob,
	Open:     openSite,
	Doctor: func(context.Context, func(string) bool) []hardware.Check {
		return []hardware.Check{checkBinding(), checkCleanUp()}
	},
}

// checkMachine compares a machine with what this one has: jobs are bound to cores that are there.
func checkMachine(h *engine.Hardware, host engine.Host) (problems []engine.Problem) {
	add := func(arg, summary, detail string, args ...any) {
		problems = append(problems, engine.Problem{Arg: arg, Summary: summary, Detail: fmt.Sprintf(detail, args...)})
	}
	n := total(h.Cluster)
	if host.Threads > 0 && n.Threads > host.Threads {
		add("threads", "More threads than the machine has",
			"The hardware %q has %s, but this machine has %d, and the engine %q binds jobs to real ones.",
			h.Name, count(n.Threads, "thread"), host.Threads, h.Kind.Name)
	}
	if host.MemoryBytes > 0 && n.Memory > host.MemoryBytes {
		add("memory", "More memory than the machine has", "The hardware %q has %s, but this machine has %s.",
			h.Name, units.FormatSize(n.Memory), units.FormatSize(host.MemoryBytes))
	}
	if n.GPUs > host.GPUs {
		problems = append(problems, noGPUs(host, fmt.Sprintf("The hardware %q has %s", h.Name, count(n.GPUs, "GPU"))))
	}
	return problems
}

// total is what the nodes of a cluster have together: all are parts of this machine.
func total(c scheduler.Cluster) (sum scheduler.Node) {
	for _, n := range c.Nodes {
		sum.Threads, sum.GPUs, sum.Memory = sum.Threads+n.Threads, sum.GPUs+n.GPUs, sum.Memory+n.Memory
	}
	return sum
}

// checkJob reports a job that asks for GPUs that this machine lacks, on hardware that has all that there are.
func checkJob(h *engine.Hardware, j *engine.Job, host engine.Host) []engine.Problem {
	if gpus := total(h.Cluster).GPUs; j.GPUs <= gpus || gpus != host.GPUs {
		return nil
	}
	return []engine.Problem{noGPUs(host, fmt.Sprintf("The job %q asks for %s", j.Name, count(j.GPUs, "GPU")))}
}

// noGPUs is the problem that this machine lacks the GPUs that are asked for.
func noGPUs(host engine.Host, need string) engine.Problem {
	has := fmt.Sprintf("this machine has %d that tfexp may use", host.GPUs)
	if host.GPUs == 0 {
		has = "this machine has none"
		if host.NoGPUs != "" {
			has += " (" + host.NoGPUs + ")"
		}
	}
	return engine.Problem{
		Arg: "gpus", Unavailable: true, Summary: "More GPUs than the machine has",
		Detail: fmt.Sprintf("%s, but %s. Run the experiment on a machine that has them, or simulate it; \"tfexp "+
			"doctor\" says more.", need, has),
	}
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// site is the engine in a run.
type site struct{ run engine.Run }

// openSite ends what a run that was killed left behind.
func openSite(run engine.Run) (engine.Site, []string, error) {
	s := site{run}
	killed, err := Sweep(s.registry())
	return s, killed, err
}

// registry is the file in which the live jobs are recorded.
func (s site) registry() string { return filepath.Join(s.run.Dir, "processes.json") }

func (s site) Engine(_ context.Context, task engine.Task) (engine.Engine, error) {
	devices, _ := s.run.GPUs() // an experiment that needs more than there are is refused when it is read
	opts := Options{
		Registry: s.registry(), Cluster: clusterOf(task), GPUs: gpu.IDs(devices), Report: task.Report, Warn: task.Warn,
	}
	if task.Fleet != nil {
		opts.Fleet = task.Fleet
	}
	e, err := New(task.Jobs, opts)
	if err != nil {
		return nil, &engine.Unavailable{Engine: kindName, Err: err}
	}
	return e, nil
}

// clusterOf returns the nodes of a task's hardware, if it is told.
func clusterOf(t engine.Task) scheduler.Cluster {
	if t.Hardware == nil {
		return scheduler.Cluster{}
	}
	return t.Hardware.Cluster
}

func (s site) Local(*engine.Hardware) bool { return true }
func (s site) Close() error                { return nil }
