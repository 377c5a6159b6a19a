package policy

import (
	"github.com/tfexp/tfexp/scheduler/cluster"
)

// Spread puts the parts of a job on the nodes with the most room.
const Spread Nodes = "spread"

var _ = RegisterNodes(rule(NodesChoice{
	Choice: Choice{
		Name: Spread, Title: "Spread", Place: 3,
		Doc: "each unit on the node with the most room",
	},
	Place: cluster.PlaceSpread,
}))
