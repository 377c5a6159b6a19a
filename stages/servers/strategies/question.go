package strategies

import (
	"fmt"
	"slices"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/stages/servers/rental"
)

// Provisioning is the argument of policies that chooses how servers are rented.
const Provisioning policy.Question = "provisioning"

// Choice is a value of `provisioning` that rents servers for each job.
type Choice struct {
	policy.Choice
	// Strategy decides for each job at each tick.
	Strategy rental.Strategy
	// Deadline reports whether the strategy plans by the deadlines of jobs.
	Deadline bool
	// Moves reports whether the strategy moves jobs from servers that they could keep. Jobs without checkpoints then
	// lose their work.
	Moves bool
	// Spot and OnDemand report in which markets the strategy needs nodes.
	Spot, OnDemand bool
}

// choices are the values of `provisioning` that rent servers, by name. The argument must be registered before any
// policy.
var choices = ask()

func ask() map[string]*Choice {
	policy.RegisterQuestion(Provisioning, policy.QuestionText{
		Before:  "Which servers tfexp rents for each job, on nodes with `acquire = \"on_request\"`:",
		After:   "Each job rents for itself: its nodes are given back when it leaves them.",
		Example: `"uniform_progress"`, Summary: "%s servers",
	})
	policy.RegisterChoice(Provisioning, policy.Choice{
		Name: "fixed", Title: "Fixed servers", Place: 1, Doc: "as the `node` blocks say, independently of jobs",
	})
	return map[string]*Choice{}
}

// register registers a strategy. It requires a policy that plans jobs one by one and gives them their full requests.
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

// Of returns the provisioning of a policy; nil if the nodes' own terms apply.
func Of(p *policy.Policy) *Choice { return choices[p.Get(Provisioning)] }

// Markets returns the markets in which the policy rents servers for its jobs; nil if the nodes' own terms apply.
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

// Regions returns the regions in which the policy rents servers; nil for all.
func Regions(p *policy.Policy) []string {
	list, _ := p.Settings["regions"].([]string)
	return slices.Clone(list)
}
