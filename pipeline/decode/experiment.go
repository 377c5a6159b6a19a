package decode

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/tfexp/tfexp/experiments/schema"
)

// variableArgs are the arguments of a variable block.
//
// A value that you can set on the command line, with `-var name=value` or `-var-file`. A variable without a default
// must be set.
//
//	variable "quantum" {
//	  type        = duration
//	  default     = "1s"
//	  description = "How long a job runs before the next one's turn"
//	}
type variableArgs struct {
	// `string`, `number`, `bool`, `duration`, `size`, `any`, or a `list(…)` or `map(…)` of one of them.
	//
	// Default: the type of the default.
	//
	//	type = list(number)
	Type cty.Value `arg:"type" type:"type"`
	// The value if you set none.
	//
	//	default = "1s"
	Default cty.Value `arg:"default" type:"any"`
	// What the variable is for.
	//
	//	description = "Time slice"
	Description string `arg:"description"`
	// Whether the value is a secret, such as an API token: only the programs of jobs get it. A value that is computed
	// from it is sensitive, too. It may stand in `command`, behind the program, and in the values of `env`; elsewhere
	// it is an error. Plans, results and messages show `(sensitive)`. Keys of cached work have a hash of it, keyed with
	// `tfexp/key` in the folder of the user's configuration. The default may only be null or `""`, as results have a
	// copy of this file. `tfexp resume` needs the value again. The logs of jobs have what jobs print.
	//
	//	sensitive = true
	Sensitive bool `arg:"sensitive" default:"false"`
}

// validationArgs are the arguments of a validation block.
//
// A condition on the variable's value.
//
//	variable "jobs" {
//	  type    = number
//	  default = 6
//	  validation {
//	    condition     = var.jobs >= 1 && var.jobs <= 100
//	    error_message = "jobs must be from 1 to 100"
//	  }
//	}
type validationArgs struct {
	// True for the allowed values. It can read only this variable.
	//
	//	condition = var.jobs <= 100
	Condition cty.Value `arg:"condition,required" type:"condition"`
	// The error message if the condition is false.
	//
	//	error_message = "at most 100 jobs"
	ErrorMessage string `arg:"error_message,required"`
}

func variableBlock() *schema.Block {
	b := schema.BlockFor[variableArgs](schema.Block{Name: "variable", Label: "name, read as `var.<name>`", Unique: true})
	b.Blocks = []*schema.Block{schema.BlockFor[validationArgs](schema.Block{Name: "validation"})}
	return b
}

var localsBlock = &schema.Block{
	Name: "locals",
	Doc: "Names for values: other blocks read them as `local.<name>`. Locals can use variables, `host` and other locals, in any " +
		"order; a cycle is an error.",
	Example: `locals {
  cores = min(host.threads, 4)
  slow  = format("%ds", local.cores * 2)
}`,
	Free: &schema.Arg{Name: "<name>", Type: schema.Any, Doc: "A value of any type.", Example: `min(host.threads, 4)`},
}
