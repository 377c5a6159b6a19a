package language

import "github.com/tfexp/tfexp/experiments/schema"

// TraceFormats returns the names of the formats that traces are read in.
func TraceFormats() []string { return []string{"requests", "swf", "csv", "batsim"} }

func traceBlock() *schema.Block {
	return &schema.Block{
		Name: "trace", Single: true,
		Doc: "Jobs and their arrivals from a file. Jobs of `submit` blocks beside it are merged with them by arrival; each replicate draws these anew, and their running numbers pass over names that the file has. A line that is malformed, or asks for more than the hardware has, is an error, with the file's name and line; `--lenient` leaves such lines out and counts them. " +
			"The lines need not be in the order of arrivals. All replicates have the same jobs of the file: without `submit` blocks only `noise` tells them apart on simulated hardware, so give `replicates = 1` without it. The file may be packed by gzip (`.gz`).\n\n" +
			"- `requests`: a line is `execution|update,<instance>,<image or job>,<threads>,<wait s>[,<priority>]`; the wait is the time to the next line, and an update changes the request of an instance.\n" +
			"- `swf`: the Standard Workload Format. A job asks for the requested processors, or else those that it was allocated; its class is `job`, its user `user-<number>`, its memory the requested or else the used one, by processor. Partial executions (status 2 to 4) and jobs that were cancelled before they ran (status 5) are no jobs of their own, and left out.\n" +
			"- `batsim`: a workload of Batsim in JSON, with profiles of the type delay; its classes are the profiles.\n" +
			"- `csv`: what `tfexp export workload` writes.\n\n" +
			"In simulation a job takes the run time that the file tells, on its full request, and in proportion longer on fewer threads; where the file tells none, the job block does. Estimates are these run times, " +
			"or the times that users asked for under `estimates = \"requested\"`. What a file does not tell of a job (memory, GPUs, nodes, whether it is malleable) is that of its job block. To run for real, every job needs a job block, whose program it runs with the threads of the file.",
		Example: `workload "recorded" {
  trace {
    file       = "cluster.swf"
    time_scale = 0.5
    limit      = 1000
  }
}`,
		Args: []schema.Arg{
			{Name: "file", Type: schema.String, Required: true, Doc: "The file, relative to the folder of the experiment file. A change in it makes the cells run again.", Example: `"cluster.swf.gz"`},
			{Name: "format", Type: schema.String, Allowed: TraceFormats(), DefaultDoc: "by the name: `.requests`, `.swf`, `.csv`, `.json` (Batsim)", Doc: "What the file is.", Example: `"requests"`},
			{Name: "jobs", Type: schema.JobMap, DefaultDoc: "the job block with the name of the job's class, if there is one", Doc: "The job block of each job, by the name of the job (the instance of a request) or of its class (the image of a request, the profile of Batsim).", Example: `{ "tensorflow:mlp" = job.deep }`},
			{Name: "job", Type: schema.JobRef, Doc: "The job block of all jobs that `jobs` does not name.", Example: `job.deep`},
			{Name: "unit", Type: schema.Duration, Default: `"1s"`, Positive: true, Doc: "The unit of the times in the file.", Example: `"1ms"`},
			{Name: "time_scale", Type: schema.Number, Default: `1`, Min: schema.Limit(1e-9), Max: schema.Limit(1e9), Doc: "What the instants of arrivals and updates are multiplied by: 0.5 lets jobs arrive twice as fast.", Example: `0.5`},
			{Name: "resolution", Type: schema.Duration, Positive: true, DefaultDoc: "none", Doc: "Scaled instants are cut to whole multiples of this.", Example: `"1s"`},
			{Name: "start", Type: schema.Duration, DefaultDoc: "as in the file", Doc: "When the first job arrives; the others move with it.", Example: `"0s"`},
			{Name: "min_runtime", Type: schema.Duration, Default: `"0s"`, Doc: "The least run time, and the least estimate, of the jobs of the file.", Example: `"1s"`},
			{Name: "limit", Type: schema.Integer, Min: schema.Limit(1), Max: schema.Limit(schema.MaxJobs), DefaultDoc: "all", Doc: "How many jobs are taken: the first of the file.", Example: `1000`},
			{Name: "threads_per_processor", Type: schema.Integer, Default: `1`, Min: schema.Limit(1), Max: schema.Limit(1024), Doc: "The cores that one processor of the file stands for.", Example: `2`},
			{Name: "memory", Type: schema.Bool, Default: `true`, Doc: "Whether jobs ask for the memory that an SWF log tells; false leaves it to the job block. Only nodes with a `memory` account for it.", Example: `false`},
		},
	}
}
