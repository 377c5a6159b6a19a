package language

import (
	"fmt"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler/workload/formats"
)

func traceBlock() *schema.Block {
	return &schema.Block{
		Name: "trace", Single: true,
		Doc: "Jobs and their arrivals from a file. Jobs of `submit` blocks beside it are merged with them by " +
			"arrival; " +
			"each replicate draws these anew, and their running numbers skip names that the file has. A line that is " +
			"malformed, or requests more than the hardware has, is an error, with the file's name and line; " +
			"`--lenient` " +
			"leaves such lines out and counts them. The lines need not be in the order of arrivals. All " +
			"replicates have " +
			"the same jobs of the file: without `submit` blocks they differ only by the `noise` of simulated " +
			"hardware, " +
			"so give `replicates = 1` without it. The file may be compressed with gzip (`.gz`).\n\n" +
			formatList() + "\n" +
			"In simulation a job takes the run time in the file on its full request, and proportionally longer " +
			"on fewer " +
			"threads; a trace without run times uses those of the job block. Estimates are these run times, or " +
			"the times " +
			"that users requested under `estimates = \"requested\"`. What the file does not hold (such as " +
			"memory, GPUs, " +
			"nodes, whether a job is malleable) comes from the job block. To run for real, every job needs a job " +
			"block: " +
			"its program runs with the threads of the file.",
		Example: `workload "recorded" {
  trace {
    file       = "cluster.swf"
    time_scale = 0.5
    limit      = 1000
  }
}`,
		Args: append(traceArgs(), formatArgs()...),
	}
}

// formatList describes the trace formats, one a line.
func formatList() string {
	var b strings.Builder
	for _, f := range formats.All() {
		fmt.Fprintf(&b, "- `%s`: %s", f, f.Doc)
		switch names := f.Holds.Names(); {
		case f.Complete(): // its documentation says so
		case len(names) == 0:
			b.WriteString(" A file holds arrivals and threads only.")
		default:
			fmt.Fprintf(&b, " A file holds %s.", strings.Join(names, ", "))
		}
		if f.Writer == nil {
			b.WriteString(" The format can be read, but not written.")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// fileNames says by which endings of file names a format is recognised.
func fileNames() string {
	var parts []string
	for _, f := range formats.All() {
		for _, ending := range f.Endings {
			text := "`" + ending + "`"
			if ending != "."+f.Name {
				text += " (" + f.Name + ")"
			}
			parts = append(parts, text)
		}
	}
	return "by the file name: " + strings.Join(parts, ", ")
}

// formatArgs are the arguments that only some formats read.
func formatArgs() []schema.Arg {
	var args []schema.Arg
	for _, a := range formats.Args() {
		if len(a.Formats) < len(formats.All()) {
			a.Doc += " Only for `" + strings.Join(formats.Names(a.Formats), "`, `") + "`."
		}
		args = append(args, a.Arg)
	}
	return args
}

// traceArgs are the arguments that every format has.
func traceArgs() []schema.Arg {
	return []schema.Arg{
		{
			Name: "file", Type: schema.String, Required: true, Example: `"cluster.swf.gz"`,
			Doc: "The file, relative to the folder of the experiment file. When it changes, the cells run again.",
		},
		{
			Name: "format", Type: schema.String, Allowed: formats.Names(formats.All()), DefaultDoc: fileNames(),
			Doc: "The format of the file.", Example: `"requests"`,
		},
		{
			Name: "jobs", Type: schema.JobMap,
			DefaultDoc: "the job block with the name of the job's class, if there is one",
			Doc: "The job block of each job, by the name of the job (the instance of a request) or of its class " +
				"(the image of a request, the profile of Batsim).",
			Example: `{ "tensorflow:mlp" = job.deep }`,
		},
		{
			Name: "job", Type: schema.JobRef,
			Doc: "The job block of all jobs that `jobs` does not name.", Example: `job.deep`,
		},
		{
			Name: "time_scale", Type: schema.Number, Default: `1`, Min: schema.Limit(1e-9),
			Max: schema.Limit(1e9), Example: `0.5`,
			Doc: "A factor for the instants of arrivals and updates: with 0.5 jobs arrive twice as fast.",
		},
		{
			Name: "resolution", Type: schema.Duration, Positive: true, DefaultDoc: "none",
			Doc: "Scaled instants are rounded down to multiples of this.", Example: `"1s"`,
		},
		{
			Name: "start", Type: schema.Duration, DefaultDoc: "as in the file",
			Doc: "When the first job arrives; the others move with it.", Example: `"0s"`,
		},
		{
			Name: "min_runtime", Type: schema.Duration, Default: `"0s"`, Example: `"1s"`,
			Doc: "The least run time, and the least estimate, of the jobs of the file. Only for formats with run " +
				"times.",
		},
		{
			Name: "limit", Type: schema.Integer, Min: schema.Limit(1), Max: schema.Limit(schema.MaxJobs),
			DefaultDoc: "all",
			Doc:        "How many jobs to take: the first of the file.", Example: `1000`,
		},
		{
			Name: "throughputs", Type: schema.String, Example: `"throughputs.json.gz"`, DefaultDoc: "none",
			Doc: "A table of how fast each class of jobs is on each type of device, in steps per second: a CSV file with " +
				"the columns `job_type`, `device`, `workers` and `steps_per_s`, or the JSON of Gavel. Jobs without a job " +
				"block run on each type of GPU that the table and the hardware have; the policy can choose the type at each " +
				"start. For formats whose jobs have a number of steps.",
		},
		{
			Name: "threads_per_processor", Type: schema.Integer, Default: `1`, Min: schema.Limit(1),
			Max: schema.Limit(1024),
			Doc: "The number of cores that one processor of the file stands for.", Example: `2`,
		},
	}
}
