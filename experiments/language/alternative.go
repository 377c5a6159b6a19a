package language

import "github.com/tfexp/tfexp/experiments/schema"

// alternativeBlock has other resources on which a job can run.
var alternativeBlock = &schema.Block{
	Name: "alternative", Label: "name; the job's own request is called `cpu`, or `gpu` if it includes GPUs",
	Unique: true,
	Doc: "Other resources on which the job can run instead. The policy chooses the alternative with which the " +
		"job starts (`placement`, or the order `allox`); the job keeps it until it ends. The program is the " +
		"same, and learns from the job contract what it was given (`TFEXP_NUM_GPUS`, `CUDA_VISIBLE_DEVICES`, and " +
		"with `flags` also `--cpu --numThreads N` or `--gpu --numGPUs N`). Alternatives for which the hardware " +
		"never has room are left out there. A job with alternatives cannot be malleable, and needs the " +
		"allocation `strict`.",
	Example: `job "either" {
  command = ["train"]
  epochs  = 100
  threads = 4
  runtime { epoch = "8s" }
  alternative "gpu" {
    gpus = 1
    runtime {
      epoch    = "1s"
      gpu_rate = { K80 = 1, V100 = 4.2 }
    }
  }
}`,
	Args: []schema.Arg{
		{
			Name: "threads", Type: schema.Threads, Default: `1`, Min: schema.Limit(1),
			Max: schema.Limit(schema.MaxThreads),
			Doc: "The cores that the alternative requests, like those of the job.", Example: `2`, Keys: threadKeys[:3],
		},
		{
			Name: "gpus", Type: schema.Integer, Default: `0`, Min: schema.Limit(0),
			Max: schema.Limit(schema.MaxThreads),
			Doc: "The GPUs that the alternative requests.", Example: `1`,
		},
		gpuArg,
		{
			Name: "memory", Type: schema.Size, DefaultDoc: "the job's",
			Doc: "The memory that the alternative requests.", Example: `"2GiB"`,
		},
	},
	Blocks: []*schema.Block{runtimeBlock},
}

// threadKeys are the keys of a thread request. The first three are those of an
// alternative, which is never malleable.
var threadKeys = []schema.Arg{
	{
		Name: "request", Type: schema.Integer, Min: schema.Limit(1), Max: schema.Limit(schema.MaxThreads),
		Doc: "The request as one number, instead of `inter` and `intra`. There is one inter-op thread then.",
	},
	{
		Name: "inter", Type: schema.Integer, Min: schema.Limit(1), Max: schema.Limit(schema.MaxThreads),
		Doc: "Threads of the inter-op pool; the request is `inter + intra`.",
	},
	{
		Name: "intra", Type: schema.Integer, Min: schema.Limit(1), Max: schema.Limit(schema.MaxThreads),
		Doc: "Threads of the intra-op pool.",
	},
	{
		Name: "min", Type: schema.Integer, Min: schema.Limit(1), Max: schema.Limit(schema.MaxThreads),
		Doc: "The fewest cores on which a malleable job runs.",
	},
	{
		Name: "max", Type: schema.Integer, Min: schema.Limit(1), Max: schema.Limit(schema.MaxThreads),
		Doc: "The most cores that the job can use; at least the request.",
	},
}

var gpuArg = schema.Arg{
	Name: "gpu", Type: schema.String, DefaultDoc: "any",
	Doc: "The type of GPU that the job needs: the `gpu` of a node.", Example: `"V100"`,
}

var besideArg = schema.Arg{
	Name: "beside", Type: schema.Rates, DefaultDoc: "it shares its GPUs with no job",
	Doc: "The part of its speed that the job keeps when it shares its GPUs with a job of another block, or of this " +
		"one, by " +
		"the name of that block: 1 for all of it. A policy with `packing` lets two jobs share that both say this of each " +
		"other.",
	Example: `{ embedding = 0.9, transformer = 0.55 }`,
}

var gpuRateArg = schema.Arg{
	Name: "gpu_rate", Type: schema.Rates, DefaultDoc: "all GPUs are alike",
	Doc: "How many times faster than this run time the job is on each type of GPU. Only with `gpus`. Every type " +
		"that the hardware has needs a rate. For an `elastic` job, how many times faster a gradient is on it " +
		"than the block says: the average over GPUs takes as long on all.",
	Example: `{ K80 = 1, V100 = 4.2 }`,
}
