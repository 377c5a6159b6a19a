package scheduler_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/hardware/simulated/schedulertest"
	. "github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	. "github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/validate"
	. "github.com/tfexp/tfexp/stages/allox"
	"github.com/tfexp/tfexp/stages/servers/market"
)

// Orders that share a cluster among users, by hand.
func TestUsersShare(t *testing.T) {
	mem := func(bytes int64, j Job) Job { return with(j, func(j *Job) { j.Memory = bytes }) }
	for _, c := range []struct {
		name   string
		policy Policy
		on     Cluster
		jobs   []Job
		want   string
	}{
		{
			// The example of the paper: 9 cores and 18 GB; ann's jobs want 1 core and 4 GB, bob's 3
			// cores and 1 GB. Ann's dominant share is of the memory, bob's of the cores: ann runs
			// three, bob two, and both have two thirds. Ann's last waits for memory.
			name: "drf: the paper's example", policy: Policy{Order: "drf"},
			on: Cluster{Nodes: []Node{{Name: "n", Threads: 9, Memory: 18}}},
			jobs: []Job{
				of("ann", mem(4, at(0, 1, 2))), of("ann", mem(4, at(0, 1, 2))), of("ann", mem(4, at(0, 1, 2))),
				of("ann", mem(4, at(0, 1, 2))), of("bob", mem(1, at(0, 3, 2))), of("bob", mem(1, at(0, 3, 2))),
				of("bob", mem(1, at(0, 3, 2))),
			},
			want: `
			A |11|
			B |11|
			C |11|
			D |..11|
			E |33|
			F |33|
			G |..33|
			`,
		},
		{
			// Ann came first, but bob holds nothing when A ends: his job comes before C.
			name: "drf: least share first", policy: Policy{Order: "drf"}, on: one(4),
			jobs: []Job{of("ann", at(0, 2, 2)), of("ann", at(0, 2, 4)), of("ann", at(1, 2, 1)), of("bob", at(1, 2, 1))},
			want: `
			A |22|
			B |2222|
			C | ..2|
			D | .2|
			`,
		},
		{
			// Both hold nothing: ann, who came first, has A. Bob's B does not fit, so ann's C must wait too.
			name: "drf: the first job that does not fit ends the pass", policy: Policy{Order: "drf", Backfill: NoBackfill}, on: one(4),
			jobs: []Job{of("ann", at(0, 3, 2)), of("bob", at(0, 2, 1)), of("ann", at(0, 1, 1))},
			want: `
			A |33|
			B |..2|
			C |..1|
			`,
		},
		{
			// Bob's shortest is C. It needs four cores while ann's A has one, so D, which fits, must wait.
			name: "drf_sjf: only a user's shortest job is tried", policy: Policy{Order: "drf_sjf", Backfill: NoBackfill}, on: one(4),
			jobs: []Job{of("ann", at(0, 1, 2)), of("bob", at(0, 4, 1)), of("bob", at(0, 1, 3))},
			want: `
			A |11|
			B |..4|
			C |...111|
			`,
		},
		{
			// One GPU with a core, two cores, all of them ann's. Of her pairs on the GPU B is the shortest; of those on cores,
			// C, and then A, although the GPU would be faster for it from 2 on.
			name: "equal share by pairs", policy: Policy{Order: "equal_share", Placement: Pairs}, on: twoKinds,
			jobs: []Job{of("ann", onGPU(4, at(0, 2, 9))), of("ann", onGPU(2, at(0, 2, 5))), of("ann", at(0, 2, 1))},
			want: `
			A |.222222222|
			B |11|
			C |2|
			`,
		},
		{
			// At 2 A needs 2 s more and B 3 s, but A is the longer job.
			name: "srtf by whole run times", policy: Policy{Order: "srtf", Settings: Settings{"rank_by": "whole"}}, on: one(1),
			jobs: []Job{at(0, 1, 4), at(2, 1, 3)},
			want: `
			A |11...11|
			B |  111|
			`,
		},
		{
			// Each has two of the four cores; bob's are free until he comes. C is larger than ann's
			// part, and runs when nothing of hers does.
			name: "equal share: the part of a user stays free", policy: Policy{Order: "equal_share"}, on: one(4),
			jobs: []Job{of("ann", at(0, 2, 2)), of("ann", at(0, 1, 1)), of("ann", at(0, 3, 1)), of("bob", at(3, 2, 1))},
			want: `
			A |22|
			B |..1|
			C |...3|
			D |   .2|
			`,
		},
		{
			// One GPU with a core, two cores. Of ann's pairs A on the GPU is the shortest (2 s). Bob, who holds
			// nothing then, takes the cores for D (5 s; C would take 8). At 2 the GPU goes to ann again, who
			// holds nothing: B (4 s). At 5 bob's C would wait for the GPU for 1 s, but the cores are free.
			name: "drf_sjf", policy: Policy{Order: "drf_sjf"}, on: twoKinds,
			jobs: []Job{
				of("ann", onGPU(2, at(0, 2, 9))), of("ann", onGPU(4, at(0, 2, 9))),
				of("bob", onGPU(3, at(0, 2, 8))), of("bob", onGPU(4, at(0, 2, 5))),
			},
			want: `
			A |11|
			B |..1111|
			C |.....22222222|
			D |22222|
			`,
		},
		{
			// Ann holds the GPU (A) at 0, bob two of four cores (C). As dominant shares that is 1 and a half, so the
			// other two cores go to bob's D. With a GPU that counts as one core of five, ann holds one or two (A has a
			// core as well) and bob two: ann came first.
			name: "drf_exchange: a GPU counts as half a core", on: Cluster{Nodes: []Node{{Name: "n", Threads: 5, GPUs: 1}}},
			policy: Policy{Order: "drf_exchange", Settings: Settings{"gpu_cores": 0.5}},
			jobs: []Job{
				of("ann", gpus(1, at(0, 1, 2))), of("bob", at(0, 2, 2)), of("bob", at(1, 2, 1)), of("ann", at(1, 2, 1)),
			},
			want: `
			A |11|
			B |22|
			C | .2|
			D | 2|
			`,
		},
		{
			// As above, but dominant shares: bob's half of the cores is less than ann's whole GPU.
			name: "drf_sjf: the GPU is a resource of its own", on: Cluster{Nodes: []Node{{Name: "n", Threads: 5, GPUs: 1}}},
			policy: Policy{Order: "drf_sjf"},
			jobs: []Job{
				of("ann", gpus(1, at(0, 1, 2))), of("bob", at(0, 2, 2)), of("bob", at(1, 2, 1)), of("ann", at(1, 2, 1)),
			},
			want: `
			A |11|
			B |22|
			C | 2|
			D | .2|
			`,
		},
		{
			// The GPU goes to ann, who came first: her shortest on it is B. Then cores: bob holds none, and has C. At 3
			// the GPU is free: noJob holds one, so ann's A; her D has the cores at 6, when bob has nothing left.
			name: "each resource", policy: Policy{Order: "each_resource"}, on: twoKinds,
			jobs: []Job{
				of("ann", onGPU(4, at(0, 2, 9))), of("ann", onGPU(3, at(0, 2, 9))), of("bob", onGPU(9, at(0, 2, 6))),
				of("ann", at(0, 2, 1)),
			},
			want: `
			A |...1111|
			B |111|
			C |222222|
			D |......2|
			`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := Run{Policy: c.policy, Cluster: c.on, Jobs: number(c.jobs)}
			_, tr := simulate(t, r, waysOf(r.Jobs))
			want := strings.ReplaceAll(strings.TrimLeft(c.want, "\n"), "\t", "")
			if diff := cmp.Diff(want, gantt(r.Jobs, tr.events)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Two jobs can run on cores or on the one GPU. By the fastest way A comes first (4 s on the GPU,
// which C has until 2), and would take the cores for 9 s; B needs 5 s on these. The pairs that are
// free at 0 are A and B on the cores: B is shorter there, and A has the GPU at 2.
func TestPairsOfJobsAndResources(t *testing.T) {
	jobs := func() []Job {
		return number([]Job{
			onGPU(4, at(0, 2, 9)), onGPU(6, at(0, 2, 5)), schedulertest.OnTypes(gpus(1, at(0, 1, 2))),
		})
	}
	for _, c := range []struct {
		policy Policy
		want   string
	}{
		{Policy{Order: SJF, Placement: Pairs}, "A |..1111|\nB |22222|\nC |11|\n"},
		{Policy{Order: SJF, Backfill: FirstFit}, "A |222222222|\nB |..111111|\nC |11|\n"},
	} {
		r := Run{Policy: c.policy, Cluster: twoKinds, Jobs: jobs()}
		_, tr := simulate(t, r, waysOf(r.Jobs))
		if diff := cmp.Diff(c.want, gantt(r.Jobs, tr.events)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", r.Policy, diff)
		}
	}
}

// Whatever the jobs and the cluster, the traces of these policies are valid, and all jobs end.
func TestAnyRunOfSharedClustersIsValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCluster(t)
		jobs, work := drawJobs(t, c, false)
		drawAlternatives(t, c, jobs)
		for i := range jobs {
			jobs[i].User = rapid.SampledFrom([]string{"", "ann", "bob"}).Draw(t, "user")
			for k := range jobs[i].Alternatives() {
				run := time.Duration(rapid.IntRange(0, 9).Draw(t, "alternative run")) * time.Second
				work[i].AddAlternative(simulated.FullRequest(run, jobs[i].Alternatives()[k].Threads))
			}
		}
		p := rapid.SampledFrom([]Policy{
			{Order: "drf"}, {Order: "equal_share"}, {Order: SJF, Placement: Pairs},
			{Order: "drf_sjf"}, {Order: "drf_exchange", Settings: Settings{"gpu_cores": 4.0}},
			{Order: "each_resource"}, {Order: AlloX, Settings: Settings{"starvation": sec(2)}},
			{Order: "srtf", Placement: Pairs}, {Order: FCFS, Placement: Pairs},
		}).Draw(t, "policy")
		out, tr := execute(t, Run{Policy: p, Cluster: c, Jobs: jobs}, work, simulated.Options{})
		for _, v := range validate.Trace(c, jobs, nil, tr.events, &out) {
			t.Errorf("%s: %s", p, v)
		}
		for i, res := range out.Jobs {
			if res.State != Finished {
				t.Errorf("%s: job %d is %s", p, i, res.State)
			}
		}
	})
}

// For the jobs of one user alone, dominant resource fairness and equal shares are first come first served; also where
// servers are lost, jobs wait again, and at last no server can be had.
func TestOneUserAlone(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var jobs []Job
		var work []simulated.Scaling
		for range rapid.IntRange(1, 6).Draw(rt, "jobs") {
			run := time.Duration(rapid.IntRange(1, 20).Draw(rt, "run"))
			jobs = append(jobs, of("ann", with(at(rapid.IntRange(0, 20).Draw(rt, "arrival"), 1, float64(run)), func(j *Job) {
				j.Threads = rapid.IntRange(1, 2).Draw(rt, "threads")
			})))
			work = append(work, simulated.FullRequest(run*time.Second, jobs[len(jobs)-1].Threads))
		}
		ends := &market.Availability{Servers: []int{2, 1, 2, 0}}
		for i := range ends.Servers {
			ends.Times = append(ends.Times, time.Duration(i*rapid.IntRange(1, 15).Draw(rt, "change"))*time.Second)
		}
		slices.Sort(ends.Times)
		terms := &market.Terms{Market: market.Spot, Availability: ends}
		nodes := []Node{{Name: "n", Threads: 2, Supply: cluster.OnRequest}, {Name: "stands", Threads: 1}}
		run := func(p Policy) []string {
			_, lines := rented(t, Run{Policy: p, Cluster: Cluster{Nodes: nodes}, Jobs: number(jobs)}, work,
				[]*market.Terms{terms, nil}, make([]*simulated.Checkpoint, len(jobs)), 1)
			return lines
		}
		first := run(Policy{Order: FCFS})
		for _, order := range []Order{"drf", "equal_share"} {
			if diff := cmp.Diff(first, run(Policy{Order: order})); diff != "" {
				rt.Fatalf("%s (-fcfs +got):\n%s", order, diff)
			}
		}
		run(Policy{Order: "drf_sjf"}) // rented looks at what becomes of the jobs
		run(Policy{Order: "each_resource"})
	})
}
