package schema

// The largest counts that a file may ask for. They keep core numbers within 32
// bits, and a slip of the keyboard from filling the memory.
const (
	MaxThreads = 1 << 20
	MaxNodes   = 100_000
	MaxJobs    = 10_000_000
	MaxEpochs  = 1_000_000_000
)

// Engines are the engines that hardware may name.
var Engines = []string{"process", "simulated", "docker"}

// Capabilities are what an engine may lack.
var Capabilities = []string{"pause", "resize", "memory", "gpus"}

// PlotKinds are the kinds of pictures.
var PlotKinds = []string{"gantt", "jct", "metrics", "series", "cores", "predicted", "fidelity", "heatmap", "containers", "speedup"}

// Metrics are the numeric columns of metrics.csv, in its order.
var Metrics = []string{
	"jobs", "finished", "failed", "makespan_s", "throughput_per_h", "utilization",
	"mean_jct_s", "median_jct_s", "p95_jct_s", "mean_waiting_s", "mean_first_run_delay_s",
	"mean_service_s", "mean_slowdown", "p95_slowdown", "jain_fairness", "preemptions", "resizes",
	"mean_bounded_slowdown", "gpu_utilization",
}

// Language is the body of an experiment file.
var Language = &Block{
	Blocks: []*Block{
		experimentBlock, variableBlock, localsBlock, jobBlock, workloadBlock, hardwareBlock,
		policyBlock, matrixBlock, profileBlock, estimateBlock, compareBlock, plotBlock, thresholdBlock,
	},
}

var experimentBlock = &Block{
	Name: "experiment", Label: "name of the experiment, and of its folder of results",
	Single: true, Required: true,
	Doc: "Names the experiment and says how often each cell is repeated, and for how long it may go on.",
	Example: `experiment "fcfs_vs_rr" {
  description = "Short jobs stuck behind long ones"
  seed        = 7
  replicates  = 5
}`,
	Args: []Arg{
		{Name: "description", Type: String, Doc: "The question that the experiment asks, in a sentence; the report begins with it.", Example: `"Does round robin help short jobs?"`},
		{Name: "seed", Type: Integer, Default: `1`, Min: bound(0), Max: bound(1 << 53), Doc: "The number that every random draw is derived from. The same seed gives the same arrivals.", Example: `7`},
		{Name: "replicates", Type: Integer, Default: `5`, Min: bound(1), Max: bound(100_000), Doc: "How often each cell is repeated, each time with arrivals of its own. Comparisons are paired by replicate and need at least 3.", Example: `10`},
		{Name: "records", Type: String, Default: `"all"`, Allowed: []string{"all", "metrics"}, Doc: "What each cell leaves on disk: everything, or its metrics alone (for cells with very many jobs).", Example: `"metrics"`},
		{Name: "until", Type: Duration, Positive: true, DefaultDoc: "no end", Doc: "A horizon, in the time of the cell (virtual on `simulated`): a cell whose jobs are not done by then is closed as saturated. Its jobs are stopped, and it counts as failed.", Example: `"24h"`},
	},
}

var variableBlock = &Block{
	Name: "variable", Label: "name, read as `var.<name>`", Unique: true,
	Doc: "A value that can be set from outside of the file, by `-var name=value` or `-var-file`. A variable without a default must be set.",
	Example: `variable "quantum" {
  type        = duration
  default     = "1s"
  description = "How long a job runs before the next one's turn"
}`,
	Args: []Arg{
		{Name: "type", Type: TypeName, DefaultDoc: "whatever the default is", Doc: "`string`, `number`, `bool`, `duration`, `size`, `any`, `list(…)` or `map(…)` of one of them.", Example: `list(number)`},
		{Name: "default", Type: Any, Doc: "The value when none is given.", Example: `"1s"`},
		{Name: "description", Type: String, Doc: "What the variable is for.", Example: `"Time slice"`},
	},
	Blocks: []*Block{{
		Name: "validation",
		Doc:  "A condition on the variable's value.",
		Example: `variable "jobs" {
  type    = number
  default = 6
  validation {
    condition     = var.jobs >= 1 && var.jobs <= 100
    error_message = "jobs must be from 1 to 100"
  }
}`,
		Args: []Arg{
			{Name: "condition", Type: Condition, Required: true, Doc: "True for the values that are allowed. It can read this variable and no other.", Example: `var.jobs <= 100`},
			{Name: "error_message", Type: String, Required: true, Doc: "What to tell the user when the condition is false.", Example: `"at most 100 jobs"`},
		},
	}},
}

