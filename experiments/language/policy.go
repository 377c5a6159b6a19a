package language

import "github.com/tfexp/tfexp/experiments/schema"

// The orders that read a policy's other arguments.
var (
	// QuantumOrders look at the queue again after each quantum.
	QuantumOrders = []string{"round_robin", "las", "fair"}
	// PauseOrders take cores from running jobs whatever preemption says.
	PauseOrders = []string{"round_robin", "srtf", "las", "fair"}
	// ImpliedPreemption are the orders that imply preemption = "pause".
	ImpliedPreemption = []string{"srtf", "las"}
	// EstimateOrders and EstimateBackfills read run-time estimates.
	EstimateOrders    = []string{"sjf", "srtf", "allox"}
	EstimateBackfills = []string{"easy", "conservative"}
)

func policyBlock() *schema.Block {
	return &schema.Block{
		Name: "policy", Label: "name, read as `policy.<name>`", Unique: true,
		Doc: "How jobs are scheduled: who is next (`order`, `backfill`), how much it gets (`allocation`), and whether running jobs give way (`preemption`). An argument that the others make meaningless is an error, not ignored.",
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
		Args: []schema.Arg{
			{Name: "order", Type: schema.String, Required: true, Allowed: []string{"fcfs", "round_robin", "priority", "sjf", "srtf", "las", "edf", "fair", "allox"},
				Doc: "Who is next: by arrival (`fcfs`); in turns of a quantum (`round_robin`); by level (`priority`); the shortest predicted run time (`sjf`) or remaining time (`srtf`); the least attained service (`las`); the earliest deadline (`edf`); the user, then job, that had least (`fair`); or by AlloX's matching of jobs to resources and positions that makes the mean JCT least (`allox`; T. N. Le and others, EuroSys 2020).", Example: `"round_robin"`},
			{Name: "quantum", Type: schema.Duration, Positive: true, DefaultDoc: "required by `round_robin`, `las` and `fair`, an error on others", Doc: "How long a job runs before the order is looked at again.", Example: `"1s"`},
			{Name: "backfill", Type: schema.String, Default: `"none"`, Allowed: []string{"none", "first_fit", "easy", "conservative"},
				Doc: "Whether a job that cannot start lets later ones pass: never (`none`), any that fits (`first_fit`), those that do not delay the first blocked job (`easy`), those that delay nobody (`conservative`).", Example: `"easy"`},
			{Name: "allocation", Type: schema.String, Default: `"strict"`, Allowed: []string{"strict", "always_attend", "max_prop"},
				Doc: "How many cores a job gets: its full request or nothing (`strict`); what is free, up to its request (`always_attend`); a share in proportion to its request (`max_prop`).", Example: `"max_prop"`},
			{Name: "preemption", Type: schema.String, Default: `"none"`, DefaultDoc: "`\"none\"`; `\"pause\"` under `srtf` and `las`, which imply it", Allowed: []string{"none", "pause"},
				Doc: "Whether a job that cannot start may pause running jobs that are worse in the order.", Example: `"pause"`},
			{Name: "victims", Type: schema.String, Default: `"longest_run"`, Allowed: []string{"longest_run", "smallest_request"},
				Doc: "Which running jobs are paused first. Only with preemption.", Example: `"smallest_request"`},
			{Name: "feedback", Type: schema.Duration, Positive: true, DefaultDoc: "off", Doc: "A waiting job's level improves by one each time it has waited this long. Only under the order `priority`.", Example: `"10s"`},
			{Name: "estimates", Type: schema.Estimates, Default: `"fitted"`, Allowed: []string{"fitted", "oracle", "requested", "online"},
				Doc: "The run times that the policy is told: from samples (`fitted`), the true ones (`oracle`), the jobs' limits (`requested`), fitted ones with an error (`noisy(sigma)`, the standard deviation of the log error), or ones that begin as fitted and follow what jobs report while they run (`online`, or `online(sigma)` to begin with such an error). Only where something reads them: the orders `sjf`, `srtf`, `allox`, the backfills `easy` and `conservative`, the placement `earliest_finish`.", Example: `noisy(0.2)`},
			placementArg, alphaArg,
		},
	}
}
