package language

import "github.com/tfexp/tfexp/experiments/schema"

func workloadBlock() *schema.Block {
	return &schema.Block{
		Name: "workload", Label: "name, read as `workload.<name>`", Unique: true,
		Doc: "Jobs with their arrival times, and requests to resize them while they run.",
		Example: `workload "mixed" {
  submit {
    job   = job.long
    count = 2
  }
  submit {
    job          = job.short
    count        = 6
    interarrival = exponential("400ms")
  }
  resize {
    at      = "5s"
    job     = "long-1"
    threads = 1
  }
}`,
		Blocks: []*schema.Block{
			traceBlock(),
			{
				Name: "submit",
				Doc: "Jobs of one job block, submitted one after another or all at once. Their names are that " +
					"of the block and a number: `short-1`, `short-2`, …",
				Args: []schema.Arg{
					{
						Name: "job", Type: schema.JobRef, Required: true,
						Doc: "The job that is submitted.", Example: `job.short`,
					},
					{
						Name: "count", Type: schema.Integer, DefaultDoc: "1, or one for each time of `at`",
						Min: schema.Limit(1), Max: schema.Limit(schema.MaxJobs),
						Doc: "The number of jobs.", Example: `6`,
					},
					{
						Name: "start", Type: schema.Duration, Default: `"0s"`,
						Doc: "The time since the start of the cell at which submission begins. Without " +
							"`interarrival`, all jobs arrive then.",
						Example: `"10s"`,
					},
					{
						Name: "interarrival", Type: schema.Gap,
						Doc: "The time between arrivals: constant (the first job arrives at `start`), or drawn " +
							"from a distribution (the first job arrives one gap after `start`).",
						Example: `exponential("400ms")`,
					},
					{
						Name: "at", Type: schema.Instants,
						Doc: "Arrival times since the start of the cell: one for all jobs, or one for each job. " +
							"Instead of `start` and `interarrival`.",
						Example: `["0s", "1.5s"]`,
					},
					{
						Name: "at_file", Type: schema.String,
						Doc: "A CSV file with a column of arrival times in seconds, relative to the folder of " +
							"the experiment file; instead of `at`.",
						Example: `"arrivals.csv"`,
					},
					{
						Name: "at_column", Type: schema.String, Default: `"arrival_s"`,
						Doc: "The column's name in the first line of `at_file`.", Example: `"submitted"`,
					},
					{
						Name: "priority", Type: schema.Integer, DefaultDoc: "the job's", Min: schema.Limit(0),
						Max: schema.Limit(1_000_000),
						Doc: "The level of these jobs for the order `priority`.", Example: `1`,
					},
					{
						Name: "deadline", Type: schema.Duration, Positive: true, DefaultDoc: "the job's",
						Doc: "The time after its arrival by which each job should be finished, for the order " +
							"`edf`.",
						Example: `"30s"`,
					},
					{
						Name: "budget", Type: schema.Duration, DefaultDoc: "the job's",
						Doc: "How long each of these jobs may train.", Example: `"400s"`,
					},
					{
						Name: "user", Type: schema.String,
						Doc: "The owner of the jobs, for policies that are fair between users.", Example: `"ada"`,
					},
				},
			},
			changesBlock(),
			{
				Name: "resize",
				Doc: "Changes the thread request of one job. A running job is resized if it is malleable; a " +
					"waiting job uses the new request when it starts.",
				Args: []schema.Arg{
					{
						Name: "at", Type: schema.Duration, Required: true,
						Doc: "The time of the change since the start of the cell.", Example: `"5s"`,
					},
					{
						Name: "job", Type: schema.String, Required: true,
						Doc: "The name of the job, such as `long-1`.", Example: `"long-1"`,
					},
					{
						Name: "threads", Type: schema.Integer, Required: true, Min: schema.Limit(1),
						Max: schema.Limit(schema.MaxThreads),
						Doc: "The new request.", Example: `1`,
					},
				},
			},
		},
	}
}

// changesBlock changes what jobs are given while they train.
func changesBlock() *schema.Block {
	return &schema.Block{
		Name: "changes",
		Doc: "Changes the thread request while jobs train: as `resize`, and of all jobs of the workload unless `job` names " +
			"one. Programs of jobs with a `budget` are told their new allotment, whether it went up or down, and the time " +
			"that is left. A change after the end of a job does nothing.",
		Example: `job "net" {
  builtin "cnn" {}
  budget    = "400s"
  threads   = 1
  malleable = true
}

workload "grows" {
  submit { job = job.net }
  changes {
    at      = "70s"
    threads = 2
  }
}`,
		Args: []schema.Arg{
			{
				Name: "at", Type: schema.Duration, Required: true,
				Doc: "The time of the change since the start of the cell.", Example: `"70s"`,
			},
			{
				Name: "threads", Type: schema.Integer, Required: true, Min: schema.Limit(1),
				Max: schema.Limit(schema.MaxThreads),
				Doc: "The new request.", Example: `2`,
			},
			{
				Name: "job", Type: schema.String, DefaultDoc: "all jobs of the workload",
				Doc: "The name of the job, such as `long-1`.", Example: `"long-1"`,
			},
		},
	}
}
