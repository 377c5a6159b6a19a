package decode

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
)

// Hardware decodes a hardware block.
func (d *Decoder) Hardware(n *eval.Node, e *eval.Env) (*experiment.Hardware, bool) {
	a := d.EvalArgs(n, e)
	h := &experiment.Hardware{
		Name: n.Label, Range: eval.RangeOf(n.Header), At: a.Ranges(), Engine: eval.Get[string](a, "engine"),
		Suspends: eval.Get[string](a, engine.PauseArg.Name) == engine.Checkpointed,
	}
	kind := engine.Find(h.Engine) // nil: the engine's name is wrong
	if kind != nil {
		unread(a, kind, func(k *engine.Kind) []schema.Arg { return k.Args })
		unreadBlocks(a, kind)
	}
	d.simulation(a, e, h)
	var nodes []*eval.Args
	for _, nn := range n.All("node") {
		na := d.EvalArgs(nn, e)
		a.OK = a.OK && na.OK
		nodes = append(nodes, na)
		if kind != nil {
			unread(na, kind, func(k *engine.Kind) []schema.Arg { return k.AllNodeArgs() })
		}
	}
	if len(nodes) > 0 {
		d.cluster(a, nodes, h)
	} else {
		h.Cluster.Nodes = []scheduler.Node{d.machine(a, kind)}
		if kind != nil && kind.Nodes != nil {
			h.Cluster.Nodes = kind.Nodes(d.blockOf(a, nil), h.Cluster.Nodes[0])
		}
	}
	if kind != nil && kind.Decode != nil {
		settings, problems := kind.Decode(d.blockOf(a, nodes))
		h.Settings = settings
		report(a, nodes, problems)
	}
	d.DecodeInto(h, language.Hardware, language.Block{Args: a, Env: e, Nodes: nodes})
	for _, na := range nodes {
		a.OK = a.OK && na.OK
	}
	return h, a.OK
}

// unread reports arguments that only other engines read.
func unread(a *eval.Args, kind *engine.Kind, of func(*engine.Kind) []schema.Arg) {
	for _, arg := range a.Node.Args {
		readers := engine.Names(func(k *engine.Kind) bool { return schema.Find(of(k), arg.Name) != nil })
		if a.IsSet(arg.Name) && len(readers) > 0 && !slices.Contains(readers, kind.Name) {
			a.Unread(fmt.Sprintf("{} is for %s; %q does not read it.", engineNames(readers), kind.Name), arg.Name)
		}
	}
}

// unreadBlocks reports blocks that only other engines read.
func unreadBlocks(a *eval.Args, kind *engine.Kind) {
	for _, b := range a.Node.Blocks {
		name := b.Schema.Name
		readers := engine.Names(func(k *engine.Kind) bool {
			return name == "node" && k.Clusters || slices.ContainsFunc(k.AllBlocks(),
				func(o *schema.Block) bool { return o.Name == name })
		})
		if !slices.Contains(readers, kind.Name) {
			a.Fail(b.Header, "Unused block", "%s is for %s; %q does not read it.", name,
				engineNames(readers), kind.Name)
		}
	}
}

func engineNames(names []string) string {
	if len(names) == 1 {
		return "the engine " + schema.AllOf(names)
	}
	return "the engines " + schema.AllOf(names)
}

// simulation decodes the settings of simulated hardware.
func (d *Decoder) simulation(a *eval.Args, e *eval.Env, h *experiment.Hardware) {
	h.Noise, h.Lacks = eval.Get[float64](a, "noise"), eval.Get[[]string](a, "lacks")
	slices.Sort(h.Lacks)
	h.Lacks = slices.Compact(h.Lacks)
	if over := a.Node.First("overheads"); over != nil {
		h.Overheads = &simulated.Overheads{}
		oa := d.Decode(over, e, h.Overheads)
		if !oa.IsSet("migrate") {
			h.Overheads.Migrate = h.Overheads.Resume
		}
		a.OK = a.OK && oa.OK
	}
}

// maxCores is the largest number of cores, so that counts fit into 32 bits.
const maxCores = 1 << 30

