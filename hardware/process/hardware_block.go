// Package process is the engine that runs jobs as processes of this machine. It needs only the operating system.
// Each job has a separate session, is bound to its own cores and paused with SIGSTOP. No process of a job is left
// running, however tfexp ends.
//
// A job is its program and all descendants of it. Each program starts in a separate control group (version 2), if
// these can be written; no process can leave it by forking. While tfexp runs, it inherits processes whose parent has
// died (it is a subreaper). It recognizes them by their group, their session, or a mark in their environment. When
// tfexp dies, the kernel kills each program (its parent-death signal), and a second process, the guardian, kills the
// other processes.
//
// Without control groups, a process can leave the session, clear its environment and lose its parent. It then runs
// until the engine is closed. It escapes only if tfexp is killed within a tenth of a second after that.
//
// On macOS, jobs are not bound to cores, and only a job's process group is paused and killed. On Windows the engine
// is not available.
package process

import (
	"context"
	"encoding/gob"
	"fmt"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/scheduler"
)

// kindName is the name of this engine in experiments.
const kindName = "process"

func init() {
	engine.Register(&kind)
	gob.Register(settings{}) // cells are encoded when they run as tasks
}

// kind describes this engine to other packages.
var kind = engine.Kind{
	Name: kindName, Rank: 10,
	Doc: "runs jobs for real, as processes of this machine",
	Example: `hardware "here" {
  engine  = "process"
  threads = host.threads
}`,
	Traits: engine.Traits{Real: true, Here: true, Clusters: true, Changes: true},
	Args:   []schema.Arg{engine.PauseArg, duetArg},
	Decode: func(b engine.Block) (any, []engine.Problem) {
		var s settings
		b.Fill(&s)
		return s, nil
	},
	Machine: func(b engine.Block, host engine.Host) scheduler.Node {
		n := scheduler.Node{Threads: host.Threads, Memory: host.MemoryBytes, GPUs: host.GPUs, GPU: host.GPUType}
		if b.All[duetArg.Name] == true {
			n.Threads, n.GPUs = max(1, n.Threads/2), 0
		}
		return n
	},
	Capabilities: func(h *engine.Hardware) scheduler.Capabilities {
		c := Capabilities()
		c.GPUs = h.HasGPUs()
		c.Migrate = !c.GPUs || h.Suspends // a running program keeps its GPUs
		return c
	},
	Check:    checkMachine,
	CheckJob: checkJob,
	Lines: func(h *engine.Hardware) []engine.KeyLine {
		if duet(h) {
			return []engine.KeyLine{{Label: "hardware.duet", Value: "true"}}
		}
		return nil
	},
	Beside: func(h *engine.Hardware) int {
		if duet(h) {
			return total(h.Cluster).Threads
		}
		return 0
	},
	Open: openSession,
	Doctor: func(context.Context, func(string) bool) []hardware.Check {
		return []hardware.Check{checkBinding(), checkCleanUp()}
	},
}

// settings are the engine's own arguments.
type settings struct {
	Duet bool `arg:"duet"`
}

var duetArg = schema.Arg{
	Name: "duet", Type: schema.Bool, Default: "false", Example: "true",
	Doc: "Whether compared cells of one replicate run at the same time, each on its own cores. Other " +
		"programs, and neighbors of a virtual machine, then slow all of these cells, so their difference is " +
		"more precise (duet benchmarking: Bulej et al., 2020). The cells also slow each other. So each has " +
		"the same number of neighbors: three cells on cores for two run one at a time. If the results of one " +
		"cell are missing, the others run again with it. By default, such hardware has half of the machine's " +
		"threads, and no GPUs.",
}

// duet reports whether compared cells of a hardware run at the same time.
func duet(h *engine.Hardware) bool {
	s, _ := h.Settings.(settings)
	return s.Duet
}

// checkMachine reports if the hardware has more than this machine, because jobs can be bound only to cores that
// exist.
func checkMachine(h *engine.Hardware, host engine.Host) (problems []engine.Problem) {
	add := func(arg, summary, detail string, args ...any) {
		problems = append(problems, engine.Problem{Arg: arg, Summary: summary, Detail: fmt.Sprintf(detail, args...)})
	}
	n := total(h.Cluster)
	if host.Threads > 0 && n.Threads > host.Threads {
		add("threads", "More threads than the machine has",
			"The hardware %q has %s, but this machine has %d, and the engine %q binds jobs to real cores. "+
				"Reduce threads, or simulate the experiment.",
			h.Name, schema.Plural(n.Threads, "thread"), host.Threads, h.Kind.Name)
	}
	if duet(h) && host.Threads > 0 && 2*n.Threads > host.Threads && n.Threads <= host.Threads {
		add(duetArg.Name, "Too few cores for a duet",
			"Two cells of the hardware %q have %s together, but this machine has %d. Set threads to %d or less.", h.Name,
			schema.Plural(2*n.Threads, "thread"), host.Threads, host.Threads/2)
	}
	if duet(h) && n.GPUs > 0 {
		add(duetArg.Name, "A duet of cells with GPUs", "The hardware %q has GPUs, which two cells cannot share. "+
			"Remove gpus or duet.", h.Name)
	}
	if host.MemoryBytes > 0 && n.Memory > host.MemoryBytes {
		add("memory", "More memory than the machine has", "The hardware %q has %s, but this machine has %s. "+
			"Reduce memory.",
			h.Name, schema.FormatSize(n.Memory), schema.FormatSize(host.MemoryBytes))
	}
	if n.GPUs > host.GPUs {
		problems = append(problems, noGPUs(host, fmt.Sprintf("The hardware %q has %s", h.Name, schema.Plural(n.GPUs, "GPU"))))
	}
	return problems
}

// total returns the sum of the nodes of a cluster, which are all parts of this machine.
func total(c scheduler.Cluster) (sum scheduler.Node) {
	for _, n := range c.Nodes {
		sum.Threads, sum.GPUs, sum.Memory = sum.Threads+n.Threads, sum.GPUs+n.GPUs, sum.Memory+n.Memory
	}
	return sum
}

// checkJob reports a job that requests GPUs which this machine lacks.
func checkJob(h *engine.Hardware, j *engine.Job, host engine.Host) []engine.Problem {
	if gpus := total(h.Cluster).GPUs; j.GPUs <= gpus || gpus != host.GPUs {
		return nil
	}
	return []engine.Problem{noGPUs(host, fmt.Sprintf("The job %q asks for %s", j.Name, schema.Plural(j.GPUs, "GPU")))}
}

// noGPUs returns the problem that this machine lacks requested GPUs.
func noGPUs(host engine.Host, need string) engine.Problem {
	has := fmt.Sprintf("this machine has %d that tfexp may use", host.GPUs)
	if host.GPUs == 0 {
		has = "this machine has no GPUs"
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

// Capabilities returns the capabilities of the process engine on this system.
func Capabilities() scheduler.Capabilities {
	return scheduler.Capabilities{Pause: true, Resize: true, GPUs: true}
}
