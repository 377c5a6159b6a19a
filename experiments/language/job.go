package language

import "github.com/tfexp/tfexp/experiments/schema"

func jobBlock() *schema.Block {
	return &schema.Block{
		Name: "job", Label: "name, read as `job.<name>`; also the class of its jobs in the results", Unique: true,
		Doc: "A training program, its total work and the resources that it requests. It has either a `builtin` " +
			"block or a `command`, and `epochs`, `steps` or a `budget`.",
		Example: `job "long" {
  builtin "mlp" { hidden = [64, 32] }
  epochs  = 60
  threads = 2
}

job "script" {
  command = ["python3", "train.py"]
  env     = { BATCH = "64" }
  steps   = 2000
  threads = { inter = 1, intra = 3 }
  limit   = "10m"
}`,
		Args: []schema.Arg{
			{
				Name: "command", Type: schema.Strings,
				Doc:     "The program and its arguments. The program follows the job contract (jobs/README.md).",
				Example: `["python3", "train.py"]`,
			},
			{
				Name: "dir", Type: schema.String, DefaultDoc: "the folder of the experiment file",
				Doc:     "The working directory of `command`; relative to the folder of the experiment file.",
				Example: `"../models"`,
			},
			{
				Name: "env", Type: schema.StringMap,
				Doc:     "More environment variables for `command`. tfexp itself sets those of the job contract.",
				Example: `{ BATCH = "64" }`,
			},
			{
				Name: "files", Type: schema.Strings, MayBeEmpty: true,
				Doc: "Files that `command` reads, and folders with all that is below them, relative to the folder of the " +
					"experiment file. If one changes, the cells that use it run again. What Python compiles and version " +
					"control keeps does not count.",
				Example: `["train.py", "data"]`,
			},
			{
				Name: "flags", Type: schema.Bool, Default: `false`,
				Doc: "Whether to append the hardware flags (`--cpu --numThreads N` or `--gpu --numGPUs N`) to " +
					"`command`.",
				Example: `true`,
			},
			{
				Name: "epochs", Type: schema.Integer, Min: schema.Limit(1), Max: schema.Limit(schema.MaxEpochs),
				Doc: "Total work, in passes over the training data.", Example: `60`,
			},
			{
				Name: "steps", Type: schema.Integer, Min: schema.Limit(1), Max: schema.Limit(schema.MaxEpochs),
				Doc: "Total work, in optimizer steps.", Example: `2000`,
			},
			{
				Name: "target_loss", Type: schema.Number, Min: schema.Limit(1e-12), Max: schema.Limit(1e12),
				Doc: "The training loss at which the job is done, even if epochs (or steps) are left: they are the " +
					"most that it may train. A program is told in `TFEXP_TARGET_LOSS`; one that ignores that goes " +
					"on to its end. `remaining.csv` and the report then show how well the time to the target was " +
					"predicted. In simulation the losses come from `losses` in the block `runtime`.",
				Example: `0.05`,
			},
			{
				Name: "threads", Type: schema.Threads, Default: `1`,
				Min: schema.Limit(1), Max: schema.Limit(schema.MaxThreads),
				Doc: "The cores that the job requests: a number, or an object that divides it between the inter-op " +
					"and the intra-op pool.",
				Example: `{ inter = 1, intra = 3 }`, Keys: threadKeys,
			},
			{
				Name: "malleable", Type: schema.Bool, Default: `false`,
				Doc: "Whether the job can be resized while it runs.", Example: `true`,
			},
			{
				Name: "gpus", Type: schema.Integer, Default: `0`, Min: schema.Limit(0),
				Max: schema.Limit(schema.MaxThreads),
				Doc: "The GPUs that the job requests.", Example: `1`,
			},
			gpuArg,
			{
				Name: "memory", Type: schema.Size, Positive: true,
				Doc: "The memory that the job requests. It starts only where so much is free.", Example: `"2GiB"`,
			},
			{
				Name: "nodes", Type: schema.Integer, Default: `1`, Min: schema.Limit(1),
				Max: schema.Limit(schema.MaxNodes),
				Doc: "The nodes over which `threads`, `gpus` and `memory` are divided evenly. The job starts on " +
					"all of them at once.",
				Example: `2`,
			},
			{
				Name: "priority", Type: schema.Integer, Default: `0`, Min: schema.Limit(0),
				Max: schema.Limit(1_000_000),
				Doc: "The job's level for the order `priority`; 0 is the best.", Example: `2`,
			},
			{
				Name: "deadline", Type: schema.Duration, Positive: true,
				Doc:     "The time after its arrival by which the job should be finished, for the order `edf`.",
				Example: `"1m"`,
			},
			{
				Name: "time_writer", Type: schema.String, Default: `"last"`,
				Allowed: []string{"first", "last", "longest"},
				Doc: "Which time-writer line of the output counts if `command` prints several, as programs with " +
					"several workers do: the `first`, the `last`, or the `longest` (with the most epochs).",
				Example: `"longest"`,
			},
			{
				Name: "limit", Type: schema.Duration, Positive: true,
				Doc: "A job that runs longer than this is stopped and counts as failed. Paused time does not " +
					"count.",
				Example: `"10m"`,
			},
			budgetArg,
			{
				Name: "retries", Type: schema.Integer, Default: `0`, Min: schema.Limit(0), Max: schema.Limit(100),
				Doc: "How often the job is started again after a failure: its program exited with a status other " +
					"than 0 or was killed, or its machine went away. It waits in the queue again, and may " +
					"continue from its checkpoint. Jobs do not fail in simulation.",
				Example: `2`,
			},
			imageArg(),
			{
				Name: "mounts", Type: schema.Strings, MayBeEmpty: true,
				Doc: "Folders or files that are mounted into the container: `source:target`, or " +
					"`source:target:ro` for read-only. The source is on the daemon's machine; a relative path " +
					"begins at the folder of the experiment file.",
				Example: `["../data:/data:ro"]`,
			},
			{
				Name: "workdir", Type: schema.String, DefaultDoc: "the image's own",
				Doc: "The working directory in the container.", Example: `"/work"`,
			},
		},
		Blocks: []*schema.Block{
			builtinBlock, progressBlock, runtimeBlock, recordedBlock, alternativeBlock, roleBlock, checkpointBlock,
		},
	}
}

