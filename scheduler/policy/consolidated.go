package policy

import (
	"github.com/tfexp/tfexp/scheduler/cluster"
)

// Consolidated puts a job on as few nodes as possible, in one rack if possible. The job waits for them.
const Consolidated Nodes = "consolidated"

var _ = RegisterNodes(rule(NodesChoice{
	Choice: Choice{
		Name: Consolidated, Title: "Consolidated", Place: 2,
		Doc: "on as few as would do if nothing ran, waiting for these; on nodes of one rack rather than of several; " +
			"first where the most is free, and the rest, once one node has room for it, where the least is left free",
	},
	Place: cluster.PlaceConsolidated,
}))
