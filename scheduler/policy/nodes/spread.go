package nodes

import (
	"github.com/tfexp/tfexp/scheduler/placement"
	"github.com/tfexp/tfexp/scheduler/policy"
)

// Spread is placement.Spread.
const Spread policy.Nodes = "spread"

func init() {
	policy.RegisterNodes(rule(policy.NodesChoice{
		Choice: policy.Choice{
			Name: string(Spread), Title: "Spread", Place: 3,
			Doc: "spread: each unit on the node with the most room",
		},
		Place: placement.Spread,
	}))
}
