package users

import (
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
)

// DRFSJF is dominant resource fairness among users, and shortest job first among the jobs of a user. It is the policy
// DRFS to which AlloX was compared (T. N. Le and others, EuroSys 2020); the paper's DRFF is DRF here.
const DRFSJF policy.Order = "drf_sjf"

var _ = registerDominant(policy.Choice{
	Name: DRFSJF, Title: "DRF with SJF", Place: 12, Estimates: true,
	Doc: "as `drf`, but the shortest of the user's jobs first",
}, func(s *userShares) scheduler.Ranker { return &dominantShortest{s} })

type dominantShortest struct{ *userShares }

// HeldBack implements scheduler.Admitter.
func (d *dominantShortest) HeldBack(scheduler.View, int32) string { return "comes after another job" }

// Admit implements scheduler.Admitter.
func (d *dominantShortest) Admit(v scheduler.View, h scheduler.Actions) error {
	return d.byUser(v, h, d.dominant, anything, "the shortest job of the user with the smallest dominant share")
}
