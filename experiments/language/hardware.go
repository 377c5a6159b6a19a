package language

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/engine"
)

// hardwareBlock is a machine or a cluster. What each engine adds to it comes from the registry of engines.
func hardwareBlock() *schema.Block {
	own := func(k *engine.Kind) []schema.Arg { return k.Args }
	ownOfNodes := func(k *engine.Kind) []schema.Arg { return k.NodeArgs }
	return &schema.Block{
		Name: "hardware", Label: "name, read as `hardware.<name>`", Unique: true,
		Doc:     "A machine or a cluster, and the engine that runs jobs on it. " + engineSentence(),
		Example: engineExamples(),
		Args:    append(machineArgs(), argsOf(own)...),
		Blocks:  append([]*schema.Block{nodeBlock(argsOf(ownOfNodes))}, engineBlocks()...),
	}
}

// machineArgs are the arguments that hardware of every engine has.
func machineArgs() []schema.Arg {
	return []schema.Arg{
		{Name: "engine", Type: schema.String, Required: true, Allowed: engine.Names(nil),
			Doc: "The engine that runs the jobs.", Example: fmt.Sprintf("%q", engine.Names(nil)[0])},
		{Name: "threads", Type: schema.Integer, Min: schema.Limit(1), Max: schema.Limit(schema.MaxThreads),
			DefaultDoc: fmt.Sprintf("`host.threads` on %s; required on %s without nodes",
				engineList(hasMachine), engineList(func(k *engine.Kind) bool { return !hasMachine(k) })),
			Doc: "Cores of the machine.", Example: `host.threads`},
		{Name: "memory", Type: schema.Size, Positive: true,
			DefaultDoc: "`host.memory` on a real machine, else unlimited",
			Doc:        "Memory of the machine. A job starts only if its `memory` is free.", Example: `"16GiB"`},
		{Name: "gpus", Type: schema.Integer, Min: schema.Limit(0), Max: schema.Limit(schema.MaxThreads),
			DefaultDoc: fmt.Sprintf("`host.gpus` on %s, else 0", engineList(isHere)),
			Doc: "GPUs of the machine. A real job finds in `CUDA_VISIBLE_DEVICES` which of them are its own; no " +
				"other job has them meanwhile. On a machine without the GPUs that its jobs ask for, an " +
				"experiment ends with exit status 6.",
			Example: `2`,
		},
		gpuTypeArg(),
	}
}

// gpuTypeArg is the type of a machine's GPUs.
func gpuTypeArg() schema.Arg {
	return schema.Arg{Name: "gpu", Type: schema.String,
		DefaultDoc: fmt.Sprintf("`host.gpu_type` on %s", engineList(isHere)),
		Doc:        "The type of its GPUs, to which `gpu` and `gpu_rate` of jobs refer.", Example: `"V100"`}
}

// nodeBlock is a machine of a cluster.
func nodeBlock(own []schema.Arg) *schema.Block {
	return &schema.Block{
		Name: "node", Label: "name", Unique: true,
		Doc: "Machines of a cluster, instead of `threads`, `memory` and `gpus`. Only on " + engineList(hasClusters) + ".",
		Args: append([]schema.Arg{
			{Name: "count", Type: schema.Integer, Default: `1`, Min: schema.Limit(1), Max: schema.Limit(schema.MaxNodes),
				Doc: "The number of such machines.", Example: `4`},
			{Name: "threads", Type: schema.Integer, Required: true, Min: schema.Limit(1), Max: schema.Limit(schema.MaxThreads),
				Doc: "Cores of each.", Example: `16`},
			{Name: "memory", Type: schema.Size, Positive: true, DefaultDoc: "unlimited", Doc: "Memory of each.",
				Example: `"64GiB"`},
			{Name: "gpus", Type: schema.Integer, Default: `0`, Min: schema.Limit(0), Max: schema.Limit(schema.MaxThreads),
				Doc: "GPUs of each.", Example: `8`},
			gpuTypeArg(),
			{Name: "rack", Type: schema.String, DefaultDoc: "none in particular",
				Doc: "The rack in which they stand: policies with `nodes = \"consolidated\"` take the nodes of one rack " +
					"before others.", Example: `"r1"`},
		}, own...),
	}
}

func hasMachine(k *engine.Kind) bool  { return k.Machine != nil }
func hasClusters(k *engine.Kind) bool { return k.Clusters }
func isHere(k *engine.Kind) bool      { return k.Here }
func isContained(k *engine.Kind) bool { return k.Contained }

// engineSentence says what each engine does.
func engineSentence() string {
	var parts []string
	for _, k := range engine.Kinds() {
		parts = append(parts, fmt.Sprintf("`%s` %s", k.Name, k.Doc))
	}
	return "The engine " + strings.Join(parts, "; ") + "."
}

func engineExamples() string {
	var examples []string
	for _, k := range engine.Kinds() {
		if k.Example != "" {
			examples = append(examples, k.Example)
		}
	}
	return strings.Join(examples, "\n\n")
}

// engineList names the engines for which is holds: "`process` and `docker`".
func engineList(is func(*engine.Kind) bool) string {
	names := engine.Names(is)
	for i, n := range names {
		names[i] = "`" + n + "`"
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// argsOf are the arguments that some engines have, each once, with the engines that read it.
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

// engineBlocks are the blocks that some engines have, likewise.
func engineBlocks() []*schema.Block {
	var blocks []*schema.Block
	for _, k := range engine.Kinds() {
		for _, b := range k.Blocks {
			has := func(k *engine.Kind) bool {
				return slices.ContainsFunc(k.Blocks, func(o *schema.Block) bool { return o.Name == b.Name })
			}
			if slices.ContainsFunc(blocks, func(o *schema.Block) bool { return o.Name == b.Name }) {
				continue
			}
			shown := *b
			shown.Doc = "Only on " + engineList(has) + ". " + b.Doc
			blocks = append(blocks, &shown)
		}
	}
	return blocks
}
