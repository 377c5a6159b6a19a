package language

import "github.com/tfexp/tfexp/experiments/schema"

var runtimeBlock = &schema.Block{
	Name: "runtime", Single: true,
	Doc: "How long the job takes in simulation, when it shall not come from measured samples. Either by formula: `startup + epochs × epoch` on one thread (`steps × epoch` for a job with steps), where epochs speed up with threads by `parallel` or `speedup`. " +
		"Or by measurements on several numbers of threads: a `table`, or a CSV `file` with a column of threads and one of seconds, whose rows of one number of threads are averaged.\n\n" +
		"Between the numbers of threads of a table the speed (1 / time) is a power of the threads: a straight line where both are drawn in logarithms. Below the smallest it falls in proportion to the threads; above the largest it stays what it was there, so that a table never promises more than was measured.",
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
		{Name: "startup", Type: schema.Duration, Default: `"0s"`, Doc: "Time before the first epoch, the same on any number of threads.", Example: `"2s"`},
		{Name: "epoch", Type: schema.Gap, Positive: true, DefaultDoc: "required without `table` and `file`", Doc: "Time of one epoch (or step) on one thread: the same for all jobs of this class, or drawn for each from a distribution. Estimates know what was drawn; `noisy(…)` gives them an error.", Example: `exponential("500ms")`},
		{Name: "parallel", Type: schema.Number, Default: `1`, Min: schema.Limit(0), Max: schema.Limit(1), Doc: "The part of an epoch that speeds up with threads, from 0 to 1 (Amdahl's law).", Example: `0.9`},
		{Name: "speedup", Type: schema.SpeedUp, DefaultDoc: "by `parallel`", Doc: "How many times faster than on one thread an epoch is: a law, or a table that is read between its numbers like that of times.", Example: `{ 1 = 1, 2 = 1.8, 4 = 3.1 }`},
		{Name: "table", Type: schema.ThreadTimes, Positive: true, Doc: "Run times of the whole job by its number of threads, instead of `startup`, `epoch` and `parallel`.", Example: `{ 1 = "100s", 2 = "55s", 4 = "30s" }`},
		{Name: "file", Type: schema.String, Doc: "A CSV file with such a table, relative to the folder of the experiment file. Its first line names the columns.", Example: `"times.csv"`},
		{Name: "threads_column", Type: schema.String, Default: `"threads"`, Doc: "The column of `file` with the number of threads.", Example: `"cores"`},
		{Name: "time_column", Type: schema.String, Default: `"seconds"`, Doc: "The column of `file` with the seconds.", Example: `"time"`},
		{Name: "where", Type: schema.StringMap, DefaultDoc: "all", Doc: "The rows of `file` that count: those with these texts in these columns.", Example: `{ model = "resnet" }`},
		{Name: "per", Type: schema.String, Default: `"job"`, Allowed: []string{"job", "epoch"}, Doc: "What the times of `table` and `file` are of: the whole job, or one epoch (step), to which `startup` is added.", Example: `"epoch"`},
		gpuRateArg,
	},
}
