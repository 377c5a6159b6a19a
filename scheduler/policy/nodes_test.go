package policy_test

import (
	"strings"
	"testing"

	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/hardware/simulated/schedulertest"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
)

// TestNodes places A with two GPUs, B with one and C with two. Node 0 has the GPUs 0 to 2, node 1 has 3 and 4, node 2
// has 5 and 6.
func TestNodes(t *testing.T) {
	c := scheduler.Cluster{}
	for _, n := range []int{3, 2, 2} {
		c.Nodes = append(c.Nodes, scheduler.Node{Threads: n, GPUs: n})
	}
	for rule, want := range map[policy.Nodes]string{
		policy.Any: "A 0-1, B 2, C 3-4",
		// A node with the fewest GPUs left is chosen. A fills node 1, B leaves one GPU of node 2, and C leaves one of
		// node 0.
		policy.Consolidated: "A 3-4, B 5, C 0-1",
		// The node with the most room is chosen for each GPU. A leaves one core of node 0 and B one of node 1. C uses
		// node 2, and then node 0, the first of three nodes with equal room.
		policy.Spread: "A 0-1, B 3, C 2,5",
	} {
		jobs := schedulertest.Number([]scheduler.Job{
			schedulertest.At(0, 2, 5), schedulertest.At(0, 1, 5), schedulertest.At(1, 2, 5)})
		for i := range jobs {
			jobs[i].GPUs, jobs[i].Divided = jobs[i].Threads, true
		}
		p := policy.Policy{Order: policy.FCFS, Nodes: rule}
		tr := schedulertest.Simulate(t, c, p, jobs, simulated.Options{})
		var got []string
		for _, e := range tr.Events {
			if e.Kind == scheduler.Start {
				got = append(got, jobs[e.Job].Name+" "+e.GPUs.String())
			}
		}
		if got := strings.Join(got, ", "); got != want {
			t.Errorf("%s: %s, want %s", rule, got, want)
		}
		p.Allocation = policy.MaxProp
		if err := p.Validate(); err == nil {
			t.Errorf("%s with %s is accepted", rule, p.Allocation)
		}
	}
}
