package simulated

import "github.com/tfexp/tfexp/experiments/schema"

var contentionBlock = &schema.Block{
	Name: "contention", Single: true,
	Doc: "How jobs on one node slow each other down, by the cores that they hold. The law is given by its " +
		"parameters, or fitted when the file is read to measurements of like jobs that ran side by side: a CSV " +
		"`file` with the cores of each job, the number of jobs, and the seconds until all were done.\n\n" +
		"The law: a job on n cores keeps n / (1 + serial (n − 1)) of them busy; where the jobs of a node " +
		"together keep L busy, each is slowed by (1 + (L / C)^sharpness)^(1/sharpness), with C = capacity × " +
		"threads, against running alone, which has the slowdown 1. " +
		"All that a job has left is slowed, its start-up and its overheads too, from the instant at which a " +
		"neighbour starts, stops, pauses, resumes or changes its size. A gang goes as slowly as on its slowest " +
		"node. " +
		"Estimates are still those of jobs that run alone.",
	Example: `hardware "shared" {
  engine  = "simulated"
  threads = 16
  contention {
    capacity  = 0.8
    sharpness = 3
  }
}

hardware "measured" {
  engine  = "simulated"
  threads = 16
  contention {
    file             = "contention.csv"
    measured_threads = 64
  }
}`,
	Args: []schema.Arg{
		{Name: "serial", Type: schema.Number, Default: `0`, Min: schema.Limit(0), Max: schema.Limit(1),
			Doc: "The part of a job in which it keeps one core busy, however many it holds.", Example: `0.05`},
		{Name: "capacity", Type: schema.Number, Min: schema.Limit(1e-3), Max: schema.Limit(1e3),
			DefaultDoc: "required without `file`",
			Doc: "How many busy cores the node serves at full speed, as a part of its threads: below 1 where jobs wait " +
				"for the memory, or two threads share a core.", Example: `0.8`},
		{Name: "sharpness", Type: schema.Number, Default: `4`, Min: schema.Limit(0.2), Max: schema.Limit(20),
			Doc: "How suddenly the slowdown begins at the capacity; small numbers let it begin long before.", Example: `2`},
		{Name: "file", Type: schema.String,
			Doc: "A CSV file with measurements, relative to the folder of the experiment file. Its first line names the " +
				"columns.", Example: `"contention.csv"`},
		{Name: "measured_threads", Type: schema.Integer, Min: schema.Limit(1), Max: schema.Limit(schema.MaxThreads),
			DefaultDoc: "required with `file`",
			Doc:        "Cores of the machine that was measured.", Example: `64`},
		{Name: "cores_column", Type: schema.String, Default: `"cores"`,
			Doc: "The column of `file` with the cores of each job.", Example: `"Cores_Per_C"`},
		{Name: "jobs_column", Type: schema.String, Default: `"jobs"`,
			Doc: "The column of `file` with the number of jobs side by side.", Example: `"Containers"`},
		{Name: "time_column", Type: schema.String, Default: `"seconds"`,
			Doc: "The column of `file` with the seconds.", Example: `"Time"`},
		{Name: "where", Type: schema.StringMap, DefaultDoc: "all",
			Doc: "The rows of `file` that count: those with these texts in these columns.", Example: `{ model = "resnet" }`},
		{Name: "threads", Type: schema.Integer, Min: schema.Limit(1), Max: schema.Limit(schema.MaxThreads),
			DefaultDoc: "the threads of the node",
			Doc:        "The cores that the jobs of a node really share, where its `threads` promise more than there are.",
			Example:    `8`},
	},
}
