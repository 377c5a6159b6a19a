package experiment

import (
	"slices"
	"strconv"
	"time"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/workload"
)

// GPURate is the speed of a job on a type of GPU, relative to its run time in the file.
type GPURate struct {
	Type string
	Rate float64
}

// Length is the job's total work in epochs or steps; 0 for an open job.
func (j *Job) Length() int { return max(j.Epochs, j.Steps) }

// EndPart is a part of a job that can end the job before all its work is done.
type EndPart interface {
	// DoneAfter returns the epochs (or steps) after which the job is done in simulation.
	DoneAfter(*Job) int
	// End names the condition that ends the job ("its target loss"); When describes it for keys ("at a loss of 0.3").
	End() string
	When() string
}

// Done returns the epochs (or steps) after which the job is done in simulation: all of them, or fewer if a part ends
// it.
func (j *Job) Done() int {
	all := j.Length()
	EachPart(j.Parts, func(p EndPart) { all = min(all, p.DoneAfter(j)) })
	return all
}

// EndsEarly reports whether a part can end the job before all its work is done.
func (j *Job) EndsEarly() bool { _, ok := PartOf[EndPart](j.Parts); return ok }

// RateOn returns the speed of the job on a type of GPU; false if the file gives no speed for this type. If the file
// names no types, every GPU has the rate 1.
func (r *Runtime) RateOn(gpu string) (float64, bool) {
	if len(r.GPURates) == 0 {
		return 1, true
	}
	for _, g := range r.GPURates {
		if g.Type == gpu {
			return g.Rate, true
		}
	}
	return 0, false
}

// AlternativeName returns the name of the alternative that j is. For the job's own request it returns "cpu" or "gpu".
func (j *Job) AlternativeName() string {
	switch {
	case j.Alternative != "":
		return j.Alternative
	case j.GPUs > 0:
		return "gpu"
	}
	return "cpu"
}

// WithAlternatives returns the job, followed by its alternatives.
func (j *Job) WithAlternatives() []*Job { return append([]*Job{j}, j.Alternatives...) }

// Placed reports whether the scheduler must choose among requests or GPU types: the job has alternatives, or its speed
// depends on the type of GPU.
func (j *Job) Placed() bool {
	return len(j.Alternatives) > 0 || j.GPU != "" || j.Runtime != nil &&
		len(j.Runtime.GPURates)+len(j.Runtime.Neighbours) > 0
}

// Demand returns the demand of the job's own request on a cluster.
func (j *Job) Demand() cluster.Demand {
	return cluster.Demand{Threads: j.Threads.Request, GPUs: j.GPUs, GPU: j.GPU, Memory: j.Memory, Nodes: max(j.Nodes, 1)}
}

// On reports whether the hardware, when free, has room for the job's own request, and its engine has the capabilities
// that the job needs.
func (j *Job) On(h *Hardware) bool {
	return !(j.GPUs > 0 && slices.Contains(h.Lacks, "gpus")) && j.Demand().FitsOn(h.Cluster)
}

// Reaches reports whether the hardware can run the job's own request, as On does. If policies divide jobs over nodes,
// room on several nodes together is enough.
func (j *Job) Reaches(h *Hardware) bool {
	d := j.Demand()
	d.Divided = j.Divisible()
	return j.On(h) || d.Divided && !(j.GPUs > 0 && slices.Contains(h.Lacks, "gpus")) && d.FitsOn(h.Cluster)
}

// Divisible reports whether policies may divide the job over nodes: it is rigid, runs as one program, and requests no
// number of nodes.
func (j *Job) Divisible() bool { return !j.Malleable && j.Nodes <= 1 && !j.RunsAsSeveralPrograms() }

// RunsAsSeveralPrograms reports whether the job's program is started several times, as separate processes.
func (j *Job) RunsAsSeveralPrograms() bool { return j.several() != nil }

// several returns the part that makes the job run as several programs; nil for a job of one program.
func (j *Job) several() SeveralPart {
	p, _ := PartOf[SeveralPart](j.Parts)
	return p
}

// WithFewest returns the job with the fewest programs that it can continue with. It returns j for a job of one program.
func (j *Job) WithFewest() *Job {
	p := j.several()
	if p == nil {
		return j
	}
	other := *j
	other.Parts = slices.Clone(j.Parts)
	left, threads := p.Fewest()
	other.Parts[slices.Index(j.Parts, any(p))], other.Threads.Request = left, threads
	return &other
}

// Fits reports whether the hardware, when free, has room for the job: for its parts, its request, or one of its
// alternatives.
func (j *Job) Fits(h *Hardware) bool {
	if j.Placed() {
		return slices.ContainsFunc(j.WithAlternatives(), func(a *Job) bool { return a.On(h) })
	}
	t := j.Template()
	return t.CouldRun(h.Cluster, false)
}

