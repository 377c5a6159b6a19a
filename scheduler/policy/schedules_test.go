package policy_test

import (
	"flag"
	"testing"

	"github.com/tfexp/tfexp/hardware/need"
	"github.com/tfexp/tfexp/hardware/simulated/schedulertest"
	"github.com/tfexp/tfexp/scheduler/policy"
)

var update = flag.Bool("update", false, "write the golden file of the schedules")

// TestOtherSchedules checks orders that the kernel's golden file does not cover, and policies that place all jobs
// again.
func TestOtherSchedules(t *testing.T) {
	var all []schedulertest.Combination
	for _, victims := range []string{"longest_run", "smallest_request", "worst"} {
		for _, c := range []schedulertest.Combination{
			{Order: "srsf"}, {Order: "gittins"}, {Order: "mlfq", Settings: policy.Settings{"quanta": []string{"1s", "3s"}}},
			{Order: "priority_round_robin", Preemption: "pause"},
		} {
			c.Victims = victims
			all = append(all, schedulertest.Backfills(c)...)
		}
		for _, order := range []string{"fcfs", "sjf", "srtf", "priority", "edf", "srsf"} {
			all = append(all, schedulertest.Combination{Order: order, Allocation: "strict", Backfill: "first_fit", Preemption: "pause",
				Victims: victims, Placement: "first", Settings: policy.Settings{"replan": true}})
		}
	}
	schedulertest.GoldenOf(t, "testdata/other.txt", all, true, *update)
}

// TestUsersSchedules checks that orders that share a cluster among users produce the recorded schedules.
func TestUsersSchedules(t *testing.T) {
	var all []schedulertest.Combination
	for _, order := range []policy.Order{"drf", "drf_sjf", "drf_exchange", "each_resource", "equal_share"} {
		c := schedulertest.Combination{Order: order, Allocation: "strict", Backfill: "first_fit", Preemption: "none",
			Placement: "first"}
		if order == "drf_exchange" {
			c.Settings = policy.Settings{"gpu_cores": 4.0}
		}
		all = append(all, c)
	}
	schedulertest.GoldenOf(t, "testdata/users_schedules.txt", all, !need.Long(), *update)
}
