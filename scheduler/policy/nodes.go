package policy

// rule returns a choice of nodes. Jobs are given what they ask for, whole.
func rule(c NodesChoice) NodesChoice {
	c.Wants = append(c.Wants, Want{
		Of: AllocationOf, Name: Strict,
		Detail: "With nodes = \"" + c.Name + "\" jobs are given what they ask for: allocation = \"strict\".",
	})
	return c
}
