package policy

import (
	"github.com/tfexp/tfexp/scheduler"
)

// EqualShare gives each user of the workload the same part of the cluster, used or not.
const EqualShare Order = "equal_share"

var _ = registerShared(Choice{
	Name: EqualShare, Title: "Equal share", Place: 13,
	Doc: "each user's first, within a static part of the cluster: with n users in the workload, a user's running jobs " +
		"hold at most 1/n of its cores, GPUs and memory; a job that is larger than that runs alone among its user's",
}, func(s *userShares) scheduler.Ranker { return &parted{s} })

type parted struct{ *userShares }

// HeldBack implements scheduler.Admitter.
func (e *parted) HeldBack(scheduler.View, int32) string {
	return "its user's part of the cluster is used up"
}

// Admit implements scheduler.Admitter: the jobs of each user start in the order of arrival.
func (e *parted) Admit(v scheduler.View, h scheduler.Hands) error {
	e.look(v, h)
	for user := range e.lists {
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

// within reports whether a user may hold so much more.
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
