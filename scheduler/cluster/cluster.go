// Package cluster has the resources of a cluster: nodes, numbered cores and GPUs, which of them are free, and which
// a job holds.
package cluster

import (
	"fmt"
	"slices"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
)

// Supply says when a node exists.
type Supply uint8

// The ways in which nodes are supplied.
const (
	// Standing nodes exist from the start to the end of a run.
	Standing Supply = iota
	// Fixed nodes are rented at the start, and again whenever they are lost.
	Fixed
	// OnRequest nodes are rented when the first job of the queue needs them. They are given back after Node.Idle
	// without jobs.
	OnRequest
)

// Node is one machine of a cluster.
type Node struct {
	Name    string
	Threads int
	GPUs    int
	// Memory is in bytes; 0 means that memory is not limited.
	Memory int64
	// GPU is the type of its GPUs, as in alternatives of jobs; empty if types do not matter.
	GPU string
	// Supply says when the node exists. Idle is the time without jobs after which an OnRequest node is given back.
	Supply Supply
	Idle   time.Duration
	// Rack is the name of the node's rack; empty if unknown.
	Rack string
	// Market and Region are the market and the region in which a server for the node is rented. They are empty for
	// Standing nodes.
	Market, Region string
	// Price is the price of the server at the start, in dollars per hour; 0 if unknown.
	Price float64
}

// MarketOnDemand is the market of servers that are not taken away. MarketSpot is the market of cheaper servers,
// which can be taken away.
const (
	MarketOnDemand = "on_demand"
	MarketSpot     = "spot"
)

// Cluster is a list of nodes. Cores are numbered through all nodes, and so are GPUs: node 0 has cores 0 … Threads-1,
// node 1 has the next ones.
type Cluster struct {
	Nodes []Node
}

// Changes reports whether some nodes of the cluster are not Standing.
func (c Cluster) Changes() bool {
	return slices.ContainsFunc(c.Nodes, func(n Node) bool { return n.Supply != Standing })
}

// View is a read-only view of a machine. Callers must not change the slices that its methods return.
type View struct{ m *Machine }

// ViewOf returns the view of a machine.
func ViewOf(m *Machine) View { return View{m} }

// Free returns the free resources of each node.
func (m View) Free() []Room { return m.m.Free }

// Whole returns the total resources of each node.
func (m View) Whole() []Room { return m.m.Whole }

// Paused returns the resources of each node that would be free if all running jobs were paused. A paused job keeps
// its memory. Resources that are freed on a closed node do not count as free.
func (m View) Paused() []Room {
	rooms := slices.Clone(m.m.Free)
	for node := range rooms {
		if memory := rooms[node].Memory; !m.Closed(int32(node)) {
			rooms[node] = m.m.Whole[node]
			rooms[node].Memory = memory
		}
	}
	return rooms
}

// Idle returns the number of free cores on all nodes together.
func (m View) Idle() int32 { return m.m.Idle }

// Closed reports whether a node does not exist now, or will be taken away. No job starts on it, and resources that
// are freed there do not count as free.
func (m View) Closed(node int32) bool { return m.m.Closed(node) }

// MostFree returns the largest number of free cores on one node.
func (m View) MostFree() int32 { return m.m.MostFree() }

// Kind returns the number that Room.Kind has for a type of GPU: 0 for an empty type, -1 for a type that no node has.
func (m View) Kind(gpu string) int32 { return m.m.KindOf(gpu) }

// On returns a grant of the given cores, and of as many free GPUs of their node as need has, the lowest first. ok is
// false if a core is not free, or the cores are on several nodes.
func (m View) On(cores CoreSet, need Room) (g Grant, node int32, ok bool) {
	nodes := m.m.NodesOf(cores, nil)
	if len(nodes) != 1 || !m.m.Cores.AllFree(cores) || m.m.Free[nodes[0]].GPUs < need.GPUs {
		return g, 0, false
	}
	g.Cores = cores
	if need.GPUs > 0 {
		g.GPUs = m.m.Lowest(&m.m.GPUs, nodes, need.GPUs)
	}
	return g, nodes[0], true
}

// AddGPUs adds the GPUs of a grant to the rooms of their nodes.
func (m View) AddGPUs(rooms []Room, g Grant) {
	for _, p := range g.GPUs {
		m.m.GPUs.EachNode(p, func(v, n int32) { rooms[v].GPUs += n })
	}
}

// Demand is the request of a job, over all of its nodes together.
type Demand struct {
	Threads, GPUs int
	// GPU is the type of the GPUs; empty for any type.
	GPU    string
	Memory int64 // bytes
	// Nodes is the number of nodes, at least 1. They share threads, GPUs and memory equally.
	Nodes int
	// Divided says that the request consists of equal units (see Units), and any number of units can be on one node.
	Divided bool
}

// Units returns into how many equal units a request can be divided: the greatest common divisor of threads and gpus.
func Units(threads, gpus int) int {
	for gpus > 0 {
		threads, gpus = gpus, threads%gpus
	}
	return threads
}

// FitsOn reports whether a cluster without jobs has room for the demand.
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

// fitsDivided is FitsOn for a divided demand.
func (d Demand) fitsDivided(c Cluster) bool {
	units := Units(d.Threads, d.GPUs)
	n := int64(units)
	unit := Room{Cores: int32(d.Threads / units), GPUs: int32(d.GPUs / units), Memory: (d.Memory + n - 1) / n}
	for _, node := range c.Nodes {
		r := Room{Cores: int32(node.Threads), GPUs: int32(node.GPUs), Memory: node.Memory}
		if node.Memory == 0 {
			r.Memory = unlimited
		}
		if d.GPU != "" && node.GPU != d.GPU {
			continue
		}
		if units -= r.Times(unit); units <= 0 {
			return true
		}
	}
	return false
}

// String returns a text such as "4 threads, 2 GPUs, 2GiB, over 2 nodes".
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
		s += ", " + schema.FormatSize(d.Memory)
	}
	if d.Nodes > 1 {
		s += fmt.Sprintf(", over %d nodes", d.Nodes)
	}
	if d.Divided {
		s += ", on any nodes"
	}
	return s
}
