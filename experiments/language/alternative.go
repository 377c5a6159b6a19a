package language

import "github.com/tfexp/tfexp/experiments/schema"

// alternativeBlock is another way in which a job can run.
var alternativeBlock = &schema.Block{
	Name: "alternative", Label: "name, beside that of the job's own request: `cpu`, or `gpu` if that asks for GPUs", Unique: true,
	Doc: "Another way in which the job can run, on other resources than it asks for itself. Which way it starts with is the policy's choice (`placement`, and the order `allox`); it keeps to it. " +
		"The program is the same: the job contract tells it what it was given (`TFEXP_NUM_GPUS`, `CUDA_VISIBLE_DEVICES`, and with `flags` also `--cpu --numThreads N` or `--gpu --numGPUs N`). " +
		"A way that the hardware never has room for is left out there. A job with alternatives keeps what it starts with, so it cannot be malleable, and wants the allocation `strict`.",
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
		{Name: "threads", Type: schema.Threads, Default: `1`, Min: schema.Limit(1), Max: schema.Limit(schema.MaxThreads), Doc: "The cores that it asks for, like those of the job.", Example: `2`, Keys: threadKeys[:3]},
		{Name: "gpus", Type: schema.Integer, Default: `0`, Min: schema.Limit(0), Max: schema.Limit(schema.MaxThreads), Doc: "The GPUs that it asks for.", Example: `1`},
		gpuArg,
		{Name: "memory", Type: schema.Size, DefaultDoc: "the job's", Doc: "The memory that it is admitted with.", Example: `"2GiB"`},
	},
	Blocks: []*schema.Block{runtimeBlock},
}

// threadKeys are those of a thread request; a rigid job has the first three.
var threadKeys = []schema.Arg{
	{Name: "request", Type: schema.Integer, Min: schema.Limit(1), Max: schema.Limit(schema.MaxThreads), Doc: "The request as one number; instead of `inter` and `intra`."},
	{Name: "inter", Type: schema.Integer, Min: schema.Limit(1), Max: schema.Limit(schema.MaxThreads), Doc: "Inter-op threads; the request is `inter + intra`."},
	{Name: "intra", Type: schema.Integer, Min: schema.Limit(1), Max: schema.Limit(schema.MaxThreads), Doc: "Intra-op threads."},
	{Name: "min", Type: schema.Integer, Min: schema.Limit(1), Max: schema.Limit(schema.MaxThreads), Doc: "The fewest cores that a malleable job holds."},
	{Name: "max", Type: schema.Integer, Min: schema.Limit(1), Max: schema.Limit(schema.MaxThreads), Doc: "The most cores that the job makes use of; at least the request."},
}

var gpuArg = schema.Arg{Name: "gpu", Type: schema.String, DefaultDoc: "any", Doc: "The type of GPU that it wants, as nodes name theirs.", Example: `"V100"`}

var gpuRateArg = schema.Arg{Name: "gpu_rate", Type: schema.Rates, DefaultDoc: "GPUs are all alike", Doc: "How many times faster than this run time says an epoch is, by the type of the GPUs that the job is given. Only with `gpus`; all types of the hardware have a rate.", Example: `{ K80 = 1, V100 = 4.2 }`}
