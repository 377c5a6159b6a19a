package experiment

import (
	"fmt"
	"slices"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/scheduler"
)

// Kind returns the kind of engine that runs the hardware.
func (h *Hardware) Kind() *engine.Kind { return engine.Find(h.Engine) }

// ForEngine returns the hardware in the form that its engine takes.
func (h *Hardware) ForEngine() *engine.Hardware {
	return &engine.Hardware{
		Name: h.Name, Kind: h.Kind(), Cluster: h.Cluster, Settings: h.Settings, Suspends: h.Suspends,
		Place: fmt.Sprintf("%s line %d", h.Range.File, h.Range.Start.Line),
	}
}

// Capabilities returns the capabilities of the hardware's engine.
func (h *Hardware) Capabilities() scheduler.Capabilities {
	can := func(what string) bool { return !slices.Contains(h.Lacks, what) }
	c := h.Kind().Capabilities(h.ForEngine())
	return scheduler.Capabilities{
		Pause: c.Pause && can("pause"), Resize: c.Resize && can("resize"),
		Memory: c.Memory && can("memory"), GPUs: c.GPUs && can("gpus"), Migrate: c.Migrate && can("migrate"),
	}
}

// Real reports whether programs run on the hardware, and are not simulated.
func (h *Hardware) Real() bool { return h.Kind().Real }

// Contention describes how much the jobs on one node slow each other down.
type Contention struct {
	Law estimator.Contention
	// Threads is the number of cores that the jobs of a node share; 0 means all cores of the node.
	Threads int
}

// GPUTypes returns the types of the hardware's GPUs, in the order of its nodes. An empty type means GPUs without a
// type.
func (h *Hardware) GPUTypes() []string {
	var types []string
	for _, n := range h.Cluster.Nodes {
		if n.GPUs > 0 && !slices.Contains(types, n.GPU) {
			types = append(types, n.GPU)
		}
	}
	return types
}

// Hardware is a machine or a cluster and the engine that runs jobs on it.
type Hardware struct {
	Name    string
	Range   experiments.Range
	Engine  string // the name of the engine's kind
	Cluster scheduler.Cluster
	// Overheads, Contention and Noise are for simulated hardware. If Overheads is nil, the overheads measured with the
	// samples of the jobs apply.
	Overheads *simulated.Overheads
	// Contention slows a job down by the cores that other jobs on its node use; nil means no slowdown.
	Contention *Contention
	// Noise is the relative standard deviation of run times (lognormal).
	Noise float64
	// Suspends reports how jobs are paused: if set, the program saves its work and ends, and starts again later.
	Suspends bool
	// Settings are the engine's own arguments, which only the engine reads.
	Settings any
	// Lacks are capabilities that the file removes from a simulated engine.
	Lacks []string
	// At has the source range of each argument that the file sets.
	At    map[string]experiments.Range
	Parts Parts `json:",omitempty"`
}
