package policy

// rule returns a rule for nodes that excludes allocations of partial requests.
func rule(c NodesChoice) NodesChoice {
	c.Wants = append(c.Wants, Want{
		Of: AllocationOf, Name: Strict,
		Detail: "With nodes = \"" + c.Name + "\" jobs are given what they ask for: allocation = \"strict\".",
	})
	return c
}
