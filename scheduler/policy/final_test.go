package policy_test

import (
	"context"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/hardware/simulated/schedulertest"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
)

// TestPairsThatMayHaveRoom checks that a shortcut changes nothing: checking only jobs that may have room gives the same
// result as checking all jobs.
func TestPairsThatMayHaveRoom(t *testing.T) {
	cluster := scheduler.Cluster{Nodes: []scheduler.Node{{Threads: 5}, {Threads: 3, GPUs: 2, GPU: "V100"}}}
	passed := 0
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var jobs []scheduler.Job
		for range 30 {
			j := schedulertest.At(rng.IntN(12), 1+rng.IntN(5), float64(1+rng.IntN(6)))
			if rng.IntN(2) == 0 {
				j = schedulertest.OnGPU(float64(1+rng.IntN(6)), j)
			}
			jobs = append(jobs, j)
		}
		jobs = schedulertest.Number(jobs)
		for _, order := range []policy.Order{policy.FCFS, policy.SJF, "edf", policy.RoundRobin} {
			p := policy.Policy{Order: order, Placement: policy.Pairs}
			if order == policy.RoundRobin {
				p.Settings = policy.Settings{"quantum": jobs[0].Predicted}
			}
			var traces [2]schedulertest.Trace
			for i, rules := range []scheduler.SchedulingPolicy{p, policy.AllPairs{Policy: p}} {
				engine, err := simulated.New(jobs, schedulertest.Work(jobs), simulated.Options{})
				if err != nil {
					t.Fatal(err)
				}
				r := scheduler.Run{Policy: rules, Cluster: cluster, Jobs: jobs, Engine: engine, Recorder: &traces[i]}
				if _, err := r.Execute(context.Background()); err != nil {
					t.Fatal(err)
				}
			}
			if !reflect.DeepEqual(traces[0].Events, traces[1].Events) {
				t.Fatalf("%s, seed %d: the schedules differ", order, seed)
			}
			for _, e := range traces[0].Events {
				if e.Kind == scheduler.Start {
					passed++
				}
			}
		}
	}
	if passed != 60*4*30 {
		t.Errorf("%d jobs started", passed)
	}
}
