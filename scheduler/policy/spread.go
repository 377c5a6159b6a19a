package policy

import (
	"github.com/tfexp/tfexp/scheduler/cluster"
)

// Spread is placement.Spread.
const Spread Nodes = "spread"

var _ = RegisterNodes(rule(NodesChoice{
	Choice: Choice{
		Name: Spread, Title: "Spread", Place: 3,
		Doc: "spread: each unit on the node with the most room",
	},
	Place: cluster.PlaceSpread,
}))