var localsBlock = &Block{
	Name: "locals",
	Doc:  "Names for values, read as `local.<name>`. Locals can use variables, `host` and one another in any order; a cycle is an error.",
	Example: `locals {
  cores = min(host.threads, 4)
  slow  = format("%ds", local.cores * 2)
}`,
	Free: &Arg{Name: "<name>", Type: Any, Doc: "A value of any type.", Example: `min(host.threads, 4)`},
}

var jobBlock = &Block{
	Name: "job", Label: "name, read as `job.<name>`; also the class of its jobs in the results", Unique: true,
	Doc: "A training program, its total work and the resources that it asks for. It has either a `builtin` block or a `command`, and either `epochs` or `steps`.",
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
	Args: []Arg{
		{Name: "command", Type: Strings, Doc: "The program and its arguments. It speaks the job contract (jobs/README.md).", Example: `["python3", "train.py"]`},
		{Name: "dir", Type: String, DefaultDoc: "the folder of the experiment file", Doc: "The working directory of `command`; relative to the folder of the experiment file.", Example: `"../models"`},
		{Name: "env", Type: StringMap, Doc: "Further environment variables for `command`; not those of the job contract, which tfexp sets.", Example: `{ BATCH = "64" }`},
		{Name: "files", Type: Strings, MayBeEmpty: true, Doc: "Files that `command` reads, relative to the folder of the experiment file. When one changes, the cells that use it run again.", Example: `["train.py"]`},
		{Name: "flags", Type: Bool, Default: `false`, Doc: "Whether to append the hardware flags (`--cpu --numThreads N` or `--gpu --numGPUs N`) to `command`.", Example: `true`},
		{Name: "epochs", Type: Integer, Min: bound(1), Max: bound(MaxEpochs), Doc: "Total work, in passes over the training data.", Example: `60`},
		{Name: "steps", Type: Integer, Min: bound(1), Max: bound(MaxEpochs), Doc: "Total work, in optimizer steps.", Example: `2000`},
		{Name: "threads", Type: Threads, Default: `1`, Min: bound(1), Max: bound(MaxThreads), Doc: "The cores that the job asks for: a number (one inter-op thread, the rest of the pool intra-op), or an object.", Example: `{ inter = 1, intra = 3 }`,
			Keys: threadKeys},
		{Name: "malleable", Type: Bool, Default: `false`, Doc: "Whether the job can be resized while it runs.", Example: `true`},
		{Name: "gpus", Type: Integer, Default: `0`, Min: bound(0), Max: bound(MaxThreads), Doc: "The GPUs that the job asks for.", Example: `1`},
		gpuArg,
		{Name: "memory", Type: Size, Doc: "The memory that the job is admitted with.", Example: `"2GiB"`},
		{Name: "nodes", Type: Integer, Default: `1`, Min: bound(1), Max: bound(MaxNodes), Doc: "The nodes over which `threads`, `gpus` and `memory` are divided evenly; all of them start together.", Example: `2`},
		{Name: "priority", Type: Integer, Default: `0`, Min: bound(0), Max: bound(1_000_000), Doc: "The job's level under the order `priority`; 0 is best.", Example: `2`},
		{Name: "deadline", Type: Duration, Positive: true, Doc: "When the job should be finished, counted from its arrival; the order `edf` reads it.", Example: `"1m"`},
		{Name: "time_writer", Type: String, Default: `"last"`, Allowed: []string{"first", "last", "longest"}, Doc: "Which time-writer line of the output counts when `command` prints several, as programs with several workers do: the `first`, the `last`, or the `longest` (the one with the most epochs).", Example: `"longest"`},
		{Name: "limit", Type: Duration, Positive: true, Doc: "A job that runs longer than this is ended and counts as failed. Time in which it is paused does not count.", Example: `"10m"`},
		{Name: "retries", Type: Integer, Default: `0`, Min: bound(0), Max: bound(100), Doc: "How often the job is started anew when it has failed while it ran: its program exited with another status than 0, was killed, or its machine went away. It waits in the queue again, and may go on from its checkpoint. Not in simulation, where nothing fails.", Example: `2`},
		{Name: "image", Type: String, Doc: "The image in which the job runs on the engine `docker`; the others do not read it. `command` replaces the image's entry point. A `builtin` program needs an image with `tfexp` in its path (jobs/builtin/build-image.sh).", Example: `"tfexp/tensorflow:latest"`},
		{Name: "mounts", Type: Strings, MayBeEmpty: true, Doc: "Folders or files that the container sees, `source:target`, or `source:target:ro` for one that it only reads. The source is of the daemon's machine; a relative one is relative to the folder of the experiment file.", Example: `["../data:/data:ro"]`},
		{Name: "workdir", Type: String, DefaultDoc: "the image's own", Doc: "The working directory in the container.", Example: `"/work"`},
	},
	Blocks: []*Block{builtinBlock, runtimeBlock, alternativeBlock},
}

