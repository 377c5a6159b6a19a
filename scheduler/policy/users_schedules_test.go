package policy_test

import (
	"testing"

	"github.com/tfexp/tfexp/hardware/simulated/schedulertest"
	"github.com/tfexp/tfexp/scheduler/policy"
)

// TestSchedules: orders that share a cluster among users come to the schedules that they came to before.
func TestUsersSchedules(t *testing.T) {
	var all []schedulertest.Combination
	for _, order := range []policy.Order{policy.DRF, policy.DRFSJF, policy.DRFExchange, policy.EachResource, policy.EqualShare} {
		c := schedulertest.Combination{Order: string(order), Allocation: "strict", Backfill: "first_fit", Preemption: "none",
			Placement: "first"}
		if order == policy.DRFExchange {
			c.Settings = policy.Settings{"gpu_cores": 4.0}
		}
		all = append(all, c)
	}
	schedulertest.GoldenOf(t, "testdata/users_schedules.txt", all, false, *update)
}