// imageArg is the image of a job's container.
func imageArg() schema.Arg {
	return schema.Arg{
		Name: "image", Type: schema.String,
		Doc: "The image in which the job runs on " + engineList(isContained) + "; other engines ignore it. `command` " +
			"replaces the image's entry point. A `builtin` program needs an image with `tfexp` in its path " +
			"(jobs/builtin/build-image.sh).",
		Example: `"tfexp/tensorflow:latest"`,
	}
}

var budgetArg = schema.Arg{
	Name: "budget", Type: schema.Duration,
	Doc: "How long the job may train, in service time: waiting and pauses do not count, and all attempts do. When it is " +
		"used up the program evaluates the model of its last whole epoch, which the budget does not pay for, and ends; " +
		"a budget that is too short for an epoch gives the accuracy at the start. Epochs (or steps) are then the most " +
		"that the job trains, and may be left out. A program is told in `TFEXP_BUDGET` and, as `time_left`, in its " +
		"control file. One that still runs 10 s and a tenth of the budget after its end fails. `jobs.csv` has the " +
		"budget, how much of it was used, and what came after it.",
	Example: `"400s"`,
}

// trainer returns the arguments of a built-in program: the common ones, with
// its own in between.
func trainer(own ...schema.Arg) []schema.Arg {
	args := []schema.Arg{
		{
			Name: "learning_rate", Type: schema.Number, DefaultDoc: "0.001 for adam, 0.05 for sgd",
			Min: schema.Limit(1e-12), Max: schema.Limit(1e6),
			Doc: "The optimizer's step size.", Example: `0.01`,
		},
		{
			Name: "batch", Type: schema.Integer, Default: `32`, Min: schema.Limit(1), Max: schema.Limit(1_000_000),
			Doc: "Images per step.", Example: `64`,
		},
		{
			Name: "optimizer", Type: schema.String, Default: `"adam"`, Allowed: []string{"adam", "sgd"},
			Doc: "The optimizer.", Example: `"sgd"`,
		},
		{
			Name: "seed", Type: schema.Integer, Default: `1`, Min: schema.Limit(0), Max: schema.Limit(1 << 53),
			Doc: "The seed of the initial weights and of the order of the images.", Example: `3`,
		},
	}
	args = append(args, own...)
	return append(args, schema.Arg{
		Name: "decay", Type: schema.Number, DefaultDoc: "1", Min: schema.Limit(1e-6), Max: schema.Limit(1),
		Doc: "Factor on the learning rate after each epoch.", Example: `0.95`,
	}, schema.Arg{
		Name: "passes", Type: schema.Integer, Default: `1`, Min: schema.Limit(1), Max: schema.Limit(1_000_000),
		Doc: "Passes over the data in one epoch; more passes make the epoch longer.", Example: `10`,
	})
}