// trainer returns the arguments of a built-in program: the common ones, with
// its own in between.
func trainer(own ...Arg) []Arg {
	args := []Arg{
		{Name: "learning_rate", Type: Number, DefaultDoc: "0.001 for adam, 0.05 for sgd", Min: bound(1e-12), Max: bound(1e6), Doc: "The optimizer's step size.", Example: `0.01`},
		{Name: "batch", Type: Integer, Default: `32`, Min: bound(1), Max: bound(1_000_000), Doc: "Images in a step.", Example: `64`},
		{Name: "optimizer", Type: String, Default: `"adam"`, Allowed: []string{"adam", "sgd"}, Doc: "The optimizer.", Example: `"sgd"`},
		{Name: "seed", Type: Integer, Default: `1`, Min: bound(0), Max: bound(1 << 53), Doc: "Seed of the initial weights and of the order of the images.", Example: `3`},
	}
	args = append(args, own...)
	return append(args, Arg{Name: "passes", Type: Integer, Default: `1`, Min: bound(1), Max: bound(1_000_000), Doc: "Passes over the data that make one epoch; more make a longer epoch.", Example: `10`})
}

var builtinBlock = &Block{
	Name: "builtin", Label: "program", Single: true,
	Labels: []string{"softmax", "svm", "mlp", "cnn"},
	Doc:    "A training program that is part of tfexp; it learns to read 8×8 images of handwritten digits.",
	Example: `job "deep" {
  builtin "mlp" {
    hidden        = [64, 32]
    learning_rate = 0.002
  }
  epochs = 60
}`,
	Variants: []Variant{
		{Label: "softmax", Doc: "Softmax regression.", Args: trainer()},
		{Label: "svm", Doc: "A linear support vector machine, by the hinge loss.", Args: trainer(
			Arg{Name: "regularization", Type: Number, Default: `0.0001`, Min: bound(0), Max: bound(1e6), Doc: "Weight of the L2 penalty.", Example: `0.001`})},
		{Label: "mlp", Doc: "A multilayer perceptron.", Args: trainer(
			Arg{Name: "hidden", Type: Integers, Default: `[64]`, Min: bound(1), Max: bound(65536), Doc: "Units of each hidden layer.", Example: `[64, 32]`})},
		{Label: "cnn", Doc: "A convolutional network: 3×3 filters, 2×2 pooling after the first, a hidden layer.", Args: trainer(
			Arg{Name: "filters", Type: Integers, Default: `[8, 16]`, Min: bound(1), Max: bound(4096), Doc: "Filters of each convolution.", Example: `[8, 16]`},
			Arg{Name: "hidden", Type: Integer, Default: `64`, Min: bound(1), Max: bound(65536), Doc: "Units of the hidden layer.", Example: `128`})},
	},
}

