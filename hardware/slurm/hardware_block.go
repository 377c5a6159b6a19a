// Package slurm runs jobs on an allocation of a Slurm cluster: one that it submits, or the one that tfexp itself runs
// in. The nodes of the allocation are the nodes of the hardware. Each job, or each part of a job with roles, is a step.
// Slurm starts and kills the steps; tfexp decides when. Signals pause and resume steps, control files resize them, and
// their output comes through files in a folder that all nodes see. If a node or an allocation is lost, the engine
// requests another one.
package slurm

import (
	"cmp"
	"context"
	"embed"
	"encoding/gob"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/scheduler"
)

// kindName is the name of this engine in experiments.
const kindName = EngineName

func init() {
	engine.Register(&kind)
	gob.Register(&settings{}) // so that a cell can be sent to another process
}

// kind registers this engine for hardware blocks.
var kind = engine.Kind{
	Name: kindName, Rank: 40,
	Doc: "runs jobs for real, as steps of an allocation of a Slurm cluster (see [slurm.md](slurm.md))",
	Example: `hardware "allocation" {
  engine    = "slurm"
  partition = "main"
  nodes     = 3
  threads   = 2
  time      = "1h"
}`,
	Traits: engine.Traits{Real: true, Clusters: true, Loses: true},
	Args:   append([]schema.Arg{engine.PauseArg}, schema.Described[settings](source)...),
	Decode: decode,
	Machine: func(b engine.Block, _ engine.Host) scheduler.Node {
		return scheduler.Node{Threads: currentAllocation().threads}
	},
	Nodes: func(b engine.Block, machine scheduler.Node) []scheduler.Node {
		nodes := make([]scheduler.Node, nodesOf(b))
		for i := range nodes {
			nodes[i] = machine
			if len(nodes) > 1 {
				nodes[i].Name = fmt.Sprintf("node-%d", i+1)
			}
		}
		return nodes
	},
	Capabilities: func(h *engine.Hardware) scheduler.Capabilities {
		return scheduler.Capabilities{Pause: true, Resize: true, GPUs: h.HasGPUs(), Migrate: h.Suspends}
	},
	CheckJob: checkJob,
	Lines:    keyLines,
	Open:     openSession,
	Batch:    func() engine.Batch { return BatchSystem{} },
	Doctor: func(ctx context.Context, _ func(string) bool) []hardware.Check {
		return doctor(ctx)
	},
}

//go:embed hardware_block.go
var source embed.FS

// settings are the arguments of a hardware block. The fields are exported because encoding/gob and printers of
// experiments need that.
type settings struct {
	// The partition in which tfexp requests the allocation.
	//
	// Default: the cluster's default partition.
	//
	//	partition = "gpu"
	Partition string `arg:"partition"`
	// The account that pays for the allocation.
	//
	// Default: your default account.
	//
	//	account = "ml-lab"
	Account string `arg:"account"`
	// The quality of service.
	//
	// Default: the partition's.
	//
	//	qos = "short"
	QOS string `arg:"qos"`
	// Features that the nodes of the allocation must have.
	//
	//	constraint = "avx512"
	Constraint string `arg:"constraint"`
	// Generic resources of each node.
	//
	// Default: `gpu:N`, where nodes have N `gpus`.
	//
	//	gres = "gpu:a100:2"
	GRES string `arg:"gres"`
	// The number of nodes of `threads` cores; not with node blocks.
	//
	// Default: as many as the allocation has in which tfexp runs, or 1.
	//
	//	nodes = 3
	Nodes int `arg:"nodes" min:"1" max:"nodes" json:"-"`
	// The time limit of the allocation. When that is over, another one is asked for, and jobs go on in it from their
	// checkpoints.
	//
	// Default: the default of the partition.
	//
	//	time = "4h"
	Time time.Duration `arg:"time"`
	// How long before the allocation or a drained node ends tfexp asks jobs for a checkpoint.
	//
	//	notice = "5m"
	Notice time.Duration `arg:"notice" default:"1m"`
	// How often tfexp asks the controller for the state of the allocation and its nodes (two calls).
	//
	//	watch = "2m"
	Watch time.Duration `arg:"watch" default:"30s"`
	// More options of `sbatch`, without the dashes; an option without a value has an empty text.
	//
	//	sbatch = { reservation = "course", "mail-type" = "END" }
	More map[string]string `arg:"sbatch"`
	// Joined is the job that tfexp runs in, if its allocation is used; empty if an allocation is submitted.
	Joined string
}

// settingsOf returns the settings of a hardware whose engine is Slurm.
func settingsOf(h *engine.Hardware) *settings { return h.Settings.(*settings) }

