package experiments

import (
	"slices"
	"time"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/scheduler"
)

// Capabilities returns what the hardware's engine can do.
func (h *Hardware) Capabilities() scheduler.Capabilities {
	can := func(what string) bool { return !slices.Contains(h.Lacks, what) }
	c := scheduler.Capabilities{Pause: can("pause"), Resize: can("resize"), Memory: can("memory"), GPUs: can("gpus")}
	if h.Engine == "process" {
		// Memory is a matter of admission there; nothing limits a process.
		c.Memory = false
	}
	if h.Real() {
		c.GPUs = slices.ContainsFunc(h.Cluster.Nodes, func(n scheduler.Node) bool { return n.GPUs > 0 })
	}
	return c
}

// Docker are the settings of hardware with the engine docker.
type Docker struct {
	// CPUs is cpuset or quota; Privileges none, default or all; Pull never,
	// missing or always.
	CPUs, Privileges, Pull string
	Network                string
	// User and Platform are empty where the file is silent.
	User, Platform string
	// Hosts has the daemon of each node of the cluster; empty for the one that
	// the docker command would use.
	Hosts []string
}

// Real tells whether jobs really run on the hardware.
func (h *Hardware) Real() bool { return h.Engine != "simulated" }

// Contention is how the jobs of a node slow each other down.
type Contention struct {
	Law estimator.Contention
	// Threads are the cores that the jobs of a node share; 0 stands for those
	// that the node has.
	Threads int
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

// HostFacts describe the machine that tfexp runs on.
type HostFacts struct {
	Threads, Cores int
	MemoryBytes    int64
	OS, Arch       string
	CPUModel, Name string
	GPUs           int
	GPUType        string // their model
	// NoGPUs is a phrase that says why there are none; empty if there are some.
	NoGPUs string
}

// Hardware is a machine or a cluster and the engine that runs jobs on it.
type Hardware struct {
	Name   string
	Range  Range
	Engine string // process, docker or simulated
	// EngineRange and ThreadsRange are for checks made later.
	EngineRange  Range
	ThreadsRange Range
	Cluster      scheduler.Cluster
	// Overheads and Noise are read by the simulated engine. Without Overheads
	// those apply that were measured with the samples of the jobs.
	Overheads *Overheads
	// Contention slows jobs down by what their neighbours hold; nil for none.
	Contention *Contention
	// Noise is the relative standard deviation of run times (lognormal).
	Noise float64
	// Docker is set on the engine docker.
	Docker *Docker
	// Lacks are capabilities that the simulated engine is told not to have.
	Lacks []string
	// At has the source range of each argument that the file sets.
	At map[string]Range
}

// Overheads are times that an action costs the job it is done to.
type Overheads struct {
	Start, Pause, Resume, Resize time.Duration
}