var workloadBlock = &Block{
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
	Blocks: []*Block{
		traceBlock,
		{
			Name: "submit",
			Doc:  "Like jobs that are submitted one after another, or all at once. They are named by class and a running number through the workload: `short-1`, `short-2`, …",
			Args: []Arg{
				{Name: "job", Type: JobRef, Required: true, Doc: "What is submitted.", Example: `job.short`},
				{Name: "count", Type: Integer, DefaultDoc: "1, or one for each instant of `at`", Min: bound(1), Max: bound(MaxJobs), Doc: "How many.", Example: `6`},
				{Name: "start", Type: Duration, Default: `"0s"`, Doc: "When submission begins, since the start of the cell. Without `interarrival` all jobs arrive then.", Example: `"10s"`},
				{Name: "interarrival", Type: Gap, Doc: "The time between arrivals: the same each time (the first job arrives at `start`), or drawn from a distribution (the first arrives one gap after `start`).", Example: `exponential("400ms")`},
				{Name: "at", Type: Instants, Doc: "Instants of arrival, since the start of the cell: one for all jobs, or one for each. Instead of `start` and `interarrival`.", Example: `["0s", "1.5s"]`},
				{Name: "at_file", Type: String, Doc: "A CSV file with a column of instants in seconds, relative to the folder of the experiment file, instead of `at`.", Example: `"arrivals.csv"`},
				{Name: "at_column", Type: String, Default: `"arrival_s"`, Doc: "The column's name in the first line of `at_file`.", Example: `"submitted"`},
				{Name: "priority", Type: Integer, DefaultDoc: "the job's", Min: bound(0), Max: bound(1_000_000), Doc: "Level of these jobs under the order `priority`.", Example: `1`},
				{Name: "deadline", Type: Duration, Positive: true, DefaultDoc: "the job's", Doc: "When each job should be finished, counted from its arrival; the order `edf` reads it.", Example: `"30s"`},
				{Name: "user", Type: String, Doc: "Who owns the jobs, for policies that are fair between users.", Example: `"ada"`},
			},
		},
		{
			Name: "resize",
			Doc:  "A change of one job's thread request. A running job must be malleable to grow; a waiting one uses the new request when it starts.",
			Args: []Arg{
				{Name: "at", Type: Duration, Required: true, Doc: "When, since the start of the cell.", Example: `"5s"`},
				{Name: "job", Type: String, Required: true, Doc: "Which job, by class and running number.", Example: `"long-1"`},
				{Name: "threads", Type: Integer, Required: true, Min: bound(1), Max: bound(MaxThreads), Doc: "The new request.", Example: `1`},
			},
		},
	},
}

