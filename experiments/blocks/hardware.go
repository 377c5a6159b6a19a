package blocks

import (
	"fmt"
	"slices"
	"time"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
)

// engineOnly reports arguments and blocks of the simulated engine on a real one.
func engineOnly(a *eval.Args, n *eval.Node, h *experiments.Hardware) {
	for _, name := range []string{"noise", "lacks"} {
		if a.IsSet(name) {
			a.Fail(a.At(name), "Argument that nothing reads", "%s is for the engine \"simulated\"; %q does not read it.", name, h.Engine)
		}
	}
	for _, b := range n.Blocks {
		switch {
		case b.Schema.Name == "node" && h.Engine == "docker":
		case b.Schema.Name == "node" && h.Engine == "process":
			a.Fail(b.Header, "Block that nothing reads", "%s is for the engines \"simulated\" and \"docker\"; \"process\" does not read it.", b.Schema.Name)
		default:
			a.Fail(b.Header, "Block that nothing reads", "%s is for the engine \"simulated\"; %q does not read it.", b.Schema.Name, h.Engine)
		}
	}
}

// Hardware decodes a hardware block.
func (d *Decoder) Hardware(n *eval.Node, e *eval.Env) (*experiments.Hardware, bool) {
	a := d.EvalArgs(n, e)
	h := &experiments.Hardware{
		Name: n.Label, Range: eval.RangeOf(n.Header), At: a.Ranges(),
		Engine: eval.Get[string](a, "engine"), EngineRange: eval.RangeOf(a.At("engine")), ThreadsRange: eval.RangeOf(a.At("threads")),
		Noise: eval.Get[float64](a, "noise"), Lacks: eval.Get[[]string](a, "lacks"),
	}
	slices.Sort(h.Lacks)
	h.Lacks = slices.Compact(h.Lacks)
	nodes := n.All("node")
	if h.Engine == "process" || h.Engine == "docker" {
		engineOnly(a, n, h)
	}
	d.docker(a, h)
	if over := n.First("overheads"); over != nil {
		oa := d.EvalArgs(over, e)
		cost := func(name string) time.Duration { return eval.Get[time.Duration](oa, name) }
		h.Overheads = &experiments.Overheads{Start: cost("start"), Pause: cost("pause"), Resume: cost("resume"), Resize: cost("resize")}
		a.OK = a.OK && oa.OK
	}
	if c := n.First("contention"); c != nil {
		var ok bool
		h.Contention, ok = d.contention(c, e)
		a.OK = a.OK && ok
	}
	if len(nodes) > 0 {
		for _, name := range []string{"threads", "memory", "gpus", "gpu"} {
			if a.IsSet(name) {
				a.Fail(a.At(name), "Contradicting arguments", "%s belongs in the node blocks of this hardware.", name)
			}
		}
		total := 0
		for _, nn := range nodes {
			na := d.EvalArgs(nn, e)
			d.dockerNode(na, h, eval.Get[int](na, "count"))
			a.OK = a.OK && na.OK
			count, machine := eval.Get[int](na, "count"), scheduler.Node{
				Name: nn.Label, Threads: eval.Get[int](na, "threads"), GPUs: eval.Get[int](na, "gpus"), Memory: eval.Get[int64](na, "memory"),
			}
			machine.GPU = gpuOf(na, machine)
			a.OK = a.OK && na.OK
			if total += count * max(machine.Threads, machine.GPUs); total > maxCores || len(h.Cluster.Nodes)+count > schema.MaxNodes {
				a.Fail(nn.Header, "Value out of range", "The cluster is too large: at most %d nodes and %d cores or GPUs.", schema.MaxNodes, maxCores)
				break
			}
			for i := 1; i <= count; i++ {
				m := machine
				if count > 1 {
					m.Name = fmt.Sprintf("%s-%d", machine.Name, i)
				}
				h.Cluster.Nodes = append(h.Cluster.Nodes, m)
			}
		}
		return h, a.OK
	}
	machine := scheduler.Node{Name: n.Label, Threads: eval.Get[int](a, "threads"), GPUs: eval.Get[int](a, "gpus"), Memory: eval.Get[int64](a, "memory")}
	if h.Engine == "process" && a.Lacks("gpus") {
		machine.GPUs = d.host.GPUs
	}
	machine.GPU = gpuOf(a, machine)
	if h.Engine == "process" && machine.GPUs > 0 && a.Lacks("gpu") {
		machine.GPU = d.host.GPUType
	}
	if a.Lacks("threads") {
		switch h.Engine {
		case "process", "docker":
			machine.Threads = d.hostThreads()
		case "simulated":
			a.Fail(n.Header, "Hardware without threads", "%s needs threads, or node blocks.", n.Title())
		}
	}
	if (h.Engine == "process" || h.Engine == "docker" && a.Lacks("host")) && a.Lacks("memory") {
		machine.Memory = d.hostMemory
	}
	if h.Docker != nil {
		h.Docker.Hosts = []string{eval.Get[string](a, "host")}
	}
	h.Cluster.Nodes = []scheduler.Node{machine}
	return h, a.OK
}

// maxCores keeps the numbers of cores within 32 bits.
const maxCores = 1 << 30

func (d *Decoder) hostThreads() int {
	host, _ := d.global.Lookup("host")
	n, _ := host.GetAttr("threads").AsBigFloat().Int64()
	return int(n)
}
