// Package cluster has the resources to be scheduled: nodes, their cores and GPUs
// by number, which of them are free, and which a job holds.
package cluster

import (
	"fmt"
	"slices"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
)

// Supply says when there is a server for a node.
type Supply uint8

// The supplies of nodes.
const (
	// Standing nodes exist from the start to the end.
	Standing Supply = iota
	// Fixed nodes are asked for at the start, and again whenever they are lost.
	Fixed
	// OnRequest nodes are asked for when a job at the head of the queue needs them,
	// and given back when nothing has run on them for Node.Idle.
	OnRequest
)

// Node is one machine of a cluster.
type Node struct {
	Name    string
	Threads int
	GPUs    int
	// Memory in bytes; 0 means that it is not accounted for.
	Memory int64
	// GPU is the type of its GPUs, as alternatives name it; may be empty.
	GPU string
	// Supply says when there is a server for the node, and Idle for how long one on
	// request is kept while nothing runs on it.
	Supply Supply
	Idle   time.Duration
	// Rack is where the node stands; empty for none in particular.
	Rack string
	// Market and Region are the market and the region in which the servers of a node that comes and goes are
	// rented.
	Market, Region string
	// Price is the price of such a server at the beginning, in dollars per hour; 0 if it is unknown.
	Price float64
}

// MarketOnDemand is the market of servers that nobody takes away, MarketSpot the market of cheaper ones.
const (
	MarketOnDemand = "on_demand"
	MarketSpot     = "spot"
)

// Cluster is the capacity that is scheduled. Cores (and GPUs) are numbered
// through all nodes: node 0 has cores 0 … Threads-1, node 1 continues from
// there.
type Cluster struct {
	Nodes []Node
}

// Changes reports whether some nodes of a cluster come and go.
func (c Cluster) Changes() bool {
	return slices.ContainsFunc(c.Nodes, func(n Node) bool { return n.Supply != Standing })
}

// View is a machine that is only read. Its slices are the machine's own.
type View struct{ m *Machine }

// ViewOf returns the view of a machine.
func ViewOf(m *Machine) View { return View{m} }

// Free returns the free resources of each node.
func (m View) Free() []Room { return m.m.Free }

// Whole returns the total capacity of each node.
func (m View) Whole() []Room { return m.m.Whole }

// Paused returns the resources of each node that would be free if all running jobs were
// paused; paused jobs keep their memory. Resources freed on a closed node are not free.
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

// Idle returns the number of free cores of all nodes.
func (m View) Idle() int32 { return m.m.Idle }

// Closed reports whether a node has no server, or will lose it: nothing starts there,
// and resources freed there are not free.
func (m View) Closed(node int32) bool { return m.m.Closed(node) }

// MostFree returns the largest number of cores that are free on one node.
func (m View) MostFree() int32 { return m.m.MostFree() }

// Kind returns the number of a type of GPU, as rooms have it: 0 for no type in
// particular, -1 for one that no node has.
func (m View) Kind(gpu string) int32 { return m.m.KindOf(gpu) }

// On returns a grant of these cores and of the lowest free GPUs that a need has on the same node. ok is false if a
// core is not free, or the cores are on several nodes.
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

// AddGPUs adds the GPUs of a grant to rooms, by node.
func (m View) AddGPUs(rooms []Room, g Grant) {
	for _, p := range g.GPUs {
		m.m.GPUs.EachNode(p, func(v, n int32) { rooms[v].GPUs += n })
	}
}

// Demand is a job's request to a cluster, over all of its nodes.
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
// each GPU has the same number of threads.
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

// String lists the requested resources: "4 threads, 2 GPUs, 2GiB, over 2 nodes".
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
