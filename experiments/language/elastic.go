package language

import "github.com/tfexp/tfexp/experiments/schema"

// elasticBlock says how a job trains on any number of GPUs.
var elasticBlock = &schema.Block{
	Name: "elastic", Single: true,
	Doc: "The speed of a job in simulation that can go on with any number of GPUs, on however many nodes, and with " +
		"another batch size: how long its steps take, and what they are worth. Orders such as `optimus` and `pollux` " +
		"set the GPUs of such jobs anew in each round; under other policies it trains on its request. Its work is " +
		"`epochs`.\n\n" +
		"Either `measurements` has what was recorded of the program, or the arguments from `alpha_c` on have the law " +
		"of Pollux: a gradient over b samples takes a GPU Tg = `alpha_c` + `beta_c`·b seconds; its average over K " +
		"GPUs takes Tn = `alpha_r` + `beta_r`·max(K − 2, 0) seconds within a node and `alpha_n` + `beta_n`·max(K − " +
		"2, 0) across nodes; and a step both, (Tg^γ + Tn^γ)^(1/γ) with γ = `gamma`. With a batch s times as large as " +
		"`first_batch`, a sample is worth (v + q)/(v/s + q)/s, where q = `gradient_square` is the square of the " +
		"gradient's norm and v = `gradient_variance` its variance.\n\n" +
		"Measurements are a folder with `placements.csv` (columns `placement`, the GPUs on each node as digits, " +
		"`local_bsz`, the samples on each GPU, `step_time` and `sync_time`, in seconds), perhaps `scalability.csv` " +
		"(`num_nodes`, `num_replicas` and the same), and a file `validation-<batch size>.csv` for each recorded " +
		"training (a row an epoch: `progress` in samples of worth 1, divided by the first batch size, `iteration`, " +
		"`grad_sqr`, `grad_var`). Between what was measured, times are interpolated. The job learns the law from the " +
		"steps that it has made, as Pollux's agents do.",
	Example: `job "resnet" {
  command = ["train"]
  epochs  = 90
  gpus    = 2
  runtime {
    elastic {
      alpha_c           = 0.012
      beta_c            = 0.0035
      alpha_n           = 0.06
      beta_n            = 0.004
      alpha_r           = 0.02
      beta_r            = 0.001
      gamma             = 2.5
      gradient_square   = 0.002
      gradient_variance = 0.05
      samples           = 50000
      first_batch       = 128
      max_batch         = 2048
    }
  }
}`,
	Args: []schema.Arg{
		{Name: "measurements", Type: schema.String,
			Doc: "A folder with measurements of the program, or with a folder for each of several programs; or a tar " +
				"archive of such folders (`.tar`, `.tar.gz`, `.tgz`). Relative to the folder of the experiment file.",
			Example: `"pollux/traces.tar.gz"`},
		{Name: "program", Type: schema.String, DefaultDoc: "the name of the job",
			Doc: "Which of several programs the job is: the name of its folder.", Example: `"cifar10"`},
		{Name: "batch", Type: schema.Integer, Min: schema.Limit(1), Max: schema.Limit(1 << 30),
			DefaultDoc: "that of the trace, or `first_batch`",
			Doc: "The batch size of the job, in samples, under every policy. Without it, policies that choose batch " +
				"sizes do so, and under others it is that which the trace has for the job.",
			Example: `512`},
		{Name: "max_gpus", Type: schema.Integer, Min: schema.Limit(1), Max: schema.Limit(schema.MaxThreads),
			DefaultDoc: "what its batch allows",
			Doc:        "The most GPUs that the job can use.", Example: `8`},
		{Name: "resolution", Type: schema.Duration, DefaultDoc: "1ns",
			Doc:     "The ends of epochs are rounded to multiples of this, as in simulators that go on in steps.",
			Example: `"1s"`},
		{Name: "first_batch", Type: schema.Integer, Min: schema.Limit(1), Max: schema.Limit(1 << 30),
			DefaultDoc: "the least that was recorded",
			Doc:        "The batch size that the program was tuned for, and its least, in samples.", Example: `128`},
		{Name: "max_batch", Type: schema.Integer, Min: schema.Limit(1), Max: schema.Limit(1 << 30),
			DefaultDoc: "the greatest that was recorded, or `first_batch`",
			Doc:        "The greatest batch size, in samples.", Example: `4096`},
		{Name: "min_per_gpu", Type: schema.Integer, Min: schema.Limit(1), Max: schema.Limit(1 << 30),
			DefaultDoc: "the least that was measured, or 1",
			Doc:        "The fewest samples that a GPU takes at once.", Example: `8`},
		{Name: "max_per_gpu", Type: schema.Integer, Min: schema.Limit(1), Max: schema.Limit(1 << 30),
			DefaultDoc: "the most that was measured, or `max_batch`",
			Doc: "The most samples that a GPU takes at once. A larger batch is made of several gradients that are " +
				"added up.",
			Example: `256`},
		lawArg("alpha_c", "The constant time of a gradient, in seconds.", `0.012`),
		lawArg("beta_c", "The time of a gradient for each sample, in seconds.", `0.0035`),
		lawArg("alpha_r", "The time of an average over 2 GPUs of a node, in seconds.", `0.02`),
		lawArg("beta_r", "What each further GPU adds to `alpha_r`, in seconds.", `0.001`),
		lawArg("alpha_n", "The time of an average over 2 GPUs of two nodes, in seconds.", `0.06`),
		lawArg("beta_n", "What each further GPU adds to `alpha_n`, in seconds.", `0.004`),
		{Name: "gamma", Type: schema.Number, Min: schema.Limit(1), Max: schema.Limit(10), DefaultDoc: "1",
			Doc: "How far the gradient and the average overlap: 1 for not at all; the greater, the more.", Example: `2.5`},
		{Name: "gradient_square", Type: schema.Number, Min: schema.Limit(0), Max: schema.Limit(1e18),
			Doc: "The square of the norm of the gradient.", Example: `0.002`},
		{Name: "gradient_variance", Type: schema.Number, Min: schema.Limit(0), Max: schema.Limit(1e18),
			Doc: "The variance of the gradient over batches of `first_batch`.", Example: `0.05`},
		{Name: "samples", Type: schema.Integer, Min: schema.Limit(1), Max: schema.Limit(1 << 40),
			Doc: "The samples of an epoch.", Example: `50000`},
	},
}

// lawArg is a time of the law.
func lawArg(name, doc, example string) schema.Arg {
	return schema.Arg{
		Name: name, Type: schema.Number, Min: schema.Limit(0), Max: schema.Limit(1e6), DefaultDoc: "0",
		Doc: doc, Example: example,
	}
}
