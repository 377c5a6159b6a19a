package policy

// OneNode puts each job on one node: the first that has room.
const OneNode Nodes = "one"

var _ = RegisterNodes(NodesChoice{
	Choice: Choice{Name: OneNode, Title: "One node", Doc: "on one, the first that has room", Place: 1},
})