// WithThreads returns the job with a request of n threads.
func (j *Job) WithThreads(n int) *Job {
	if n == j.Threads.Request {
		return j
	}
	other := *j
	other.Threads.Request, other.Threads.Inter, other.Threads.Intra = n, 1, n
	other.Threads.Min = min(other.Threads.Min, n)
	if other.Threads.Max > 0 {
		other.Threads.Max = max(other.Threads.Max, n)
	}
	other.Form = strconv.Itoa(n) + "t"
	return &other
}

// Template returns the scheduler's view of a job of the block, with its
// deadline relative to the arrival.
func (j *Job) Template() scheduler.Job { return j.TemplateWith(func(*scheduler.Job) {}) }

// TemplateWith is Template for a job whose values differ from its block. It calls set to change the values, and applies
// the job's parts afterwards.
func (j *Job) TemplateWith(set func(*scheduler.Job)) scheduler.Job {
	t := scheduler.Job{
		Class: j.Name, Threads: j.Threads.Request, MinThreads: j.Threads.Min, MaxThreads: j.Threads.Max,
		GPUs: j.GPUs, Memory: j.Memory, Nodes: j.Nodes, Malleable: j.Malleable, Priority: j.Priority,
		Deadline: j.Deadline, Special: &scheduler.Special{Retries: j.Retries, Budget: j.Budget},
	}
	set(&t)
	request := func(p RequestPart) { p.Request(&t) }
	EachPart(j.Parts, request)
	if j.Runtime != nil {
		EachPart(j.Runtime.Parts, request)
	}
	return t
}

// Open reports whether the job's work has no fixed end: it trains until its
// budget is used up.
func (j *Job) Open() bool { return j.Budget != nil && j.Epochs == 0 && j.Steps == 0 }

