package policy_test

import (
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/hardware/simulated/schedulertest"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
)

// TestPairs checks orders that rank each job with each of its alternatives, on two cores and a GPU.
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
		// B takes 2 s on cores and A 3 s on the GPU. C would take 5 s on cores, and waits for them, because nothing
		// else is free.
		{"the shortest pair first", policy.Policy{Order: policy.SJF},
			[]scheduler.Job{onGPU(3, at(0, 2, 4)), onGPU(6, at(0, 2, 2)), onGPU(9, at(0, 2, 5))}, stay, `
			A |111|
			B |22|
			C |..22222|
			`},
		// All pairs take 3 s. Jobs go in their order, and each takes the first alternative that is free.
		{"ties", policy.Policy{Order: policy.SJF},
			[]scheduler.Job{onGPU(3, at(0, 2, 3)), onGPU(3, at(0, 2, 3)), onGPU(3, at(0, 2, 3))}, stay, `
			A |222|
			B |111|
			C |...222|
			`},
		// The order ignores run times. The first job gets the first of its alternatives that is free. C has only one
		// alternative, and is passed by D.
		{"in the order of arrivals", policy.Policy{Order: policy.FCFS},
			[]scheduler.Job{onGPU(1, at(0, 2, 4)), onGPU(3, at(0, 2, 2)), at(0, 2, 1), onGPU(1, at(1, 2, 9))}, stay, `
			A |2222|
			B |111|
			C |....2|
			D | ..1|
			`},
		// At 2 A is paused for B, which is shorter on cores. A continues on the GPU, where half of 6 s is left. On an
		// engine that cannot move jobs, A waits for the cores.
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
		// At 1 the shortest pair is B on the GPU, 2 s. But C holds the GPU until 3 and may not be paused: it also has 2
		// s left, and came first. On cores B would take 3 s, less than the 8 s that A has left. So A is paused.
		{"room is made by the pair that is next", policy.Policy{Order: "srtf"},
			[]scheduler.Job{at(0, 2, 9), onGPU(2, at(1, 2, 3)), onGPU(3, at(0, 2, 20))}, stay, `
			A |2...22222222|
			B | 222|
			C |111|
			`},
		// Without preemption B waits until cores or the GPU are free.
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

// TestPairsSchedules checks that policies over pairs produce the recorded schedules.
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
