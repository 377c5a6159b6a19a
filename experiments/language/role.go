package language

import "github.com/tfexp/tfexp/experiments/schema"

// roleBlock is the parts of a job that has several.
var roleBlock = &schema.Block{
	Name: "role", Label: "`worker`, `ps`, `chief`, or another name that the program knows", Unique: true,
	Doc: "The parts of a job whose program runs several times, as parameter servers and workers do. The parts are " +
		"started together, on one node or on several, and told their role, their number and the addresses of all " +
		"(`TFEXP_ROLE`, `TFEXP_TASK`, `TFEXP_CLUSTER`, `TF_CONFIG`). The job ends when its chief does, or worker 0 " +
		"where there is no chief; then the other parts are ended. Built-in programs have the roles `ps`, `worker` and " +
		"`chief`. `threads` and `gpus` of the job are the sums over its parts.",
	Example: `job "cluster" {
  builtin "cnn" {}
  epochs = 10
  role "worker" {
    count   = 2
    elastic = true
  }
  role "ps" {
    count   = 1
    threads = 0
  }
}`,
	Args: []schema.Arg{
		{
			Name: "count", Type: schema.Integer, Required: true, Min: schema.Limit(1), Max: schema.Limit(schema.MaxNodes),
			Doc: "How many parts of this role the job has.", Example: `4`,
		},
		{
			Name: "threads", Type: schema.Integer, Default: `1`, Min: schema.Limit(0), Max: schema.Limit(schema.MaxThreads),
			Doc: "The cores of each part. A part with 0 is on the node of the job's first part that has some, and " +
				"shares the cores of the job there.", Example: `2`,
		},
		{
			Name: "gpus", Type: schema.Integer, Default: `0`, Min: schema.Limit(0), Max: schema.Limit(schema.MaxThreads),
			Doc: "The GPUs of each part.", Example: `1`,
		},
		{
			Name: "gpu", Type: schema.String, DefaultDoc: "any type",
			Doc: "The type of GPU that the node of each part must have.", Example: `"V100"`,
		},
		{
			Name: "elastic", Type: schema.Bool, Default: `false`,
			Doc: "Whether the job goes on when a part of this role is lost with its node, or fails by itself. It does not " +
				"go on without the part that ends it. A part that was lost starts again as soon as there is room for it that " +
				"no waiting job can use; one that failed does not, until the job starts anew or another number of parts is " +
				"asked for.",
			Example: `true`,
		},
		{
			Name: "vital", Type: schema.Bool, Default: `false`,
			Doc: "Whether the loss of a part of this role ends the attempt, even if the role is elastic. That of the " +
				"part that ends the job always does, and so does one of a role that is not elastic.", Example: `true`,
		},
		{
			Name: "min", Type: schema.Integer, Min: schema.Limit(1), Max: schema.Limit(schema.MaxNodes),
			DefaultDoc: "1", Doc: "How many parts of an elastic role the job needs to go on.", Example: `2`,
		},
		{
			Name: "max", Type: schema.Integer, Min: schema.Limit(1), Max: schema.Limit(schema.MaxNodes),
			DefaultDoc: "`count`", Doc: "How many parts of an elastic role the job can have while it runs, when it is " +
				"given more than `count`.",
			Example: `8`,
		},
	},
}
