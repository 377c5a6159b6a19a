package policy

import (
	"github.com/tfexp/tfexp/scheduler/cluster"
)

// Consolidated puts a job on as few nodes as possible, in one rack if possible. The job waits for them.
const Consolidated Nodes = "consolidated"

var _ = RegisterNodes(rule(NodesChoice{
	Choice: Choice{
		Name: Consolidated, Title: "Consolidated", Place: 2,
		Doc: "on as few nodes as in an empty cluster, if possible in one rack; the job waits for them. " +
			"It gets the nodes with the most free resources, and for its last part the node on which the " +
			"least stays free",
	},
	Place: cluster.PlaceConsolidated,
}))
