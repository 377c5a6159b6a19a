package policy_test

import (
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/hardware/simulated/schedulertest"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
)

// TestReplan checks policies that place all jobs again at each dispatch.
func TestReplan(t *testing.T) {
	at, onGPU := schedulertest.At, schedulertest.OnGPU
	first := func(n int, j scheduler.Job) scheduler.Job { j.Priority = n; return j }
	cores := func(each ...int) (c scheduler.Cluster) {
		for _, n := range each {
			c.Nodes = append(c.Nodes, scheduler.Node{Threads: n})
		}
		return c
	}
	stay := simulated.Options{Lacks: scheduler.Capabilities{Migrate: true}}
	for _, c := range []struct {
		name    string
		policy  policy.Policy
		cluster scheduler.Cluster
		jobs    []scheduler.Job
		engine  simulated.Options
		want    string
	}{
		// C arrives at 2 and is first. B is last and does not fit next to C and A until 4, so it is paused.
		{"the last gives way", policy.Policy{Order: "srtf"}, cores(4),
			[]scheduler.Job{at(0, 2, 5), at(0, 2, 6), at(2, 2, 2)}, simulated.Options{}, `
			A |22222|
			B |22..2222|
			C |  22|
			`},
		// B does not fit next to A and is passed by C. At 3 C is paused for B.
		{"who does not fit is passed", policy.Policy{Order: policy.FCFS}, cores(3),
			[]scheduler.Job{at(0, 2, 3), at(1, 3, 1), at(1, 1, 5)}, simulated.Options{}, `
			A |222|
			B | ..3|
			C | 11.111|
			`},
		// Running and waiting jobs are in one order. At 1 C goes before A, but not before B.
		{"one order for all", policy.Policy{Order: policy.Priority}, cores(2),
			[]scheduler.Job{first(3, at(0, 1, 4)), first(1, at(0, 1, 4)), first(2, at(1, 1, 2))}, simulated.Options{}, `
			A |1..111|
			B |1111|
			C | 11|
			`},
		// Jobs of equal rank go in the order of arrival, and then of number, whether they run or not.
		{"ties", policy.Policy{Order: policy.Priority}, cores(2),
			[]scheduler.Job{at(1, 2, 2), at(0, 1, 3), at(0, 2, 1)}, simulated.Options{}, `
			A | ...22|
			B |111|
			C |...2|
			`},
		// B ends at 3 on node 0, where C stays. D requests two cores of one node. A, which is last but one, moves
		// beside C.
		{"jobs move", policy.Policy{Order: "srtf"}, cores(2, 2),
			[]scheduler.Job{at(0, 1, 10), at(0, 1, 3), at(0, 1, 9), at(4, 2, 8)}, simulated.Options{}, `
			A |1111111111|
			B |111|
			C |111111111|
			D |    22222222|
			`},
		// The same jobs, but a move costs 2 s. A moves at 3.
		{"what it costs to move", policy.Policy{Order: "srtf"}, cores(2, 2),
			[]scheduler.Job{at(0, 1, 10), at(0, 1, 3), at(0, 1, 9), at(4, 2, 8)},
			simulated.Options{Overheads: simulated.Overheads{Migrate: 2 * time.Second}}, `
			A |111111111111|
			B |111|
			C |111111111|
			D |    22222222|
			`},
		// On an engine that cannot move jobs, A stays on node 1. D waits until one node is free.
		{"jobs that stay", policy.Policy{Order: "srtf"}, cores(2, 2),
			[]scheduler.Job{at(0, 1, 10), at(0, 1, 3), at(0, 1, 9), at(4, 2, 8)}, stay, `
			A |1111111111|
			B |111|
			C |111111111|
			D |    .....22222222|
			`},
		// A waiting job takes the first alternative with room and keeps it. B keeps the GPU, although it is slower
		// there and the cores are free at 1.
		{"the first alternative with room", policy.Policy{Order: "srtf"}, schedulertest.TwoKinds,
			[]scheduler.Job{at(0, 2, 1), onGPU(5, at(0, 2, 3)), onGPU(4, at(1, 2, 6))}, simulated.Options{}, `
			A |2|
			B |11111|
			C | 222222|
			`},
		// At 1 B takes 2 s on cores, where A has 3 s left; on the GPU A has 4.5 s left. So B is placed on cores and A
		// on the GPU. At 3 B has ended. A has 2.5 s left on the GPU, but 1.67 s on cores, so it moves back.
		{"pairs", policy.Policy{Order: "srtf", Placement: policy.Pairs}, schedulertest.TwoKinds,
			[]scheduler.Job{onGPU(6, at(0, 2, 4)), at(1, 2, 2)}, simulated.Options{}, `
			A |21122|
			B | 22|
			`},
		// A keeps its pair if another one is equally good: at 2 it has 4 s left on both.
		{"a pair that is as good", policy.Policy{Order: "srtf", Placement: policy.Pairs}, schedulertest.TwoKinds,
			[]scheduler.Job{onGPU(6, at(0, 2, 6)), at(0, 2, 1), at(2, 1, 9)}, simulated.Options{}, `
			A |111111|
			B |2|
			C |  111111111|
			`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.policy.Settings = (policy.Settings{"replan": true}); c.policy.Order != "srtf" {
				c.policy.Preemption = "pause"
			}
			schedulertest.Simulate(t, c.cluster, c.policy, schedulertest.Number(c.jobs), c.engine).Want(t, c.want)
		})
	}
}

// TestReplanSchedules checks that policies that place all jobs again produce the recorded schedules.
func TestReplanSchedules(t *testing.T) {
	var all []schedulertest.Combination
	for _, order := range []string{"fcfs", "srtf", "priority", "edf"} {
		for _, placement := range []string{"first", "pairs"} {
			all = append(all, schedulertest.Combination{Order: order, Allocation: "strict", Backfill: "first_fit", Preemption: "pause",
				Victims: "longest_run", Placement: placement, Settings: policy.Settings{"replan": true}})
		}
	}
	schedulertest.GoldenOf(t, "testdata/replan_schedules.txt", all, true, *update)
}
