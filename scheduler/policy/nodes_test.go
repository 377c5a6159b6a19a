package policy_test

import (
	"strings"
	"testing"

	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/hardware/simulated/schedulertest"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
)

// TestNodes: A takes two GPUs, B one, C two, on nodes with the GPUs 0 to 2, 3 and 4, and 5 and 6.
func TestNodes(t *testing.T) {
	c := scheduler.Cluster{}
	for _, n := range []int{3, 2, 2} {
		c.Nodes = append(c.Nodes, scheduler.Node{Threads: n, GPUs: n})
	}
	for rule, want := range map[policy.Nodes]string{
		policy.Any: "A 0-1, B 2, C 3-4",
		// Where the least is left free: A fills the second node, B leaves one of the third, and C one of the first.
		policy.Consolidated: "A 3-4, B 5, C 0-1",
		// The node with the most room: A leaves one core of the first node, B one of the second. C goes to the third,
		// and then to the first of three nodes with equal room.
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
