package users

import (
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
)

// EqualShare gives each user of the workload an equal, fixed part of the cluster, even if it is not used.
const EqualShare policy.Order = "equal_share"

var _ = registerShared(policy.Choice{
	Name: EqualShare, Title: "Equal share", Place: 13, PairEstimates: true,
	Doc: "each user has a fixed part of the cluster",
}, policy.Pairs, func(s *userShares) scheduler.Ranker { return &parted{s} })

type parted struct{ *userShares }

// HeldBack implements scheduler.Admitter.
func (e *parted) HeldBack(scheduler.View, int32) string {
	return "its user's part of the cluster is used up"
}

// Admit implements scheduler.Admitter. The jobs of each user start in the order of arrival, or the shortest first.
func (e *parted) Admit(v scheduler.View, h scheduler.Actions) error {
	e.look(v, h)
	for user := range e.lists {
		if e.byLength {
			if err := e.startPairs(v, h, user); err != nil {
				return err
			}
			continue
		}
		for len(e.lists[user]) > 0 {
			started, err := e.start(v, h, e.lists[user][0], func(need amounts) bool { return e.within(user, need) },
				"its user's part has room")
			if err != nil {
				return err
			}
			if !started {
				break
			}
		}
	}
	return nil
}

// startPairs starts pairs of a user's jobs and alternatives, the shortest first: first on GPUs, then on cores.
func (e *parted) startPairs(v scheduler.View, h scheduler.Actions, user int) error {
	for _, onGPUs := range []bool{true, false} {
		allowed := func(need amounts) bool { return need[1] > 0 == onGPUs && e.within(user, need) }
		for started := true; started; {
			var err error
			started, err = e.startShortest(v, h, user, allowed, "the shortest for which its user's part has room")
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// within reports whether a user may hold this additional amount.
func (e *parted) within(user int, more amounts) bool {
	if e.held[user] == (amounts{}) {
		return true
	}
	for i, total := range e.total {
		if total > 0 && more[i] > 0 && (e.held[user][i]+more[i])*float64(e.users) > total {
			return false
		}
	}
	return true
}
