package users

import (
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
)

// EachResource gives each user an equal amount of each resource. GPUs are given to the user who holds the fewest, and
// then cores likewise. It is the policy ES (equal share) to which AlloX was compared (T. N. Le and others, EuroSys
// 2020).
const EachResource policy.Order = "each_resource"

var _ = registerShared(policy.Choice{
	Name: EachResource, Title: "Equal share of each resource", Place: 13, Estimates: true,
	Doc: "each resource is shared among the users separately",
}, policy.PlaceFirst, func(s *userShares) scheduler.Ranker { return &eachResource{s} })

type eachResource struct{ *userShares }

// HeldBack implements scheduler.Admitter.
func (e *eachResource) HeldBack(scheduler.View, int32) string { return "comes after another job" }

// Admit implements scheduler.Admitter.
func (e *eachResource) Admit(v scheduler.View, h scheduler.Actions) error {
	holds := func(resource int) func(user int) float64 {
		return func(user int) float64 { return e.held[user][resource] }
	}
	if e.total[1] > 0 {
		err := e.byUser(v, h, holds(1), func(need amounts) bool { return need[1] > 0 },
			"the shortest GPU job of the user with the fewest GPUs")
		if err != nil {
			return err
		}
	}
	return e.byUser(v, h, holds(0), func(need amounts) bool { return need[1] == 0 },
		"the shortest job without GPUs of the user with the fewest cores")
}
