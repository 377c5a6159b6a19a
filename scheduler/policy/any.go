package policy

import (
	"github.com/tfexp/tfexp/scheduler/cluster"
)

// Any puts the parts of a job on any nodes, the first nodes with free resources first.
const Any Nodes = "any"

var _ = RegisterNodes(rule(NodesChoice{
	Choice: Choice{
		Name: Any, Title: "Any nodes", Place: 4,
		Doc: "on any nodes with free resources, from the first node on",
	},
	Place: cluster.PlaceAny,
}))
