package scheduler_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tfexp/tfexp/hardware/simulated"
	. "github.com/tfexp/tfexp/scheduler"
	. "github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/policy/pairs"
	"github.com/tfexp/tfexp/scheduler/policy/users"
	"github.com/tfexp/tfexp/scheduler/validate"
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
			name: "drf: the paper's example", policy: Policy{Order: users.DRF},
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
			name: "drf: least share first", policy: Policy{Order: users.DRF}, on: one(4),
			jobs: []Job{of("ann", at(0, 2, 2)), of("ann", at(0, 2, 4)), of("ann", at(1, 2, 1)), of("bob", at(1, 2, 1))},
			want: `
			A |22|
			B |2222|
			C | ..2|
			D | .2|
			`,
		},
		{
			// Each has two of the four cores; bob's are free until he comes. C is larger than ann's
			// part, and runs when nothing of hers does.
			name: "equal share: the part of a user stays free", policy: Policy{Order: users.EqualShare}, on: one(4),
			jobs: []Job{of("ann", at(0, 2, 2)), of("ann", at(0, 1, 1)), of("ann", at(0, 3, 1)), of("bob", at(3, 2, 1))},
			want: `
			A |22|
			B |..1|
			C |...3|
			D |   .2|
			`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := Run{Policy: c.policy, Cluster: c.on, Jobs: number(c.jobs)}
			_, tr := simulate(t, r, nil)
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
			onGPU(4, at(0, 2, 9)), onGPU(6, at(0, 2, 5)), onTypes(gpus(1, at(0, 1, 2))),
		})
	}
	for _, c := range []struct {
		policy Policy
		want   string
	}{
		{Policy{Order: SJF, Placement: pairs.Pairs}, "A |..1111|\nB |22222|\nC |11|\n"},
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
		p := rapid.SampledFrom([]Policy{
			{Order: users.DRF}, {Order: users.EqualShare}, {Order: SJF, Placement: pairs.Pairs},
			{Order: SRTF, Placement: pairs.Pairs}, {Order: FCFS, Placement: pairs.Pairs},
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
