package users

import (
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
)

// DRFExchange is dominant resource fairness with cores and GPUs as one resource, converted by a rate. It is the policy
// DRFE to which AlloX was compared (T. N. Le and others, EuroSys 2020).
const DRFExchange policy.Order = "drf_exchange"

// gpuCores is the argument with the rate.
var gpuCores = schema.Arg{
	Name: "gpu_cores", Type: schema.Number, Required: true, Positive: true,
	Doc:     "The number of cores that a GPU counts as: the mean ratio of a job's run time on a core to its run time on a GPU.",
	Example: `20`,
}

var _ = registerDominant(policy.Choice{
	Name: DRFExchange, Title: "DRF with exchange", Place: 12, Estimates: true,
	Doc:      "as `drf_sjf`, but a GPU counts as a number of cores",
	Settings: []schema.Arg{gpuCores},
}, func(s *userShares) scheduler.Ranker { return &exchanged{s, s.settings.Number(gpuCores.Name)} })

type exchanged struct {
	*userShares
	rate float64 // number of cores that a GPU counts as
}

// HeldBack implements scheduler.Admitter.
func (d *exchanged) HeldBack(scheduler.View, int32) string { return "comes after another job" }

// Admit implements scheduler.Admitter.
func (d *exchanged) Admit(v scheduler.View, h scheduler.Actions) error {
	return d.byUser(v, h, d.share, anything,
		"the shortest job of the user with the smallest share of cores and GPUs together")
}

// share returns a user's share of cores and GPUs together or, if larger, of the memory.
func (d *exchanged) share(user int) float64 {
	held := &d.held[user]
	part := (held[0] + d.rate*held[1]) / (d.total[0] + d.rate*d.total[1])
	if d.total[2] > 0 {
		part = max(part, held[2]/d.total[2])
	}
	return part
}
