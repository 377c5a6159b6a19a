package strategies

import (
	"fmt"
	"slices"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/stages/servers/rental"
)

// Provisioning is the question from which market the servers of each job come.
const Provisioning policy.Question = "provisioning"

// Choice is a provisioning that rents servers for each job.
type Choice struct {
	policy.Choice
	// Strategy decides for each job, tick by tick.
	Strategy rental.Strategy
	// Deadline says that it plans by the deadlines of jobs.
	Deadline bool
	// Moves says that it takes jobs from servers that they could keep, which costs those
	// their work that write no checkpoints.
	Moves bool
	// Spot and OnDemand are the markets that it needs nodes of.
	Spot, OnDemand bool
}

// choices are the provisionings that rent, by name. The question is part of all policies before any of them is made known.
var choices = ask()

func ask() map[string]*Choice {
	policy.RegisterQuestion(Provisioning, policy.QuestionText{
		Before:  "Which servers tfexp rents for each job, on nodes with `acquire = \"on_request\"`:",
		After:   "Each job rents for itself: its nodes are given back when it leaves them.",
		Example: `"uniform_progress"`, Summary: "%s servers",
	})
	policy.RegisterChoice(Provisioning, policy.Choice{
		Name: "fixed", Title: "Fixed servers", Place: 1, Doc: "as the node blocks say, whatever happens to jobs",
	})
	return map[string]*Choice{}
}

// register adds a strategy to the registry. It requires that jobs are planned one by one and get their full requests.
func register(c Choice) Choice {
	c.Settings = settings
	c.Extend = func(s policy.Settings, rules *scheduler.PolicyRules) {
		rules.Supply = rental.Extend(terms(c.Strategy, s))
	}
	c.Wants = append(c.Wants, policy.Want{
		Of: policy.BackfillOf, Name: policy.FirstFit, Implied: true,
		Detail: fmt.Sprintf("The provisioning %q rents servers for each job on its own, which implies backfill = %q.",
			c.Name, policy.FirstFit),
	}, policy.Want{
		Of: policy.AllocationOf, Name: policy.Strict,
		Detail: fmt.Sprintf("The provisioning %q needs the allocation %q.", c.Name, policy.Strict),
	}, policy.Want{
		Of: policy.PreemptionOf, Name: policy.NoPreemption,
		Detail: fmt.Sprintf("The provisioning %q rents servers for each job on its own: no job gives way to another.",
			c.Name),
	})
	choices[c.Name] = &c
	policy.RegisterChoice(Provisioning, c.Choice)
	return c
}

// Of returns the provisioning of a policy; nil for one that leaves it to the nodes.
func Of(p *policy.Policy) *Choice { return choices[p.Get(Provisioning)] }

// Markets returns the markets from which the policy rents servers for its jobs; none where it leaves that to the nodes.
func Markets(p *policy.Policy) (markets []string) {
	c := Of(p)
	if c != nil && c.Spot {
		markets = append(markets, cluster.MarketSpot)
	}
	if c != nil && c.OnDemand {
		markets = append(markets, cluster.MarketOnDemand)
	}
	return markets
}

// Regions returns the regions in which the policy rents servers; none for all.
func Regions(p *policy.Policy) []string {
	list, _ := p.Settings["regions"].([]string)
	return slices.Clone(list)
}