// Job is a training program with its total work and its request.
//
// A training program, its total work and the resources that it requests. It has {program}, and `epochs`, `steps` or a
// `budget`.
//
//	job "long" {
//	  command = ["python3", "train.py"]
//	  epochs  = 60
//	  threads = 2
//	}
//
//	job "script" {
//	  command = ["python3", "train.py"]
//	  env     = { BATCH = "64" }
//	  steps   = 2000
//	  threads = { inter = 1, intra = 3 }
//	  limit   = "10m"
//	}
type Job struct {
	Name  string
	Range experiments.Range

	// The program and its arguments. The program follows the job contract (jobs/README.md).
	//
	//	command = ["python3", "train.py"]
	Command []string `arg:"command,sensitive"`
	// The working directory of `command`; relative to the folder of the experiment file.
	//
	// Default: the folder of the experiment file.
	//
	//	dir = "../models"
	Dir string `arg:"dir"`
	// More environment variables for `command`. tfexp itself sets the variables of the job contract.
	//
	//	env = { BATCH = "64" }
	Env []schema.Setting `arg:"env,sensitive"`
	// Files and whole folders that `command` reads, relative to the folder of the experiment file. If one changes, the
	// cells that use it run again. What Python compiles and version control keeps does not count.
	//
	//	files = ["train.py", "data"]
	Files []string `arg:"files,empty"`
	// Whether to append the hardware flags (`--cpu --numThreads N` or `--gpu --numGPUs N`) to `command`.
	//
	//	flags = true
	Flags bool `arg:"flags" default:"false"`
	// Total work, in passes over the training data.
	//
	//	epochs = 60
	Epochs int `arg:"epochs" min:"1" max:"epochs"`
	// Total work, in optimizer steps.
	//
	//	steps = 2000
	Steps int `arg:"steps" min:"1" max:"epochs"`
	// The cores that the job requests: a number, or an object with the threads of the inter-op and the intra-op pool.
	//
	//	threads = { inter = 1, intra = 3 }
	Threads Threads `arg:"threads" type:"threads" default:"1" min:"1" max:"threads"`
	// Whether the job can be resized while it runs.
	//
	//	malleable = true
	Malleable bool `arg:"malleable" default:"false"`
	// The GPUs that the job requests.
	//
	//	gpus = 1
	GPUs int `arg:"gpus" default:"0" min:"0" max:"threads"`
	// The type of GPU that the job needs, as in the argument `gpu` of nodes.
	//
	// Default: any.
	//
	//	gpu = "V100"
	GPU string `arg:"gpu"`
	// The memory that the job requests. It starts only where so much is free.
	//
	//	memory = "2GiB"
	Memory int64 `arg:"memory,positive"`
	// The nodes over which `threads`, `gpus` and `memory` are divided evenly. The job starts on all of them at
	// once.
	//
	//	nodes = 2
	Nodes int `arg:"nodes" default:"1" min:"1" max:"nodes"`
	// The job's level for the order `priority`: level 0 starts first.
	//
	//	priority = 2
	Priority int `arg:"priority" default:"0" min:"0" max:"1000000"`
	// The time after its arrival by which the job should be finished, for the order `edf`.
	//
	//	deadline = "1m"
	Deadline time.Duration `arg:"deadline,positive"`
	// The time-writer line that counts if `command` prints several: the `first`, the `last`, or the `longest` (with the
	// most epochs).
	//
	//	time_writer = "longest"
	TimeWriter string `arg:"time_writer" default:"last" allowed:"first last longest"`
	// The longest run time: tfexp stops a job that runs longer, and counts it as failed. Paused time does not count.
	//
	//	limit = "10m"
	Limit time.Duration `arg:"limit,positive"`
	// The longest training time, in service time: all attempts count, waiting and pauses do not. When it is used up the
	// program evaluates the model of its last whole epoch, which the budget does not pay for, and ends; a budget that
	// is too short for an epoch gives the accuracy at the start. Epochs (or steps) are then the most that the job
	// trains, and may be left out. A program reads the budget in `TFEXP_BUDGET` and, as `time_left`, in its control
	// file. One that still runs 10 s and a tenth of the budget after its end fails. `jobs.csv` has the budget, the used
	// part of it, and the time after it.
	//
	//	budget = "400s"
	Budget *time.Duration `arg:"budget" json:",omitempty"`
	// How often tfexp starts the job again after a failure: a nonzero exit status, a killed program, or a lost machine.
	// It waits in the queue again, and may continue from its checkpoint. Jobs do not fail in simulation.
	//
	//	retries = 2
	Retries int `arg:"retries" default:"0" min:"0" max:"100"`
	// The image in which the job runs on {contained}; other engines ignore it. `command` replaces the image's entry
	// point.
	//
	//	image = "tfexp/tensorflow:latest"
	Image string `arg:"image" json:"-"`
	// Folders or files that are mounted into the container: `source:target`, or `source:target:ro` for read-only.
	// The source is on the daemon's machine; a relative path begins at the folder of the experiment file.
	//
	//	mounts = ["../data:/data:ro"]
	Mounts []string `arg:"mounts,empty" json:"-"`
	// The working directory in the container.
	//
	// Default: the image's own.
	//
	//	workdir = "/work"
	Workdir string `arg:"workdir" json:"-"`

	// Container is set when the job names an image.
	Container *launch.Container
	// Alternatives are copies of the job with other requests and run times. Alternative is the name of such an
	// alternative; it is empty for the job itself.
	Alternatives []*Job
	Alternative  string
	// Form distinguishes jobs of one block with different requests: its alternatives, and jobs for which a trace
	// requests other numbers of threads. It is empty for the request of the block.
	Form string
	// Runtime is set when the file says how long the job takes in simulation.
	Runtime *Runtime
	Parts   Parts `json:",omitempty"`
	// At has the source range of each argument that the file sets.
	At map[string]experiments.Range
}

// Threads is a request for threads: the total, and its split into two pools.
type Threads struct {
	Request  int // requested cores; Inter + Intra if the file splits them
	Inter    int
	Intra    int
	Min, Max int // bounds for a malleable job; 0 if the file gives none
	Range    experiments.Range
}

// ThreadTime is the run time on a number of threads.
type ThreadTime struct {
	Threads int
	Time    time.Duration
}

// Runtime is a job's run time in simulation: Startup + epochs × Epoch, on one thread. With more threads, the part
// Parallel (0 to 1) of the time shrinks (Amdahl's law). SpeedUp gives a curve or a table instead.
type Runtime struct {
	Startup time.Duration
	// Epoch is the time of an epoch: the same for all jobs of the class, or drawn for each job.
	Epoch    workload.Span
	Parallel float64
	// SpeedUp, if set, replaces Parallel.
	SpeedUp *workload.SpeedUp
	// Threads is the number of threads for which a table gives Epoch; 0 means one thread.
	Threads int
	// Whole reports whether Epoch is the time of the whole job instead of one epoch.
	Whole bool
	// Losses are the losses that the job reports, one for each epoch (or step).
	Losses []float64
	// Accuracy and Loss are the job's values at its end; nil if the file does not give them.
	Accuracy, Loss *float64 `json:",omitempty"`
	// GPURates has the speed of the job on each type of GPU; empty if the types do not matter.
	GPURates []GPURate
	// Neighbours are the classes of jobs with which the job can share GPUs.
	Neighbours []Neighbour `json:",omitempty"`
	Parts      Parts       `json:",omitempty"`
}
