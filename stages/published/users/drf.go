package users

import (
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
)

// DRF is dominant resource fairness (A. Ghodsi, M. Zaharia, B. Hindman, A. Konwinski, S. Shenker, I. Stoica, NSDI
// 2011). The next job belongs to the user with the smallest dominant share. A user's dominant share is the largest of
// the user's fractions of the cluster's cores, GPUs and memory.
const DRF policy.Order = "drf"

var _ = registerDominant(policy.Choice{
	Name: DRF, Title: "DRF", Place: 12,
	Doc: "the user with the smallest dominant share",
}, func(s *userShares) scheduler.Ranker { return &dominantShares{s} })

type dominantShares struct{ *userShares }

// HeldBack implements scheduler.Admitter.
func (d *dominantShares) HeldBack(scheduler.View, int32) string {
	return "comes after another job of its user"
}

// Admit implements scheduler.Admitter. If the first job of a user has no room, the user is skipped until something
// changes, or the pass ends.
func (d *dominantShares) Admit(v scheduler.View, h scheduler.Actions) error {
	d.look(v, h)
	return d.inTurn(d.dominant, func(user int) (bool, error) {
		return d.start(v, h, d.lists[user][0], anything, "the job's user has the smallest dominant share")
	})
}
