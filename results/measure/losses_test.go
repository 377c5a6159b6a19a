package measure_test

import (
	"testing"
	"time"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/stages/servers/market"
)

// The loss of an attempt is reported by the engine when that attempt ends (simulated), or by the resumed program
// when its own attempt ends (real): both count, once. A server on which a part restarts belongs to the job, too,
// and the job pays for its cores while it holds them.
func TestLossesByHand(t *testing.T) {
	part := func(task int) scheduler.Part {
		return scheduler.Part{Node: task, Role: "worker", Task: task, Cores: cores(int32(task), int32(task)+1)}
	}
	one := &cluster.Layout{Parts: []scheduler.Part{part(0)}}
	both := &cluster.Layout{Parts: []scheduler.Part{part(0), part(1)}}
	setup := measure.Setup{
		Cluster: scheduler.Cluster{Nodes: []scheduler.Node{
			{Name: "a", Threads: 1, Supply: cluster.Fixed}, {Name: "b", Threads: 1, Supply: cluster.Fixed},
		}},
		Jobs: []scheduler.Job{{
			Name: "j-1", Class: "j", Threads: 2,
			Special: &scheduler.Special{Roles: []scheduler.Role{{Name: "worker", Count: 2, Threads: 1, Elastic: true, Min: 1}}},
		}},
		Terms: []measure.Rental{
			&market.Terms{Market: market.Spot, Price: market.Fixed(3600)}, &market.Terms{Market: market.Spot, Price: market.Fixed(7200)},
		},
	}
	node := func(at time.Duration, kind scheduler.EventKind, node int, lost bool) scheduler.Event {
		e := scheduler.Event{At: at * second, Kind: kind, Job: -1, Node: node, Revoked: lost}
		if kind == scheduler.NodeRequest {
			e.Server = &scheduler.Server{Created: e.At, Market: market.Spot}
		}
		return e
	}
	job := func(at time.Duration, kind scheduler.EventKind, layout *cluster.Layout,
		a *scheduler.Attempt) scheduler.Event {
		e := scheduler.Event{At: at * second, Kind: kind, Layout: layout, Attempt: a}
		if layout != nil {
			e.Cores = cores(0, int32(len(layout.Parts)))
		}
		return e
	}
	c := collect(setup, []scheduler.Event{
		node(0, scheduler.NodeRequest, 0, false), node(0, scheduler.NodeRequest, 1, false),
		node(0, scheduler.NodeStart, 0, false), node(0, scheduler.NodeStart, 1, false),
		job(0, scheduler.Arrive, nil, nil), job(0, scheduler.Start, both, nil),
		node(10, scheduler.NodeEnd, 1, true), job(10, scheduler.ResizeJob, one, nil),
		node(12, scheduler.NodeRequest, 1, false), node(12, scheduler.NodeStart, 1, false), job(12, scheduler.ResizeJob, both,
			nil),
		node(20, scheduler.NodeEnd, 0, true),
		job(20, scheduler.Revoke, nil, &scheduler.Attempt{Done: 9 * second, Kept: 7 * second, Checkpoints: second}),
		node(21, scheduler.NodeRequest, 0, false), node(21, scheduler.NodeStart, 0, false), job(21, scheduler.Start, both,
			nil),
		job(30, scheduler.Finish, nil, &scheduler.Attempt{Redone: 3 * second, Restore: second}),
		node(30, scheduler.NodeEnd, 0, false), node(30, scheduler.NodeEnd, 1, false),
	})
	o := c.Outcome(0)
	if o.LostWork != 5 || o.CheckpointTime != 1 || o.RestoreTime != 1 || o.Resizes != 2 {
		t.Errorf("lost %g s, checkpoints %g s, restore %g s, %d resizes", o.LostWork, o.CheckpointTime, o.RestoreTime,
			o.Resizes)
	}
	// Node a: 20 s and 9 s at 1 $; node b: 10 s, 8 s and 9 s at 2 $.
	if want := 29.0 + 2*27; o.Money.Cost != want {
		t.Errorf("the job cost %g $, want %g", o.Money.Cost, want)
	}
	servers := c.Servers()
	if len(servers) != 4 {
		t.Fatalf("%d servers", len(servers))
	}
	for i, s := range servers {
		if s.Job != 0 || s.Revoked != (i < 2) {
			t.Errorf("server %d: %+v", i, s)
		}
	}
}