// deepened returns the arguments of a built-in program whose network can be
// deepened while it trains, behind its own.
func deepened(own ...schema.Arg) []schema.Arg {
	return append(own, schema.Arg{
		Name: "blocks", Type: schema.Integers, DefaultDoc: "one layer in each", Min: schema.Limit(1), Max: schema.Limit(64),
		Doc: "Layers in each block of the network: first the convolutions, then the hidden layers. Each layer of a " +
			"block has the size of its first one.",
		Example: `[1, 2]`,
	}, schema.Arg{
		Name: "activation", Type: schema.String, DefaultDoc: "relu", Allowed: []string{"relu", "tanh"},
		Doc:     "What follows each layer of a block. A network with `tanh` cannot be deepened while it trains.",
		Example: `"tanh"`,
	}, schema.Arg{
		Name: "restart_rate", Type: schema.Number, DefaultDoc: "as before it", Min: schema.Limit(1e-12),
		Max: schema.Limit(1e6),
		Doc: "The learning rate from which training goes on after a deepening.", Example: `0.001`,
	})
}

var builtinBlock = &schema.Block{
	Name: "builtin", Label: "program", Single: true,
	Labels: []string{"softmax", "svm", "mlp", "cnn"},
	Doc: "A training program that is part of tfexp. It learns to recognise handwritten digits in images of " +
		"8×8 pixels.",
	Example: `job "deep" {
  builtin "mlp" {
    hidden        = [64, 32]
    learning_rate = 0.002
  }
  epochs = 60
}`,
	ByLabel: []schema.Labelled{
		{Label: "softmax", Doc: "Softmax regression.", Args: trainer()},
		{Label: "svm", Doc: "A linear support vector machine with the hinge loss.", Args: trainer(
			schema.Arg{
				Name: "regularization", Type: schema.Number, Default: `0.0001`, Min: schema.Limit(0),
				Max: schema.Limit(1e6),
				Doc: "Weight of the L2 penalty.", Example: `0.001`}),
		},
		{Label: "mlp", Doc: "A multilayer perceptron.", Args: trainer(deepened(
			schema.Arg{
				Name: "hidden", Type: schema.Integers, Default: `[64]`, Min: schema.Limit(1), Max: schema.Limit(65536),
				Doc: "Units of each hidden layer.", Example: `[64, 32]`})...),
		},
		{
			Label: "cnn",
			Doc:   "A convolutional network: 3×3 filters, 2×2 pooling after the first, a hidden layer.",
			Args: trainer(deepened(
				schema.Arg{
					Name: "filters", Type: schema.Integers, Default: `[8, 16]`, Min: schema.Limit(1),
					Max: schema.Limit(4096),
					Doc: "Filters of each convolution.", Example: `[8, 16]`,
				},
				schema.Arg{
					Name: "hidden", Type: schema.Integer, Default: `64`, Min: schema.Limit(1), Max: schema.Limit(65536),
					Doc: "Units of the hidden layer.", Example: `128`,
				})...),
		},
	},
}
