package language

import "github.com/tfexp/tfexp/experiments/schema"

var runtimeBlock = &schema.Block{
	Name: "runtime", Single: true,
	Doc: "The run time of the job in simulation, if it is not to be estimated from samples. It is given by a " +
		"formula: `startup + epochs × epoch` on one thread (`steps × epoch` for a job with steps), and `parallel` or " +
		"`speedup` for more threads. Or it is given by measurements on several numbers of threads: a `table`, or a CSV " +
		"`file` with a column of threads and a column of seconds. Rows with the same number of threads are averaged. " +
		"Or a `cluster` block has the law by which a job with roles trains, or an `elastic` block how a job trains " +
		"whose GPUs change.\n\n" +
		"Between two measured numbers of threads, the speed (1 / time) is interpolated as a power of the threads: a " +
		"straight line on logarithmic axes. Below the smallest number, the speed is proportional to the threads. Above " +
		"the largest, it is constant: no job is faster than was measured.",
	Example: `job "given" {
  command = ["train"]
  epochs  = 100
  threads = 4
  runtime {
    startup  = "2s"
    epoch    = "500ms"
    parallel = 0.9
  }
}

job "drawn" {
  command = ["train"]
  epochs  = 1
  runtime { epoch = exponential("100s") }
}

job "measured" {
  command = ["train"]
  epochs  = 100
  threads = 4
  runtime { table = { 1 = "100s", 2 = "55s", 4 = "30s" } }
}

job "law" {
  command = ["train"]
  epochs  = 100
  threads = 8
  runtime {
    epoch   = "500ms"
    speedup = usl(0.05, 0.001)
  }
}`,
	Args: []schema.Arg{
		{
			Name: "startup", Type: schema.Duration, Default: `"0s"`,
			Doc: "The time before the first epoch, the same on any number of threads.", Example: `"2s"`,
		},
		{
			Name: "epoch", Type: schema.Gap, Positive: true, DefaultDoc: "required without `table` and `file`",
			Doc: "The time of one epoch (or step) on one thread: the same for all jobs of this block, or drawn " +
				"for each job from a distribution. Estimates know the drawn time; `noisy(…)` gives them an error.",
			Example: `exponential("500ms")`,
		},
		{
			Name: "parallel", Type: schema.Number, Default: `1`, Min: schema.Limit(0), Max: schema.Limit(1),
			Doc:     "The part of an epoch that gets faster with more threads, from 0 to 1 (Amdahl's law).",
			Example: `0.9`,
		},
		{
			Name: "speedup", Type: schema.SpeedUp, DefaultDoc: "by `parallel`",
			Doc: "How many times faster an epoch is than on one thread: a law, or a table, which is interpolated " +
				"like that of times.",
			Example: `{ 1 = 1, 2 = 1.8, 4 = 3.1 }`,
		},
		{
			Name: "table", Type: schema.ThreadTimes, Positive: true,
			Doc: "Run times of the whole job on several numbers of threads, instead of `startup`, `epoch` and " +
				"`parallel`.",
			Example: `{ 1 = "100s", 2 = "55s", 4 = "30s" }`,
		},
		{
			Name: "file", Type: schema.String,
			Doc: "A CSV file with such a table, relative to the folder of the experiment file. Its first line " +
				"names the columns.",
			Example: `"times.csv"`,
		},
		{
			Name: "threads_column", Type: schema.String, Default: `"threads"`,
			Doc: "The column of `file` that has the number of threads.", Example: `"cores"`,
		},
		{
			Name: "time_column", Type: schema.String, Default: `"seconds"`,
			Doc: "The column of `file` that has the seconds.", Example: `"time"`,
		},
		{
			Name: "where", Type: schema.StringMap, DefaultDoc: "all",
			Doc: "Selects rows of `file`: those with these texts in these columns.", Example: `{ model = "resnet" }`,
		},
		{
			Name: "per", Type: schema.String, Default: `"job"`, Allowed: []string{"job", "epoch"},
			Doc: "What the times of `table` and `file` measure: the whole job, or one epoch (or step), to which " +
				"`startup` is added.",
			Example: `"epoch"`,
		},
		{
			Name: "losses", Type: schema.String,
			Doc: "A CSV file with the training loss after each epoch (or step), in their order, which the job reports " +
				"in simulation; relative to the folder of the experiment file. It is for a job with a `target_loss`, " +
				"which is done after the first that is at or below it.",
			Example: `"losses.csv"`,
		},
		{
			Name: "loss_column", Type: schema.String, Default: `"loss"`,
			Doc: "The column of `losses` that has the loss.", Example: `"training_loss"`,
		},
		{
			Name: "final_accuracy", Type: schema.Number, Min: schema.Limit(0), Max: schema.Limit(1),
			Doc: "The accuracy that the job has at its end in simulation, for the tables.", Example: `0.92`,
		},
		{
			Name: "final_loss", Type: schema.Number, DefaultDoc: "the last of its `losses`",
			Doc: "The loss that the job has at its end in simulation, for the tables.", Example: `0.31`,
		},
		gpuRateArg,
		besideArg,
	},
	Blocks: []*schema.Block{clusterBlock, elasticBlock},
}
