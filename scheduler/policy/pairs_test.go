package policy_test

import (
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/hardware/simulated/schedulertest"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
)

// TestPairs: the order ranks each job with each of its alternatives, on two cores and a GPU.
func TestPairs(t *testing.T) {
	at, onGPU := schedulertest.At, schedulertest.OnGPU
	stay := simulated.Options{Lacks: scheduler.Capabilities{Migrate: true}}
	moves := func(costs time.Duration) simulated.Options {
		return simulated.Options{Overheads: simulated.Overheads{Migrate: costs}}
	}
	for _, c := range []struct {
		name   string
		policy policy.Policy
		jobs   []scheduler.Job
		engine simulated.Options
		want   string
	}{
		// B on cores takes 2 s, A on the GPU 3. C would take 5 s on cores, which it waits for, and nothing else is free.
		{"the shortest pair first", policy.Policy{Order: policy.SJF},
			[]scheduler.Job{onGPU(3, at(0, 2, 4)), onGPU(6, at(0, 2, 2)), onGPU(9, at(0, 2, 5))}, stay, `
			A |111|
			B |22|
			C |..22222|
			`},
		// All pairs take 3 s: jobs go in their order, and each has the first alternative that is free.
		{"ties", policy.Policy{Order: policy.SJF},
			[]scheduler.Job{onGPU(3, at(0, 2, 3)), onGPU(3, at(0, 2, 3)), onGPU(3, at(0, 2, 3))}, stay, `
			A |222|
			B |111|
			C |...222|
			`},
		// Under an order that does not look at run times the first job has the first of its alternatives that is free. C,
		// which has but one, is passed by D.
		{"in the order of arrivals", policy.Policy{Order: policy.FCFS},
			[]scheduler.Job{onGPU(1, at(0, 2, 4)), onGPU(3, at(0, 2, 2)), at(0, 2, 1), onGPU(1, at(1, 2, 9))}, stay, `
			A |2222|
			B |111|
			C |....2|
			D | ..1|
			`},
		// A is paused at 2 for B, which is shorter on cores, and takes the GPU, where half of 6 s is left. On an engine that
		// has jobs go on where they were it waits for the cores.
		{"a paused job goes on elsewhere", policy.Policy{Order: "srtf"}, []scheduler.Job{onGPU(6, at(0, 2, 4)), at(2, 2, 1)},
			moves(0), `
			A |22111|
			B |  2|
			`},
		{"what it costs to move", policy.Policy{Order: "srtf"}, []scheduler.Job{onGPU(6, at(0, 2, 4)), at(2, 2, 1)},
			moves(2 * time.Second), `
			A |2211111|
			B |  2|
			`},
		{"a paused job goes on where it was", policy.Policy{Order: "srtf"}, []scheduler.Job{onGPU(6, at(0, 2, 4)), at(2, 2, 1)},
			stay, `
			A |22.22|
			B |  2|
			`},
		// At 1 B on the GPU, 2 s, is the shortest pair, but C holds the GPU to 3, whom it cannot pause: C has 2 s left as
		// well, and came before. On cores B would take 3 s, less than the 8 that A has left: A makes way.
		{"room is made by the pair that is next", policy.Policy{Order: "srtf"},
			[]scheduler.Job{at(0, 2, 9), onGPU(2, at(1, 2, 3)), onGPU(3, at(0, 2, 20))}, stay, `
			A |2...22222222|
			B | 222|
			C |111|
			`},
		// Without preemption B waits for the first of both.
		{"nobody is paused", policy.Policy{Order: policy.SJF},
			[]scheduler.Job{at(0, 2, 9), onGPU(2, at(1, 2, 3)), onGPU(3, at(0, 2, 20))}, stay, `
			A |222222222|
			B | ..11|
			C |111|
			`},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.policy.Placement = policy.Pairs
			schedulertest.Simulate(t, schedulertest.TwoKinds, c.policy, schedulertest.Number(c.jobs), c.engine).Want(t, c.want)
		})
	}
}

// TestSchedules: policies over pairs produce the same schedules as before.
func TestPairsSchedules(t *testing.T) {
	var all []schedulertest.Combination
	for _, order := range []string{"fcfs", "sjf", "srtf", "priority", "edf"} {
		for _, pre := range []string{"none", "pause"} {
			c := schedulertest.Combination{Order: order, Allocation: "strict", Backfill: "first_fit", Preemption: pre,
				Placement: policy.Pairs}
			if pre == "pause" {
				c.Victims = "longest_run"
			}
			all = append(all, c)
		}
	}
	schedulertest.GoldenOf(t, "testdata/pairs_schedules.txt", all, true, *update)
}
