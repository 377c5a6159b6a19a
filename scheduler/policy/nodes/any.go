package nodes

import (
	"github.com/tfexp/tfexp/scheduler/placement"
	"github.com/tfexp/tfexp/scheduler/policy"
)

// Any is placement.Any.
const Any policy.Nodes = "any"

func init() {
	policy.RegisterNodes(rule(policy.NodesChoice{
		Choice: policy.Choice{
			Name: string(Any), Title: "Any nodes", Place: 4,
			Doc: "on any, wherever something is free: the first node first",
		},
		Place: placement.Any,
	}))
}
