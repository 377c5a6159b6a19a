package language

import (
	"fmt"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/stages/experiment"
)

// CapacityProblem is the reason why a hardware never has room for a request.
type CapacityProblem struct {
	Argument string // the argument of the job block: threads, gpus or memory; otherwise nodes
	Summary  string
	Reason   string // the rest of a sentence whose subject is the request's job
}

// CapacityProblemOf returns why the hardware never has room for a request, or nil if it can have. It checks all kinds
// of requests: of a job, an alternative, a job of a trace, and a resize.
func CapacityProblemOf(r cluster.Demand, h *experiment.Hardware) *CapacityProblem {
	if r.FitsOn(h.Cluster) {
		return nil
	}
	if r.Nodes > 1 || r.GPU != "" || r.Divided {
		return &CapacityProblem{
			Argument: "nodes", Summary: fmt.Sprintf("Too large for the hardware %q", h.Name),
			Reason: fmt.Sprintf("asks for %s, which the hardware %q never has", r, h.Name),
		}
	}
	var threads, gpus int
	var memory int64
	for _, n := range h.Cluster.Nodes {
		threads, gpus, memory = max(threads, n.Threads), max(gpus, n.GPUs), max(memory, n.Memory)
		if n.Memory == 0 { // memory is not accounted for
			memory = max(memory, r.Memory)
		}
	}
	where := fmt.Sprintf("the hardware %q", h.Name)
	if len(h.Cluster.Nodes) > 1 {
		where = "the largest node of " + where
	}
	short := func(argument, noun, asked, has string) *CapacityProblem {
		return &CapacityProblem{
			Argument: argument, Summary: fmt.Sprintf("More %s than the hardware %q has", noun, h.Name),
			Reason: fmt.Sprintf("asks for %s, but %s has %s", asked, where, has),
		}
	}
	switch {
	case r.Threads > threads:
		return short("threads", "threads", schema.Plural(r.Threads, "thread"), fmt.Sprint(threads))
	case r.GPUs > gpus:
		return short("gpus", "GPUs", schema.Plural(r.GPUs, "GPU"), fmt.Sprint(gpus))
	case r.Memory > memory:
		return short("memory", "memory", schema.FormatSize(r.Memory), schema.FormatSize(memory))
	}
	return &CapacityProblem{
		Argument: "nodes", Summary: fmt.Sprintf("No node of the hardware %q has room", h.Name),
		Reason: fmt.Sprintf("asks for %s, and no node of the hardware %q has all of that", r, h.Name),
	}
}

// NeedsGPUs begins the message that an engine cannot give GPUs to a job.
func NeedsGPUs(job string) string { return fmt.Sprintf("The job %q requests GPUs", job) }

// NeedsMemory begins the message that an engine does not account for memory.
func NeedsMemory(job string) string { return fmt.Sprintf("The job %q requests memory", job) }
