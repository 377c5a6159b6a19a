package scheduler

import (
	"github.com/tfexp/tfexp/scheduler/cluster"
)

// The types of package cluster (capacity, requests, grants)
// under the names that engines and policies use.
type (
	Cluster = cluster.Cluster
	Node    = cluster.Node
	Supply  = cluster.Supply
	Demand  = cluster.Demand
	Room    = cluster.Room
	Grant   = cluster.Grant
	Layout  = cluster.Layout
	Part    = cluster.Part
	CoreSet = cluster.CoreSet
	Span    = cluster.Span
	// MachineView is the machine as policies see it.
	MachineView = cluster.View
	Share       = cluster.Share
	Beside      = cluster.Beside
)

// The supplies of nodes.
const (
	Standing, Fixed, OnRequest = cluster.Standing, cluster.Fixed, cluster.OnRequest
)
