// Package cluster is what there is to be scheduled: nodes, their cores and GPUs by
// number, which of them are free, and which a job holds.
package cluster

import (
	"slices"
	"time"
)

// Supply says when there is a server for a node.
type Supply uint8

// The supplies of nodes.
const (
	// Standing nodes are there from the start to the end.
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
	// Market and Region say where the servers of a node that comes and goes are rented.
	Market, Region string
}

// MarketOnDemand is the market of servers that nobody takes away, MarketSpot that of cheaper ones.
const (
	MarketOnDemand = "on_demand"
	MarketSpot     = "spot"
)

// Cluster is the capacity that is scheduled. Cores (and GPUs) are numbered
// through all nodes: node 0 has cores 0 … Threads-1, node 1 goes on from there.
type Cluster struct {
	Nodes []Node
}

// Changes reports whether some nodes of a cluster come and go.
func (c Cluster) Changes() bool {
	return slices.ContainsFunc(c.Nodes, func(n Node) bool { return n.Supply != Standing })
}