// enclosingAllocation describes the allocation that tfexp runs in, as its environment variables do.
type enclosingAllocation struct {
	job            string
	nodes, threads int
}

// currentAllocation returns the allocation that tfexp runs in, or the zero value if tfexp runs outside of allocations.
func currentAllocation() enclosingAllocation {
	a := enclosingAllocation{job: os.Getenv(EnvJob)}
	if a.job == "" {
		return enclosingAllocation{}
	}
	a.nodes, _ = strconv.Atoi(os.Getenv("SLURM_JOB_NUM_NODES"))
	// "2(x3),4" means two cores on each of three nodes and four on another. tfexp uses the smallest number on all
	// nodes.
	for group := range strings.SplitSeq(os.Getenv("SLURM_JOB_CPUS_PER_NODE"), ",") {
		text, _, _ := strings.Cut(group, "(")
		if n, err := strconv.Atoi(text); err == nil && (a.threads == 0 || n < a.threads) {
			a.threads = n
		}
	}
	return a
}

// nodesOf returns the number of nodes of a hardware block without node blocks.
func nodesOf(b engine.Block) int {
	if n := engine.Get[int](b.Values, "nodes"); n > 0 {
		return n
	}
	return max(1, currentAllocation().nodes)
}

// decode checks the arguments of a hardware block and returns its settings.
func decode(b engine.Block) (any, []engine.Problem) {
	s := &settings{Joined: currentAllocation().job}
	b.Values.Fill(s)
	var problems []engine.Problem
	add := func(arg, summary, detail string, args ...any) {
		problems = append(problems, engine.Problem{Arg: arg, Summary: summary, Detail: fmt.Sprintf(detail, args...)})
	}
	if b.Set["nodes"] && len(b.Nodes) > 0 {
		add("nodes", "Contradicting arguments", "This hardware has node blocks, which say how many nodes there are.")
	}
	if len(b.Nodes) == 0 && !b.Set["threads"] && s.Joined == "" {
		add("", "Hardware without threads",
			"Set threads to the number of cores of each node: only inside an allocation can tfexp find it out.")
	}
	if s.Time > 0 && s.Time <= s.Notice {
		add("time", "No time before the notice",
			"The allocation lasts %s, and its jobs would be told %s before its end: make time longer, or notice shorter.",
			s.Time, s.Notice)
	}
	if s.Watch > 0 && s.Watch < time.Second {
		add("watch", "Value out of range", "The controller is asked once a second at most; this is %s.", s.Watch)
	}
	s.Watch = cmp.Or(s.Watch, 30*time.Second)
	for _, name := range slices.Sorted(maps.Keys(s.More)) {
		switch own := map[string]string{"partition": "partition", "account": "account", "qos": "qos", "gres": "gres",
			"constraint": "constraint", "nodes": "nodes", "time": "time", "cpus-per-task": "threads", "mem": "memory"}[name]; {
		case own != "":
			add("sbatch", "Argument with a name of its own", "%s is an argument of this block; write %s = … there.", name, own)
		case slices.Contains([]string{"array", "wrap", "output", "error", "parsable", "wait", "ntasks", "dependency"}, name),
			name == "" || strings.HasPrefix(name, "-") || strings.ContainsAny(name, " =\t\n"):
			add("sbatch", "Not an argument for an allocation", "%q cannot be given here: tfexp sets it itself, or it is not an option.",
				name)
		}
	}
	return s, problems
}

// checkJob checks whether a job can run as a step.
func checkJob(h *engine.Hardware, j *engine.Job, _ engine.Host) []engine.Problem {
	if j.Nodes <= 1 || j.Roles {
		return nil
	}
	return []engine.Problem{{Arg: "nodes", Summary: "A step runs on one node",
		Detail: fmt.Sprintf("The job %q asks for %d nodes, but on the hardware %q a program is a step on one node. Give it "+
			"roles (a role block for each kind of program): each of their tasks is a step.", j.Name, j.Nodes, h.Name)}}
}

// keyLines returns the cache key lines of the settings that decide on which nodes jobs run.
func keyLines(h *engine.Hardware) []engine.KeyLine {
	s := settingsOf(h)
	value := fmt.Sprintf("partition %q, constraint %q, gres %q", s.Partition, s.Constraint, s.GRES)
	for _, name := range slices.Sorted(maps.Keys(s.More)) {
		value += fmt.Sprintf(", %s %q", name, s.More[name])
	}
	return []engine.KeyLine{{Label: "hardware.slurm", Value: value}}
}
