package language

import (
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler/policy"
)

func policyBlock() *schema.Block {
	return &schema.Block{
		Name: "policy", Label: "name, read as `policy.<name>`", Unique: true,
		Doc: "How jobs are scheduled: who is next (`order`, `backfill`), how much it gets (`allocation`), and " +
			"whether running jobs give way (`preemption`). An argument that the others make meaningless is an " +
			"error, not ignored.",
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
	return schema.Arg{
		Name: "estimates", Type: schema.Estimates, Default: `"fitted"`,
		Allowed: []string{"fitted", "oracle", "requested", "online", "loss_curve"},
		Doc: "The run times that the policy is told: from samples (`fitted`), the true ones (`oracle`), " +
			"the jobs' limits (`requested`), fitted ones with an error (`noisy(sigma)`, the standard deviation " +
			"of the log error), " +
			"or ones that begin as fitted and follow what jobs report while they run (`online`, or " +
			"`online(sigma)` to begin with such an error). `loss_curve` is as `online`, and predicts from the losses " +
			"of jobs with a `target_loss` when they will reach it. " +
			"Only where something reads them: " + strings.ReplaceAll(policy.EstimateReaders(), `"`, "`") + ".",
		Example: `noisy(0.2)`,
	}
}