var hardwareBlock = &Block{
	Name: "hardware", Label: "name, read as `hardware.<name>`", Unique: true,
	Doc: "A machine or a cluster, and the engine that runs jobs on it. The engine `process` runs them for real on this machine; `docker` runs them for real in containers, on one or several machines; `simulated` runs them in virtual time, on any cluster.",
	Example: `hardware "here" {
  engine  = "process"
  threads = host.threads
}

hardware "cluster" {
  engine = "simulated"
  noise  = 0.05
  node "big" {
    count   = 4
    threads = 16
    memory  = "64GiB"
  }
  overheads {
    start = "200ms"
    pause = "10ms"
  }
}

hardware "containers" {
  engine  = "docker"
  threads = host.threads
  pull    = "missing"
}`,
	Args: []Arg{
		{Name: "engine", Type: String, Required: true, Allowed: Engines, Doc: "What runs the jobs.", Example: `"process"`},
		{Name: "threads", Type: Integer, DefaultDoc: "`host.threads` on `process` and `docker`; required on `simulated` without nodes", Min: bound(1), Max: bound(MaxThreads), Doc: "Cores of the machine.", Example: `host.threads`},
		{Name: "memory", Type: Size, Positive: true, DefaultDoc: "`host.memory` on a real machine, else not accounted for", Doc: "Memory of the machine. Jobs are admitted while the sum of their `memory` stays within.", Example: `"16GiB"`},
		{Name: "gpus", Type: Integer, DefaultDoc: "`host.gpus` on `process`, else 0", Min: bound(0), Max: bound(MaxThreads), Doc: "GPUs of the machine. A real job is told in `CUDA_VISIBLE_DEVICES` which of them are its own; no other job has them meanwhile. On a machine without the GPUs that its jobs ask for, an experiment ends with exit status 6.", Example: `2`},
		gpuTypeArg,
		{Name: "noise", Type: Number, Default: `0`, Min: bound(0), Max: bound(10), Doc: "Relative standard deviation of run times (lognormal). Only on `simulated`.", Example: `0.05`},
		{Name: "lacks", Type: Strings, MayBeEmpty: true, Allowed: Capabilities, Doc: "What the simulated engine is told not to be able to do.", Example: `["pause"]`},
		{Name: "host", Type: String, DefaultDoc: "the daemon that the docker command would use (`DOCKER_HOST`)", Doc: "The address of the Docker daemon. Only on `docker`; several daemons are several node blocks.", Example: `"unix:///var/run/docker.sock"`},
		{Name: "cpus", Type: String, Default: `"cpuset"`, Allowed: []string{"cpuset", "quota"}, Doc: "Whether a container is bound to its own cores (`cpuset`), or may use all of them for as much time as it has cores (`quota`). Only on `docker`.", Example: `"quota"`},
		{Name: "network", Type: String, Default: `"none"`, Doc: "The network that containers are in: `none`, or one of the daemon's, such as `bridge`. Only on `docker`.", Example: `"bridge"`},
		{Name: "pull", Type: String, Default: `"never"`, Allowed: []string{"never", "missing", "always"}, Doc: "When images are fetched from their registry, before anything runs. Only on `docker`.", Example: `"missing"`},
		{Name: "privileges", Type: String, Default: `"none"`, Allowed: []string{"none", "default", "all"}, Doc: "What containers may do beyond computing: nothing (no capabilities, and no way to gain any), what Docker allows by default, or all that the machine can (`--privileged`). Only on `docker`.", Example: `"default"`},
		{Name: "user", Type: String, DefaultDoc: "your own user and group on this machine, the image's user on others", Doc: "The user, or `user:group`, that programs run as in the container; checkpoints belong to that user. Only on `docker`.", Example: `"root"`},
		{Name: "platform", Type: String, DefaultDoc: "the daemon's", Doc: "The platform of the images. Only on `docker`.", Example: `"linux/arm64"`},
	},
	Blocks: []*Block{
		{
			Name: "node", Label: "name", Unique: true,
			Doc: "Machines of a cluster, instead of `threads`, `memory` and `gpus`. On `simulated`; and on `docker`, where each is a daemon of its own.",
			Args: []Arg{
				{Name: "count", Type: Integer, Default: `1`, Min: bound(1), Max: bound(MaxNodes), Doc: "How many of them.", Example: `4`},
				{Name: "threads", Type: Integer, Required: true, Min: bound(1), Max: bound(MaxThreads), Doc: "Cores of each.", Example: `16`},
				{Name: "memory", Type: Size, Positive: true, DefaultDoc: "not accounted for", Doc: "Memory of each.", Example: `"64GiB"`},
				{Name: "gpus", Type: Integer, Default: `0`, Min: bound(0), Max: bound(MaxThreads), Doc: "GPUs of each.", Example: `8`},
				{Name: "host", Type: String, DefaultDoc: "the daemon that the docker command would use", Doc: "The address of the node's Docker daemon. Only on `docker`.", Example: `"tcp://node1:2375"`},
				gpuTypeArg,
			},
		},
		{
			Name: "overheads", Single: true,
			Doc: "Time that an action costs the job it is done to. Only on `simulated`. Without this block the times apply that were measured with the samples of the jobs; for jobs that are not sampled, because the file gives their `runtime`, there are none.",
			Args: []Arg{
				{Name: "start", Type: Duration, Default: `"0s"`, Doc: "To start.", Example: `"200ms"`},
				{Name: "pause", Type: Duration, Default: `"0s"`, Doc: "To pause.", Example: `"10ms"`},
				{Name: "resume", Type: Duration, Default: `"0s"`, Doc: "To resume.", Example: `"10ms"`},
				{Name: "resize", Type: Duration, Default: `"0s"`, Doc: "To resize.", Example: `"50ms"`},
			},
		},
		contentionBlock,
	},
}

// The orders that read a policy's other arguments.
var (
	// QuantumOrders look at the queue again after each quantum.
	QuantumOrders = []string{"round_robin", "las", "fair"}
	// PauseOrders take cores from running jobs whatever preemption says.
	PauseOrders = []string{"round_robin", "srtf", "las", "fair"}
	// ImpliedPreemption are the orders that imply preemption = "pause".
	ImpliedPreemption = []string{"srtf", "las"}
	// EstimateOrders and EstimateBackfills read run-time estimates.
	EstimateOrders    = []string{"sjf", "srtf", "allox"}
	EstimateBackfills = []string{"easy", "conservative"}
)

