package cluster

import (
	"fmt"

	"github.com/tfexp/tfexp/experiments/units"
)

// Demand is what a job asks of a cluster, over all of its nodes.
type Demand struct {
	Threads, GPUs int
	// GPU is the type of the GPUs; empty for any.
	GPU    string
	Memory int64 // bytes
	// Nodes is at least 1; threads, GPUs and memory are divided evenly over them.
	Nodes int
	// Divided requests are units that can be anywhere, however many on a node: see Units.
	Divided bool
}

// Units returns into how many equal units threads and GPUs can be divided: one for each GPU, if
// each has as many threads beside it.
func Units(threads, gpus int) int {
	for gpus > 0 {
		threads, gpus = gpus, threads%gpus
	}
	return threads
}

// FitsOn reports whether a free cluster has room for the demand: an
// even share of it on each of as many nodes as it wants.
func (d Demand) FitsOn(c Cluster) bool {
	if d.Divided {
		return d.fitsDivided(c)
	}
	if d.Threads%d.Nodes != 0 || d.GPUs%d.Nodes != 0 {
		return false
	}
	n := int64(d.Nodes)
	threads, gpus, memory := d.Threads/d.Nodes, d.GPUs/d.Nodes, (d.Memory+n-1)/n
	found := 0
	for _, m := range c.Nodes {
		if d.GPU != "" && m.GPU != d.GPU {
			continue
		}
		if m.Threads >= threads && m.GPUs >= gpus && (m.Memory == 0 || m.Memory >= memory) {
			if found++; found == d.Nodes {
				return true
			}
		}
	}
	return false
}

// fitsDivided is FitsOn for units that can be anywhere.
func (d Demand) fitsDivided(c Cluster) bool {
	units := Units(d.Threads, d.GPUs)
	n := int64(units)
	unit := Room{Cores: int32(d.Threads / units), GPUs: int32(d.GPUs / units), Memory: (d.Memory + n - 1) / n}
	m := NewMachine(c)
	unit.Kind = m.KindOf(d.GPU)
	for _, r := range m.Whole {
		units -= r.Times(unit)
	}
	return units <= 0
}

// String lists what is asked for: "4 threads, 2 GPUs, 2GiB, over 2 nodes".
func (d Demand) String() string {
	count := func(n int, noun string) string {
		if n == 1 {
			return "1 " + noun
		}
		return fmt.Sprintf("%d %ss", n, noun)
	}
	s := count(d.Threads, "thread")
	if d.GPUs > 0 {
		s += ", " + count(d.GPUs, "GPU")
		if d.GPU != "" {
			s += " of the type " + d.GPU
		}
	}
	if d.Memory > 0 {
		s += ", " + units.FormatSize(d.Memory)
	}
	if d.Nodes > 1 {
		s += fmt.Sprintf(", over %d nodes", d.Nodes)
	}
	if d.Divided {
		s += ", on any nodes"
	}
	return s
}
