package experiments

import (
	"slices"
	"strconv"

	"github.com/tfexp/tfexp/scheduler"
)

// GPURate is how many times faster than its run time a job is on a type of GPU.
type GPURate struct {
	Type string
	Rate float64
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
	return len(j.Alternatives) > 0 || j.GPU != "" || j.Runtime != nil && len(j.Runtime.GPURates) > 0
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

// GPUTypes returns the types of the hardware's GPUs, in the order of its nodes;
// an empty one stands for GPUs without a type.
func (h *Hardware) GPUTypes() []string {
	var types []string
	for _, n := range h.Cluster.Nodes {
		if n.GPUs > 0 && !slices.Contains(types, n.GPU) {
			types = append(types, n.GPU)
		}
	}
	return types
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
	other.Variant = strconv.Itoa(n) + "t"
	return &other
}

// Template is what the scheduler knows of a job that is made from the block,
// with its deadline relative to the arrival.
func (j *Job) Template() scheduler.Job {
	return scheduler.Job{
		Class: j.Name, Threads: j.Threads.Request, MinThreads: j.Threads.Min, MaxThreads: j.Threads.Max,
		GPUs: j.GPUs, Memory: j.Memory, Nodes: j.Nodes, Malleable: j.Malleable, Priority: j.Priority,
		Deadline: j.Deadline, Retries: j.Retries,
	}
}
