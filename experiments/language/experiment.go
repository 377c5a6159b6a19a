package language

import "github.com/tfexp/tfexp/experiments/schema"

var experimentBlock = &schema.Block{
	Name: "experiment", Label: "name of the experiment, and of its folder of results",
	Single: true, Required: true,
	Doc: "Names the experiment, and sets how often each cell is repeated and how long it may run.",
	Example: `experiment "fcfs_vs_rr" {
  description = "Short jobs stuck behind long ones"
  seed        = 7
  replicates  = 5
}`,
	Args: []schema.Arg{
		{
			Name: "description", Type: schema.String,
			Doc:     "The question that the experiment asks, in a sentence; the report begins with it.",
			Example: `"Does round robin help short jobs?"`,
		},
		{
			Name: "seed", Type: schema.Integer, Default: `1`, Min: schema.Limit(0), Max: schema.Limit(1 << 53),
			Doc: "All random numbers are derived from this seed. The same seed gives the same arrivals.", Example: `7`,
		},
		{
			Name: "replicates", Type: schema.Integer, Default: `5`, Min: schema.Limit(1), Max: schema.Limit(100_000),
			Doc: "How often each cell is repeated, each time with different arrivals. Comparisons are paired by " +
				"replicate and need at least 3.",
			Example: `10`,
		},
		{
			Name: "records", Type: schema.String, Default: `"all"`, Allowed: []string{"all", "metrics"},
			Doc:     "What each cell leaves on disk: everything, or only its metrics (for cells with very many jobs).",
			Example: `"metrics"`,
		},
		{
			Name: "until", Type: schema.Duration, Positive: true, DefaultDoc: "no end",
			Doc: "The longest that a cell may run, in its own time (virtual on `simulated`). A cell with " +
				"unfinished jobs at that time is closed as saturated: its jobs are stopped, and it counts as " +
				"failed.",
			Example: `"24h"`,
		},
	},
}

var variableBlock = &schema.Block{
	Name: "variable", Label: "name, read as `var.<name>`", Unique: true,
	Doc: "A value that can be set from outside the file, by `-var name=value` or `-var-file`. A variable without " +
		"a default must be set.",
	Example: `variable "quantum" {
  type        = duration
  default     = "1s"
  description = "How long a job runs before the next one's turn"
}`,
	Args: []schema.Arg{
		{
			Name: "type", Type: schema.TypeName, DefaultDoc: "the type of the default",
			Doc: "`string`, `number`, `bool`, `duration`, `size`, `any`, or a `list(…)` or `map(…)` of one " +
				"of them.",
			Example: `list(number)`,
		},
		{Name: "default", Type: schema.Any, Doc: "The value if none is given.", Example: `"1s"`},
		{Name: "description", Type: schema.String, Doc: "What the variable is for.", Example: `"Time slice"`},
	},
	Blocks: []*schema.Block{{
		Name: "validation",
		Doc:  "A condition on the variable's value.",
		Example: `variable "jobs" {
  type    = number
  default = 6
  validation {
    condition     = var.jobs >= 1 && var.jobs <= 100
    error_message = "jobs must be from 1 to 100"
  }
}`,
		Args: []schema.Arg{
			{
				Name: "condition", Type: schema.Condition, Required: true,
				Doc: "True for the allowed values. It can read only this variable.", Example: `var.jobs <= 100`,
			},
			{
				Name: "error_message", Type: schema.String, Required: true,
				Doc: "The error message if the condition is false.", Example: `"at most 100 jobs"`,
			},
		},
	}},
}

var localsBlock = &schema.Block{
	Name: "locals",
	Doc: "Names for values, read as `local.<name>`. Locals can use variables, `host` and other locals, in any " +
		"order; a cycle is an error.",
	Example: `locals {
  cores = min(host.threads, 4)
  slow  = format("%ds", local.cores * 2)
}`,
	Free: &schema.Arg{Name: "<name>", Type: schema.Any, Doc: "A value of any type.", Example: `min(host.threads, 4)`},
}

// Facts are the facts of the host that expressions can read.
var Facts = []schema.Fact{
	{Name: "threads", Type: schema.Integer, Doc: "hardware threads that tfexp may use"},
	{Name: "cores", Type: schema.Integer, Doc: "physical cores"},
	{Name: "memory", Type: schema.Size, Doc: "main memory, as a size"},
	{Name: "gpus", Type: schema.Integer, Doc: "NVIDIA GPUs that tfexp may use"},
	{Name: "gpu_type", Type: schema.String, Doc: "model of the GPUs: `NVIDIA A100-SXM4-40GB`; empty without GPUs"},
	{Name: "os", Type: schema.String, Doc: "operating system: `linux`, `darwin`"},
	{Name: "arch", Type: schema.String, Doc: "architecture: `amd64`, `arm64`"},
	{Name: "cpu", Type: schema.String, Doc: "model of the processor"},
	{Name: "name", Type: schema.String, Doc: "host name"},
}