// cluster decodes the node blocks of a cluster.
func (d *Decoder) cluster(a *eval.Args, nodes []*eval.Args, h *experiment.Hardware) {
	a.Excludes("{} belongs in the node blocks of this hardware.", "threads", "memory", "gpus", "gpu")
	total := 0
	for _, na := range nodes {
		count, machine := eval.Get[int](na, "count"), machineOf(na)
		machine.GPU, machine.Rack = gpuOf(na, machine), eval.Get[string](na, "rack")
		total += count * max(machine.Threads, machine.GPUs)
		if total > maxCores || len(h.Cluster.Nodes)+count > schema.MaxNodes {
			a.Fail(na.Node.Header, "Value out of range", "The cluster is too large: at most %d nodes and %d cores or GPUs.",
				schema.MaxNodes, maxCores)
			return
		}
		for i := 1; i <= count; i++ {
			m := machine
			if count > 1 {
				m.Name = fmt.Sprintf("%s-%d", machine.Name, i)
			}
			h.Cluster.Nodes = append(h.Cluster.Nodes, m)
		}
	}
}

// machineOf returns the machine that a hardware or node block describes.
func machineOf(a *eval.Args) scheduler.Node {
	return scheduler.Node{
		Name: a.Node.Label, Threads: eval.Get[int](a, "threads"),
		GPUs: eval.Get[int](a, "gpus"), Memory: eval.Get[int64](a, "memory"),
	}
}

// gpuOf returns the type of a machine's GPUs, and reports a type without GPUs.
func gpuOf(a *eval.Args, m scheduler.Node) string {
	if m.GPUs == 0 && a.OK {
		a.Unread(fmt.Sprintf("{} is the type of the GPUs, and %s has none: add gpus.", a.Node.Title()), "gpu")
	}
	return eval.Get[string](a, "gpu")
}

// machine decodes hardware without node blocks, with the defaults of its engine.
func (d *Decoder) machine(a *eval.Args, kind *engine.Kind) scheduler.Node {
	machine := machineOf(a)
	var defaults scheduler.Node
	switch {
	case kind == nil:
	case kind.Machine != nil:
		defaults = kind.Machine(d.blockOf(a, nil), engine.Host{
			Threads: d.hostThreads(), MemoryBytes: d.hostMemory(), GPUs: d.Host.GPUs, GPUType: d.Host.GPUType,
		})
	case a.Lacks("threads"):
		a.Fail(a.Node.Header, "Hardware without threads", "%s needs threads, or node blocks.", a.Node.Title())
	}
	if a.Lacks("gpus") {
		machine.GPUs = defaults.GPUs
	}
	machine.GPU = gpuOf(a, machine)
	if machine.GPUs > 0 && a.Lacks("gpu") {
		machine.GPU = defaults.GPU
	}
	if a.Lacks("threads") {
		machine.Threads = defaults.Threads
	}
	if a.Lacks("memory") {
		machine.Memory = defaults.Memory
	}
	return machine
}

// hostThreads returns host.threads, the number of threads of this machine that the file sees.
func (d *Decoder) hostThreads() int {
	host, _ := d.Global.Lookup("host")
	threads, _ := host.GetAttr("threads").AsBigFloat().Int64()
	return int(threads)
}

// hostMemory returns the memory of this machine in bytes, rounded down to GiB; 0 if unknown. It is rounded so that a
// reboot does not change keys.
func (d *Decoder) hostMemory() int64 { return d.Host.MemoryBytes &^ (1<<30 - 1) }

// blockOf returns a hardware block in the form that engines decode.
func (d *Decoder) blockOf(a *eval.Args, nodes []*eval.Args) engine.Block {
	b := engine.Block{Values: valuesOf(a), Base: d.Absolute(".")}
	for _, na := range nodes {
		b.Nodes = append(b.Nodes,
			engine.NodeBlock{Name: na.Node.Label, Count: eval.Get[int](na, "count"), Values: valuesOf(na)})
	}
	return b
}

func valuesOf(a *eval.Args) engine.Values {
	v := engine.Values{All: maps.Clone(a.Values), Set: map[string]bool{}}
	for name, value := range v.All {
		if list, ok := value.([]schema.Setting); ok {
			settings := map[string]string{}
			for _, s := range list {
				settings[s.Name] = s.Value
			}
			v.All[name] = settings
		}
	}
	for _, arg := range a.Node.Args {
		v.Set[arg.Name] = !a.Lacks(arg.Name)
	}
	return v
}

// report reports the mistakes that an engine finds in its settings, at their lines.
func report(a *eval.Args, nodes []*eval.Args, problems []engine.Problem) {
	for _, p := range problems {
		in := a
		if p.Node > 0 {
			in = nodes[p.Node-1]
		}
		var at hcl.Range
		if at = in.Node.Header; p.Arg != "" {
			at = in.At(p.Arg)
		}
		in.Fail(at, p.Summary, "%s", p.Detail)
	}
}
