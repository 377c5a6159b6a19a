package experiments

import (
	"slices"
	"strconv"
	"time"

	"github.com/tfexp/tfexp/estimator/clusterspeed"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
)

// GPURate is how many times faster than its run time a job is on a type of GPU.
type GPURate struct {
	Type string
	Rate float64
}

// Length is the job's total work, in epochs or steps; 0 of an open job.
func (j *Job) Length() int { return max(j.Epochs, j.Steps) }

// Done returns the epochs (or steps) after which the job is done in simulation: all
// of them, or those until its losses reach its target.
func (j *Job) Done() int {
	all := j.Length()
	if j.TargetLoss > 0 && j.Runtime != nil {
		if i := slices.IndexFunc(j.Runtime.Losses, func(l float64) bool { return l <= j.TargetLoss }); i >= 0 {
			return min(i+1, all)
		}
	}
	return all
}

// RateOn returns how fast the job is on a type of GPU; false when the file does
// not say. Where it says nothing of types, all have the rate 1.
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

// AlternativeName returns the name of the alternative that the job is, or "cpu"
// or "gpu" for a job's own request.
func (j *Job) AlternativeName() string {
	switch {
	case j.Alternative != "":
		return j.Alternative
	case j.GPUs > 0:
		return "gpu"
	}
	return "cpu"
}

// WithAlternatives returns the job itself and its alternatives.
func (j *Job) WithAlternatives() []*Job { return append([]*Job{j}, j.Alternatives...) }

// Placed reports whether the scheduler places the job by more than its request:
// it has alternatives, or the type of the GPU matters.
func (j *Job) Placed() bool {
	return len(j.Alternatives) > 0 || j.GPU != "" || j.Runtime != nil &&
		len(j.Runtime.GPURates)+len(j.Runtime.Neighbours) > 0
}

// Demand returns what the job's own request asks of a cluster.
func (j *Job) Demand() scheduler.Demand {
	return scheduler.Demand{Threads: j.Threads.Request, GPUs: j.GPUs, GPU: j.GPU, Memory: j.Memory, Nodes: max(j.Nodes, 1)}
}

// On reports whether a free cluster of the hardware has room for the job's own
// request, and its engine can do what it needs.
func (j *Job) On(h *Hardware) bool {
	return !(j.GPUs > 0 && slices.Contains(h.Lacks, "gpus")) && j.Demand().FitsOn(h.Cluster)
}

// Reaches is On, or whether the hardware has room for the request where policies divide jobs over
// nodes.
func (j *Job) Reaches(h *Hardware) bool {
	d := j.Demand()
	d.Divided = j.Divisible()
	return j.On(h) || d.Divided && !(j.GPUs > 0 && slices.Contains(h.Lacks, "gpus")) && d.FitsOn(h.Cluster)
}

// Divisible reports whether policies can divide the job over nodes: it is rigid, of one part, and
// asks for no number of nodes.
func (j *Job) Divisible() bool { return !j.Malleable && j.Nodes <= 1 && len(j.Roles) == 0 }

// Fits reports whether a free cluster of the hardware has room for the job: for its parts,
// its request, or one of its alternatives.
func (j *Job) Fits(h *Hardware) bool {
	if j.Placed() {
		return slices.ContainsFunc(j.WithAlternatives(), func(a *Job) bool { return a.On(h) })
	}
	t := j.Template()
	return t.CouldRun(h.Cluster, false)
}

// WithThreads returns the job with another request.
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

// Template is what the scheduler knows of a job that is made from the block,
// with its deadline relative to the arrival.
func (j *Job) Template() scheduler.Job {
	return scheduler.Job{
		Class: j.Name, Threads: j.Threads.Request, MinThreads: j.Threads.Min, MaxThreads: j.Threads.Max,
		GPUs: j.GPUs, Memory: j.Memory, Nodes: j.Nodes, Malleable: j.Malleable, Priority: j.Priority,
		Deadline: j.Deadline, Special: &scheduler.Special{Retries: j.Retries, Roles: j.Roles, Budget: j.Budget},
		Elastic: j.Runtime != nil && j.Runtime.Elastic != nil,
	}
}

// Open reports whether the job's work has no end of its own: it trains until its
// budget is used up.
func (j *Job) Open() bool { return j.Budget != nil && j.Epochs == 0 && j.Steps == 0 }

