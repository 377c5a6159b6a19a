package users

import (
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
)

// DRF is dominant resource fairness (A. Ghodsi, M. Zaharia, B. Hindman, A. Konwinski, S. Shenker,
// I. Stoica, NSDI 2011): the next job is one of the user whose dominant share is least, which is
// the greatest part of the cluster's cores, GPUs or memory that the user holds.
const DRF policy.Order = "drf"

var _ = registerDominant(policy.Choice{
	Name: DRF, Title: "DRF", Place: 12,
	Doc: "the user whose dominant share is smallest",
}, func(s *userShares) scheduler.Ranker { return &dominantShares{s} })

type dominantShares struct{ *userShares }

// HeldBack implements scheduler.Admitter.
func (d *dominantShares) HeldBack(scheduler.View, int32) string {
	return "comes after another job of its user"
}

// Admit implements scheduler.Admitter: a user whose first job has no room is left out until something has changed, or
// ends the pass.
func (d *dominantShares) Admit(v scheduler.View, h scheduler.Actions) error {
	d.look(v, h)
	return d.inTurn(d.dominant, func(user int) (bool, error) {
		return d.start(v, h, d.lists[user][0], anything, "the job's user has the smallest dominant share")
	})
}
