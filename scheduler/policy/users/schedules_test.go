package users_test

import (
	"flag"
	"testing"

	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/policy/users"
	"github.com/tfexp/tfexp/scheduler/schedulertest"
)

var update = flag.Bool("update", false, "write the golden file")

// TestSchedules: orders that share a cluster among users come to the schedules that they came to before.
func TestSchedules(t *testing.T) {
	var all []schedulertest.Combination
	for _, order := range []policy.Order{users.DRF, users.DRFSJF, users.DRFExchange, users.EachResource, users.EqualShare} {
		c := schedulertest.Combination{Order: string(order), Allocation: "strict", Backfill: "first_fit", Preemption: "none",
			Placement: "first"}
		if order == users.DRFExchange {
			c.Settings = policy.Settings{"gpu_cores": 4.0}
		}
		all = append(all, c)
	}
	schedulertest.GoldenOf(t, "testdata/schedules.txt", all, false, *update)
}