// Job is a training program with its total work and its request.
type Job struct {
	Name  string
	Range Range

	// Exactly one of Builtin, Command and Recorded is set.
	Builtin  string
	Settings []Setting // the builtin's arguments, all of them, defaults included, in the order of its schema
	Command  []string
	Dir      string    // working directory of Command; absolute
	Env      []Setting // extra environment
	Files    []string  // further input files; a change in one makes cells run again
	// Flags asks for the hardware flags (--cpu --numThreads N) of run.sh-style programs.
	Flags bool
	// Events are the event files of the program, without a folder of this machine; nil: none.
	Events *launch.EventFiles `json:",omitempty"`
	// TimeWriter is first, last or longest: the time-writer line that counts.
	TimeWriter string

	// Exactly one of Epochs and Steps is above 0; neither is for an open job.
	Epochs int
	Steps  int
	// TargetLoss is the training loss at which the job is done, even if work is
	// left; 0: none.
	TargetLoss float64

	Threads   Threads
	Malleable bool
	GPUs      int
	// GPU is the type of GPU that it wants; empty for any.
	GPU    string
	Memory int64 // bytes
	// Nodes over which the request is divided evenly; 0 and 1 mean one.
	Nodes    int
	Priority int
	// Deadline is relative to the arrival; 0 means none.
	Deadline time.Duration
	// Limit ends a job that runs longer (service time); 0 means no limit.
	Limit time.Duration
	// Budget is how long the job may train (service time); nil means that its work
	// alone ends it.
	Budget *time.Duration `json:",omitempty"`
	// Container is set when the job names an image.
	Container *launch.Container
	// Roles are the parts of a job that has several; its request is their sum.
	Roles []scheduler.Role `json:",omitempty"`
	// Retries is how often a job that failed is started anew.
	Retries int
	// Alternatives are the same job with another request and run time.
	// Alternative is the name of such an alternative; it is empty for the job
	// itself.
	Alternatives []*Job
	Alternative  string
	// Form distinguishes jobs of one block that differ in their request, because
	// they are alternatives, or because a trace requests other threads. It is
	// empty for the block as it is written.
	Form string
	// Runtime is set when the file says how long the job takes in simulation.
	Runtime *Runtime
	// Recorded is set when its outcomes come from a table: it has no program.
	Recorded *Recorded
	// Checkpoint says when the job saves its work in simulation; nil: never.
	Checkpoint *Checkpoint
	// At has the source range of each argument that the file sets.
	At map[string]Range
}

// Checkpoint says when a job saves its work: one of Every, Units (epochs or steps) and
// Rule ("young" or "daly") is set.
type Checkpoint struct {
	Every         time.Duration
	Units         int
	Rule          string
	Cost, Restore time.Duration
}

// Threads is a thread request: the total, and its split into pools.
type Threads struct {
	Request  int // cores asked for; Inter + Intra where the file splits them
	Inter    int
	Intra    int
	Min, Max int // bounds for a malleable job; 0 where the file is silent
	Range    Range
}

// Runtime is a job's run time in simulation: Startup + epochs × Epoch on
// one thread, of which Parallel (0 to 1) speeds up with threads (Amdahl), or
// which speeds up by a curve or a table.
type Runtime struct {
	Startup time.Duration
	// Epoch is the same for all jobs of the class, or drawn for each.
	Epoch    workload.Span
	Parallel float64
	// SpeedUp takes the place of Parallel, if it is set.
	SpeedUp *workload.SpeedUp
	// Threads is the number of threads on which Epoch is the time, where that
	// comes from a table; 0 means one.
	Threads int
	// Whole says that Epoch is the time of the whole job.
	Whole bool
	// Losses are what the job reports after each epoch (or step), for a job with a
	// target loss.
	Losses []float64
	// Accuracy and Loss are what the job has at its end; nil: not given.
	Accuracy, Loss *float64 `json:",omitempty"`
	// GPURates are how many times faster an epoch is on types of GPU.
	GPURates []GPURate
	// Neighbours are the jobs that it can share GPUs with.
	Neighbours []Neighbour `json:",omitempty"`
	// Cluster is set for a job whose speed depends on what its parts run on; Epoch is then that of all parts on the
	// first type of device, beside each other.
	Cluster *ClusterSpeed
	// Elastic is set for a job whose speed depends on its GPUs and its batch size.
	Elastic *Elastic `json:",omitempty"`
}

// ClusterSpeed is the speed of a job by its parts.
type ClusterSpeed struct {
	clusterspeed.Law
	Range Range
	// Device is the type of device of all workers; empty for that of the GPUs of their nodes.
	Device string
	// Regions has the factors on the speed of a worker whose parameter servers are elsewhere.
	Regions []RegionFactor
	// Samples are those to which the law was fitted, and Model the one of them that the job trains; File is where they
	// are from, for people. There are none where the law was given.
	Samples     []clusterspeed.Sample
	Model, File string
}

// RegionFactor is the factor on the speed of a worker in one of two regions whose parameter servers are in the other.
type RegionFactor struct {
	A, B   string
	Factor float64
}
