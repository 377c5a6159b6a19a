package scheduler_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tfexp/tfexp/hardware/simulated"
	. "github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	. "github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/validate"
)

// placed is a policy with a given placement rule for divided jobs.
type placed struct {
	Policy
	rule cluster.PlacementRule
}

func (p placed) Rules(r Run) (PolicyRules, error) {
	rules, err := p.Policy.Rules(r)
	rules.Place = p.rule
	return rules, err
}

func divided(j Job) Job { return with(j, func(j *Job) { j.Divided = true }) }

// gpuNodes returns a cluster of n nodes with four GPUs and a core for each. Each rack has two nodes.
func gpuNodes(n int) Cluster {
	var c Cluster
	for i := range n {
		c.Nodes = append(c.Nodes, Node{Name: "n", Threads: 4, GPUs: 4, Rack: string(rune('a' + i/2))})
	}
	return c
}

// on returns the number of GPUs by node that a job has when it starts.
func on(c Cluster, events []Event, job int) (per []int) {
	for _, e := range events {
		if e.Job != job || e.Kind != Start {
			continue
		}
		per = make([]int, len(c.Nodes))
		e.GPUs.Each(func(g int) { per[g/4]++ })
	}
	return per
}

func TestDividedJobs(t *testing.T) {
	wide := func(arrival, gpus int, seconds float64) Job {
		j := divided(at(arrival, gpus, seconds))
		j.GPUs = gpus
		return j
	}
	for _, c := range []struct {
		name  string
		rule  cluster.PlacementRule
		nodes int
		jobs  []Job
		want  string // Gantt
		on    [][]int
	}{
		{
			// A's six GPUs are four on one node and two on another. B uses the two free ones of the second node.
			name: "consolidated: six are four and two", rule: cluster.PlaceConsolidated, nodes: 3,
			jobs: []Job{wide(0, 6, 3), wide(0, 2, 2), wide(1, 4, 1)},
			want: `
			A |666|
			B |22|
			C | 4|
			`,
			on: [][]int{{4, 2, 0}, {0, 2, 0}, {0, 0, 4}},
		},
		{
			// A and B hold one GPU and four. C's four GPUs are free only on two nodes together. One empty node would be
			// enough, so C waits until A ends.
			name: "consolidated: whoever fits on a node waits for one", rule: cluster.PlaceConsolidated, nodes: 2,
			jobs: []Job{wide(0, 1, 2), wide(0, 4, 4), wide(1, 4, 1)},
			want: `
			A |11|
			B |4444|
			C | .4|
			`,
			on: [][]int{{1, 0}, {0, 4}, {4, 0}},
		},
		{
			// C needs four GPUs and takes them wherever they are free, also on several nodes.
			name: "any: a job is where something is free", rule: cluster.PlaceAny, nodes: 2,
			jobs: []Job{wide(0, 1, 2), wide(0, 3, 4), wide(1, 4, 1)},
			want: `
			A |11|
			B |3333|
			C | 4|
			`,
			on: [][]int{{1, 0}, {3, 0}, {0, 4}},
		},
		{
			name: "any: five over two nodes", rule: cluster.PlaceAny, nodes: 2,
			jobs: []Job{wide(0, 2, 2), wide(0, 5, 1)},
			want: `
			A |22|
			B |5|
			`,
			on: [][]int{{2, 0}, {2, 3}},
		},
		{
			name: "spread: one after the other on the emptiest", rule: cluster.PlaceSpread, nodes: 3,
			jobs: []Job{wide(0, 3, 2), wide(0, 4, 1), wide(0, 2, 1)},
			want: `
			A |33|
			B |4|
			C |2|
			`,
			on: [][]int{{1, 1, 1}, {2, 1, 1}, {0, 1, 1}},
		},
		{
			// A uses a GPU of rack a, which leaves less than two free nodes there. B needs two nodes, so it uses rack
			// b.
			name: "consolidated: the nodes of a rack", rule: cluster.PlaceConsolidated, nodes: 4,
			jobs: []Job{wide(0, 1, 2), wide(0, 8, 1)},
			want: `
			A |11|
			B |8|
			`,
			on: [][]int{{1, 0, 0, 0}, {0, 0, 4, 4}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := Run{Policy: placed{Policy{Backfill: FirstFit}, c.rule}, Cluster: gpuNodes(c.nodes), Jobs: number(c.jobs)}
			_, tr := simulate(t, r, nil)
			want := strings.ReplaceAll(strings.TrimLeft(c.want, "\n"), "\t", "")
			if diff := cmp.Diff(want, gantt(r.Jobs, tr.events)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for j := range r.Jobs {
				if got := on(r.Cluster, tr.events, j); !slices.Equal(got, c.on[j]) {
					t.Errorf("job %s has %v GPUs by node, want %v", r.Jobs[j].Name, got, c.on[j])
				}
			}
		})
	}
}

// Under any rule and policy, on any cluster, all divided jobs end and the trace is valid. Consolidated jobs use as few
// nodes as on an empty cluster.
func TestAnyRunOfDividedJobsIsValid(t *testing.T) {
	rules := map[string]cluster.PlacementRule{"any": cluster.PlaceAny, "spread": cluster.PlaceSpread,
		"consolidated": cluster.PlaceConsolidated}
	rapid.Check(t, func(t *rapid.T) {
		c := drawCluster(t)
		for i := range c.Nodes {
			c.Nodes[i].Rack = rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "rack")
		}
		jobs, work := drawJobs(t, c, false)
		for i := range jobs {
			j := &jobs[i]
			if j.Nodes > 1 || rapid.Bool().Draw(t, "stays") {
				continue
			}
			more := *j
			more.Divided, more.Malleable, more.MinThreads, more.MaxThreads = true, false, 0, 0
			if n := rapid.IntRange(1, 3).Draw(t, "times"); true {
				more.Threads, more.GPUs, more.Memory = more.Threads*n, more.GPUs*n, more.Memory*int64(n)
			}
			if more.CouldRun(c, false) {
				*j = more
				work[i].Threads = j.Threads
			}
		}
		p := drawPolicy(t)
		p.Allocation = Strict // policies that divide jobs require it
		delete(p.Settings, "replan")
		rule := rapid.SampledFrom([]string{"any", "spread", "consolidated"}).Draw(t, "rule")
		o := simulated.Options{}
		o.Lacks.Migrate = rapid.Bool().Draw(t, "stay")
		r := Run{Policy: placed{p, rules[rule]}, Cluster: c, Jobs: jobs}
		out, tr := execute(t, r, work, o)
		for _, v := range validate.Trace(c, jobs, nil, tr.events, &out) {
			t.Errorf("%s, %s: %s", r.Policy, rule, v)
		}
		for i, res := range out.Jobs {
			if res.State != Finished {
				t.Errorf("%s, %s: job %d is %s", r.Policy, rule, i, res.State)
			}
		}
	})
}
