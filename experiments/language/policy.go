package language

import (
	"strings"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler/policy"
)

func policyBlock() *schema.Block {
	return &schema.Block{
		Name: "policy", Label: "name, read as `policy.<name>`", Unique: true,
		Doc: "How jobs are scheduled: who is next (`order`, `backfill`), how much it gets (`allocation`), and whether " +
			"running jobs give way (`preemption`), and where servers are rented (`provisioning`). An argument that the " +
			"others make meaningless is an error, not ignored.",
		Example: `policy "fcfs" { order = "fcfs" }

policy "rr" {
  order   = "round_robin"
  quantum = "1s"
}

policy "urgent" {
  order      = "priority"
  preemption = "pause"
  victims    = "longest_run"
  feedback   = "10s"
}`,
		Args: append(policy.Arguments(), estimatesArg()),
	}
}

// estimatesArg is which run times the policy is told.
func estimatesArg() schema.Arg {
	var names, docs []string
	for _, s := range estimator.RunTimeSources() {
		if !s.Call {
			names = append(names, s.Name)
		}
		docs = append(docs, s.Doc)
	}
	return schema.Arg{
		Name: "estimates", Type: schema.Estimates, Default: `"fitted"`, Allowed: names,
		Doc: "The run times that the policy is told: " + strings.Join(docs, ", ") + ". " +
			"Only where something reads them: " + strings.ReplaceAll(policy.EstimateReaders(), `"`, "`") + ".",
		Example: `noisy(0.2)`,
	}
}