var policyBlock = &Block{
	Name: "policy", Label: "name, read as `policy.<name>`", Unique: true,
	Doc: "How jobs are scheduled: who is next (`order`, `backfill`), how much it gets (`allocation`), and whether running jobs give way (`preemption`). An argument that the others make meaningless is an error, not ignored.",
	Example: `policy "fcfs" { order = "fcfs" }

policy "rr" {
  order   = "round_robin"
  quantum = "1s"
}

policy "urgent" {
  order      = "priority"
  preemption = "pause"
  victims    = "longest_run"
  feedback   = "10s"
}`,
	Args: []Arg{
		{Name: "order", Type: String, Required: true, Allowed: []string{"fcfs", "round_robin", "priority", "sjf", "srtf", "las", "edf", "fair", "allox"},
			Doc: "Who is next: by arrival (`fcfs`); in turns of a quantum (`round_robin`); by level (`priority`); the shortest predicted run time (`sjf`) or remaining time (`srtf`); the least attained service (`las`); the earliest deadline (`edf`); the user, then job, that had least (`fair`); or by AlloX's matching of jobs to resources and positions that makes the mean JCT least (`allox`; T. N. Le and others, EuroSys 2020).", Example: `"round_robin"`},
		{Name: "quantum", Type: Duration, Positive: true, DefaultDoc: "required by `round_robin`, `las` and `fair`, an error on others", Doc: "How long a job runs before the order is looked at again.", Example: `"1s"`},
		{Name: "backfill", Type: String, Default: `"none"`, Allowed: []string{"none", "first_fit", "easy", "conservative"},
			Doc: "Whether a job that cannot start lets later ones pass: never (`none`), any that fits (`first_fit`), those that do not delay the first blocked job (`easy`), those that delay nobody (`conservative`).", Example: `"easy"`},
		{Name: "allocation", Type: String, Default: `"strict"`, Allowed: []string{"strict", "always_attend", "max_prop"},
			Doc: "How many cores a job gets: its full request or nothing (`strict`); what is free, up to its request (`always_attend`); a share in proportion to its request (`max_prop`).", Example: `"max_prop"`},
		{Name: "preemption", Type: String, Default: `"none"`, DefaultDoc: "`\"none\"`; `\"pause\"` under `srtf` and `las`, which imply it", Allowed: []string{"none", "pause"},
			Doc: "Whether a job that cannot start may pause running jobs that are worse in the order.", Example: `"pause"`},
		{Name: "victims", Type: String, Default: `"longest_run"`, Allowed: []string{"longest_run", "smallest_request"},
			Doc: "Which running jobs are paused first. Only with preemption.", Example: `"smallest_request"`},
		{Name: "feedback", Type: Duration, Positive: true, DefaultDoc: "off", Doc: "A waiting job's level improves by one each time it has waited this long. Only under the order `priority`.", Example: `"10s"`},
		{Name: "estimates", Type: Estimates, Default: `"fitted"`, Allowed: []string{"fitted", "oracle", "requested", "online"},
			Doc: "The run times that the policy is told: from samples (`fitted`), the true ones (`oracle`), the jobs' limits (`requested`), fitted ones with an error (`noisy(sigma)`, the standard deviation of the log error), or ones that begin as fitted and follow what jobs report while they run (`online`, or `online(sigma)` to begin with such an error). Only where something reads them: the orders `sjf`, `srtf`, `allox`, the backfills `easy` and `conservative`, the placement `earliest_finish`.", Example: `noisy(0.2)`},
		placementArg, alphaArg,
	},
}

var axisArg = &Arg{Name: "<axis>", Type: Values, Doc: "The values of an axis of your own, read as `each.<axis>` in job, workload, hardware and policy blocks.", Example: `["500ms", "1s"]`}

