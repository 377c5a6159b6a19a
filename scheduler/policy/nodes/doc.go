// Package nodes has the rules by which policies divide jobs over nodes, one file each.
package nodes

import "github.com/tfexp/tfexp/scheduler/policy"

// rule returns a choice of nodes. Jobs are given what they ask for, whole.
func rule(c policy.NodesChoice) policy.NodesChoice {
	c.Wants = append(c.Wants, policy.Want{
		Of: policy.AllocationOf, Name: string(policy.Strict),
		Detail: "With nodes = \"" + c.Name + "\" jobs are given what they ask for: allocation = \"strict\".",
	})
	return c
}
