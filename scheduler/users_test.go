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

// Orders that share a cluster among users are compared with schedules worked by hand.
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
			// This is the example of the paper, with 9 cores and 18 GB. Ann's jobs need 1 core and 4 GB, Bob's 3 cores
			// and 1 GB. Ann's dominant resource is memory, Bob's is cores. Ann runs three jobs and Bob two; both have
			// two thirds. Ann's last job waits for memory.
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
			// Ann came first. When A ends, Bob holds nothing, so his job goes before C.
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
			// Ann and Bob hold nothing. Ann came first, so A starts. Then it is Bob's turn, but B does not fit, so
			// Ann's C must wait too.
			name: "drf: the first job that does not fit ends the pass", policy: Policy{Order: "drf", Backfill: NoBackfill}, on: one(4),
			jobs: []Job{of("ann", at(0, 3, 2)), of("bob", at(0, 2, 1)), of("ann", at(0, 1, 1))},
			want: `
			A |33|
			B |..2|
			C |..1|
			`,
		},
		{
			// Bob's shortest job is C. It needs four cores, but Ann's A has one. D would fit, but must wait.
			name: "drf_sjf: only a user's shortest job is tried", policy: Policy{Order: "drf_sjf", Backfill: NoBackfill}, on: one(4),
			jobs: []Job{of("ann", at(0, 1, 2)), of("bob", at(0, 4, 1)), of("bob", at(0, 1, 3))},
			want: `
			A |11|
			B |..4|
			C |...111|
			`,
		},
		{
			// The cluster has a GPU with a core, and two cores. All jobs are Ann's. On the GPU, B is the shortest; on
			// cores, C and then A. A runs on cores, although the GPU would be faster for it from 2 on.
			name: "equal share by pairs", policy: Policy{Order: "equal_share", Placement: Pairs}, on: twoKinds,
			jobs: []Job{of("ann", onGPU(4, at(0, 2, 9))), of("ann", onGPU(2, at(0, 2, 5))), of("ann", at(0, 2, 1))},
			want: `
			A |.222222222|
			B |11|
			C |2|
			`,
		},
		{
			// At 2 A needs 2 s more and B 3 s, but A's whole run time is longer.
			name: "srtf by whole run times", policy: Policy{Order: "srtf", Settings: Settings{"rank_by": "whole"}}, on: one(1),
			jobs: []Job{at(0, 1, 4), at(2, 1, 3)},
			want: `
			A |11...11|
			B |  111|
			`,
		},
		{
			// Each user has two of the four cores. Bob's cores stay free until he arrives. C is larger than Ann's part,
			// and runs only when no other job of hers does.
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
			// The cluster has a GPU with a core, and two cores. Ann's shortest pair is A on the GPU (2 s). Then Bob,
			// who holds nothing, starts D on cores (5 s; C would take 8 s). At 2 Ann holds nothing, and starts B on the
			// GPU (4 s). At 5 Bob's C would wait 1 s for the GPU, but the cores are free.
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
			// At 0 Ann holds the GPU (A) and Bob two of four cores (C). As dominant shares these are 1 and 1/2, so the
			// other two cores would go to Bob's D. Here a GPU counts as one core of five. Ann holds 1 or 2, as A has a
			// core too, and Bob holds 2. Ann came first.
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
			// The same jobs with dominant shares: Bob's half of the cores is less than Ann's whole GPU.
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
			// Ann came first, so the GPU goes to her shortest job on it, B. Of the cores Bob holds none, so C starts.
			// At 3 the GPU is free and no user holds one, so Ann's A gets it. Her D gets the cores at 6, when Bob has
			// no job left.
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

// Two jobs can run on cores or on the only GPU, which C holds until 2. Ordered by fastest alternatives, A is first (4 s
// on the GPU) and would take the cores for 9 s. B needs 5 s on them. At 0 the possible pairs are A and B on cores. B is
// shorter there, and A gets the GPU at 2.
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

// On any cluster, for any jobs, the traces of these policies are valid and all jobs end.
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

// If all jobs belong to one user, dominant resource fairness and equal shares equal first come, first served. This
// holds also if servers are lost, if jobs return to the queue, and if no more servers are available.
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
		run(Policy{Order: "drf_sjf"}) // rented checks the outcome of the jobs
		run(Policy{Order: "each_resource"})
	})
}
