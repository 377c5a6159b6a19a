package policy

// OneNode puts each job on the first node that has room for all of it.
const OneNode Nodes = "one"

var _ = RegisterNodes(NodesChoice{
	Choice: Choice{Name: OneNode, Title: "One node", Doc: "on one node, the first that has room", Place: 1},
})