var matrixBlock = &Block{
	Name: "matrix", Single: true,
	Doc: "Which cells there are. Without it, every workload meets every hardware and every policy.",
	Example: `matrix {
  workload = [workload.mixed]
  policy   = [policy.fcfs, policy.rr]
  quantum  = ["500ms", "1s"]
}`,
	Args: []Arg{
		{Name: "workload", Type: Values, DefaultDoc: "all workloads", Doc: "The workloads.", Example: `[workload.mixed]`},
		{Name: "hardware", Type: Values, DefaultDoc: "all hardware", Doc: "The hardware.", Example: `[hardware.here]`},
		{Name: "policy", Type: Values, DefaultDoc: "all policies", Doc: "The policies.", Example: `[policy.fcfs, policy.rr]`},
	},
	Free: axisArg,
	Blocks: []*Block{
		{
			Name: "zip", Doc: "Axes that go together, first with first, second with second. Their lists have the same length.",
			Args: []Arg{
				{Name: "workload", Type: Values, Doc: "The workloads.", Example: `[workload.light, workload.heavy]`},
				{Name: "hardware", Type: Values, Doc: "The hardware.", Example: `[hardware.small, hardware.large]`},
				{Name: "policy", Type: Values, Doc: "The policies.", Example: `[policy.fcfs, policy.rr]`},
			},
			Free: axisArg,
		},
		{
			Name: "include", Doc: "A further point. What it leaves out of workload, hardware and policy takes all values that the matrix gives them.",
			Args: []Arg{
				{Name: "workload", Type: WorkloadRef, Doc: "The workload.", Example: `workload.mixed`},
				{Name: "hardware", Type: HardwareRef, Doc: "The hardware.", Example: `hardware.here`},
				{Name: "policy", Type: PolicyRef, Doc: "The policy.", Example: `policy.rr`},
			},
			Free: &Arg{Name: "<axis>", Type: Any, Doc: "The value of an axis.", Example: `"5s"`},
		},
		{
			Name: "exclude", Doc: "Points to leave out.",
			Args: []Arg{
				{Name: "when", Type: Condition, Required: true, Doc: "True for the points to leave out. It reads `each.<axis>`, also `each.workload`, `each.hardware` and `each.policy`, and `workload.name`, `hardware.name` and `policy.name` of the point.", Example: `policy.name == "rr" && each.quantum == "5s"`},
			},
		},
	},
}

var compareBlock = &Block{
	Name: "compare", Label: "metric: a column of metrics.csv, with or without its `_s`",
	Doc: "Asks for a comparison of every other policy with a baseline, paired by replicate.",
	Example: `compare "mean_jct" {
  baseline = policy.fcfs
}`,
	Args: []Arg{
		{Name: "baseline", Type: PolicyRef, Required: true, Doc: "The policy that the others are compared with.", Example: `policy.fcfs`},
		{Name: "level", Type: Number, Default: `0.95`, Min: bound(0.5), Max: bound(0.9999), Doc: "Level of the confidence interval.", Example: `0.99`},
	},
}

var plotBlock = &Block{
	Name: "plot", Label: "kind of picture", Labels: PlotKinds,
	Doc: "Selects a kind of picture: cores over time with a colour for each job (`gantt`), the distribution of completion times (`jct`), metrics with their intervals (`metrics`), metrics against a numeric axis of the matrix, a line a policy (`series`), cores in use (`cores`), predicted against actual run times (`predicted`), real cells above their simulation (`fidelity`), what containers used over time (`containers`), a metric over two axes of the matrix as tiles (`heatmap`), how many times faster jobs run along an axis, such as that of their threads, with Amdahl's law and the universal scalability law fitted to it (`speedup`). Without any plot block all kinds are drawn, but `speedup`, which has to be told its axis.",
	Example: `plot "gantt" {}

plot "metrics" {
  metric = "mean_waiting"
}

plot "heatmap" {}`,
	Args: []Arg{
		{Name: "metric", Type: String, DefaultDoc: "the chief ones; `mean_jct` for `heatmap`, `mean_service` for `speedup`", Doc: "The metric to draw. Only for `metrics`, `series`, `heatmap` and `speedup`.", Example: `"mean_waiting"`},
		{Name: "x", Type: String, DefaultDoc: "the first axis whose values are numbers or durations; required by `speedup`", Doc: "The axis of the matrix to draw against, by its name. Only for `series`, `heatmap` and `speedup`.", Example: `"quantum"`},
		{Name: "y", Type: String, DefaultDoc: "the next such axis", Doc: "The axis that goes up. Only for `heatmap`, which has both or neither.", Example: `"intra"`},
	},
}

// Facts are the facts of the host that expressions can read.
var Facts = []Fact{
	{"threads", Integer, "hardware threads that tfexp may use"},
	{"cores", Integer, "physical cores"},
	{"memory", Size, "main memory, as a size"},
	{"gpus", Integer, "NVIDIA GPUs that tfexp may use"},
	{"gpu_type", String, "model of the GPUs: `NVIDIA A100-SXM4-40GB`; empty without GPUs"},
	{"os", String, "operating system: `linux`, `darwin`"},
	{"arch", String, "architecture: `amd64`, `arm64`"},
	{"cpu", String, "model of the processor"},
	{"name", String, "host name"},
}
