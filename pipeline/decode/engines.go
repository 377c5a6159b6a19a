package decode

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/stages/language"
)

// hardwareArgs are the arguments that hardware of every engine has.
//
// A machine or a cluster, and the engine that runs jobs on it:{engines}
type hardwareArgs struct {
	// The engine that runs the jobs.
	//
	//	engine = "{first}"
	Engine string `arg:"engine,required"`
	// Cores of the machine.
	//
	// Default: `host.threads` on {machines}; the cluster's on {told}; required on {others} without nodes.
	//
	//	threads = host.threads
	Threads int `arg:"threads" min:"1" max:"threads"`
	// Memory of the machine. A job starts only if its `memory` is free.
	//
	// Default: `host.memory` on a real machine, else unlimited.
	//
	//	memory = "16GiB"
	Memory int64 `arg:"memory,positive"`
	// The number of The number of The number of GPUs of the machine. A real job finds in `CUDA_VISIBLE_DEVICES` which
	// of them are its own; no other job has them meanwhile. On a machine without the GPUs that its jobs ask for, an
	// experiment ends with exit status 6.
	//
	// Default: `host.gpus` on {here}, else 0.
	//
	//	gpus = 2
	GPUs int `arg:"gpus" min:"0" max:"threads"`
	// The type of the GPUs, which `gpu` and `gpu_rate` of jobs name.
	//
	// Default: `host.gpu_type` on {here}.
	//
	//	gpu = "V100"
	GPU string `arg:"gpu"`
}

// nodeArgs are the arguments of node blocks that every engine has.
//
// Machines of a cluster, instead of `threads`, `memory` and `gpus`. Only on
// {clusters}.
type nodeArgs struct {
	// The number of machines of this kind.
	//
	//	count = 4
	Count int `arg:"count" default:"1" min:"1" max:"nodes"`
	// The cores of each machine.
	//
	//	threads = 16
	Threads int `arg:"threads,required" min:"1" max:"threads"`
	// The memory of each machine.
	//
	// Default: unlimited.
	//
	//	memory = "64GiB"
	Memory int64 `arg:"memory,positive"`
	// The GPUs of each machine.
	//
	//	gpus = 8
	GPUs int `arg:"gpus" default:"0" min:"0" max:"threads"`
	// The type of the GPUs, which `gpu` and `gpu_rate` of jobs name.
	//
	// Default: `host.gpu_type` on {here}.
	//
	//	gpu = "V100"
	GPU string `arg:"gpu"`
	// The rack of the machines: `nodes = "consolidated"` prefers nodes of one rack.
	//
	// Default: none in particular.
	//
	//	rack = "r1"
	Rack string `arg:"rack"`
}

// hardwareBlock returns the schema of the hardware block. The engines' arguments come from the registry of engines.
func hardwareBlock() *schema.Block {
	words := []string{
		"{engines}", enginesList(), "{first}", engine.Names(nil)[0],
		"{here}", engineList(func(k *engine.Kind) bool { return k.Here }),
		"{machines}", engineList(func(k *engine.Kind) bool { return k.Machine != nil && k.Nodes == nil }),
		"{told}", engineList(func(k *engine.Kind) bool { return k.Machine != nil && k.Nodes != nil }),
		"{others}", engineList(func(k *engine.Kind) bool { return k.Machine == nil }),
		"{clusters}", engineList(func(k *engine.Kind) bool { return k.Clusters }),
	}
	node := schema.BlockFor[nodeArgs](schema.Block{
		Name: "node", Label: "name", Unique: true, Args: argsOf(func(k *engine.Kind) []schema.Arg { return k.AllNodeArgs() }),
	})
	b := schema.BlockFor[hardwareArgs](schema.Block{
		Name: "hardware", Label: "name, read as `hardware.<name>`", Unique: true,
		Args:   argsOf(func(k *engine.Kind) []schema.Arg { return k.Args }),
		Blocks: append([]*schema.Block{language.Extended(language.Node, node).ReplaceWords(words...)}, engineBlocks()...),
	})
	b.Example = engineExamples()
	names := schema.Find(b.Args, "engine")
	for _, k := range engine.Kinds() {
		names.Allowed = append(names.Allowed, k.Name)
		names.Meanings += fmt.Sprintf("- `%s`: %s\n", k.Name, k.Doc)
	}
	return language.Extended(language.Hardware, b).ReplaceWords(words...)
}

func isContained(k *engine.Kind) bool { return k.Contained }

// enginesList describes the engines, one per line, for the reference.
func enginesList() (list string) {
	for _, k := range engine.Kinds() {
		list += fmt.Sprintf("\n- `%s` %s", k.Name, k.Doc)
	}
	return list
}

func engineExamples() string {
	shown := schema.Where(engine.Kinds(), func(k *engine.Kind) bool { return k.Example != "" })
	return strings.Join(schema.Each(shown, func(k *engine.Kind) string { return k.Example }), "\n\n")
}

// engineList names the engines that satisfy is, such as "`process` and `docker`".
func engineList(is func(*engine.Kind) bool) string {
	return schema.Listed(schema.Each(engine.Names(is), func(name string) string { return "`" + name + "`" }), "and")
}

// argsOf returns the arguments that some engines have, without repetitions. The text of each names the engines that
// read it.
func argsOf(of func(*engine.Kind) []schema.Arg) []schema.Arg {
	var args []schema.Arg
	for _, k := range engine.Kinds() {
		for _, a := range of(k) {
			if schema.Find(args, a.Name) != nil {
				continue
			}
			a.Doc += " Only on " + engineList(func(k *engine.Kind) bool { return schema.Find(of(k), a.Name) != nil }) + "."
			args = append(args, a)
		}
	}
	return args
}

// engineBlocks returns the blocks that some engines have, without repetitions. The text of each names the engines.
func engineBlocks() []*schema.Block {
	var blocks []*schema.Block
	for _, k := range engine.Kinds() {
		for _, b := range k.AllBlocks() {
			has := func(k *engine.Kind) bool {
				return slices.ContainsFunc(k.AllBlocks(), func(o *schema.Block) bool { return o.Name == b.Name })
			}
			if slices.ContainsFunc(blocks, func(o *schema.Block) bool { return o.Name == b.Name }) {
				continue
			}
			shown := *b
			shown.Doc = b.Doc + " Only on " + engineList(has) + "."
			blocks = append(blocks, &shown)
		}
	}
	return blocks
}
