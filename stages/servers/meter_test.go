package servers

import (
	"testing"
	"time"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/stages/servers/market"
)

const second = time.Second

func cores(lo, hi int32) scheduler.CoreSet { return scheduler.CoreSet{{Lo: lo, Hi: hi}} }

// collect measures events.
func collect(s measure.Setup, events []scheduler.Event) *measure.Collector {
	c := measure.NewCollector(s)
	for i := range events {
		c.Event(&events[i])
	}
	return c
}

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
		Meter: (&supply{[]*market.Terms{
			{Market: market.Spot, Price: market.Fixed(3600)}, {Market: market.Spot, Price: market.Fixed(7200)},
		}}).Meter,
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
	if want := 29.0 + 2*27; o.ServerCost.Cost != want {
		t.Errorf("the job cost %g $, want %g", o.ServerCost.Cost, want)
	}
	servers := c.Meter().(*meter).servers
	if len(servers) != 4 {
		t.Fatalf("%d servers", len(servers))
	}
	for i, s := range servers {
		if s.Job != 0 || s.Revoked != (i < 2) {
			t.Errorf("server %d: %+v", i, s)
		}
	}
}

// TestServersOfAnElasticJob: a job continues without a worker whose server is revoked, which counts as a
// revocation; its servers list the roles of its parts. A change of its parts without a loss is not a
// revocation.
func TestServersOfAnElasticJob(t *testing.T) {
	terms := &market.Terms{Market: market.Spot, Price: market.Fixed(3600)}
	s := measure.Setup{Meter: (&supply{[]*market.Terms{terms, terms}}).Meter}
	s.Cluster = scheduler.Cluster{Nodes: []scheduler.Node{{Name: "a", Threads: 1}, {Name: "b", Threads: 1}}}
	s.Jobs = []scheduler.Job{{Name: "j", Threads: 2, Deadline: scheduler.Never}}
	both := &cluster.Layout{Parts: []scheduler.Part{{Node: 0, Role: "ps"}, {Node: 0, Role: "chief", Cores: cores(0, 1)},
		{Node: 1, Role: "worker", Cores: cores(1, 2)}}}
	one := &cluster.Layout{Parts: both.Parts[:2]}
	server := &scheduler.Server{Market: market.Spot}
	c := collect(s, []scheduler.Event{
		{Kind: scheduler.NodeRequest, Node: 0, Server: server}, {Kind: scheduler.NodeRequest, Node: 1, Server: server},
		{Kind: scheduler.NodeStart, Node: 0}, {Kind: scheduler.NodeStart, Node: 1},
		{Kind: scheduler.Arrive, Job: 0}, {Kind: scheduler.Start, Job: 0, Cores: cores(0, 2), Layout: both},
		{At: 5 * second, Kind: scheduler.ResizeJob, Job: 0, Cores: cores(0, 1), Layout: one},
		{At: 6 * second, Kind: scheduler.ResizeJob, Job: 0, Cores: cores(0, 2), Layout: both},
		{At: 10 * second, Kind: scheduler.NodeEnd, Node: 1, Revoked: true},
		{At: 10 * second, Kind: scheduler.ResizeJob, Job: 0, Cores: cores(0, 1), Layout: one},
		{At: 20 * second, Kind: scheduler.Finish, Job: 0},
		{At: 20 * second, Kind: scheduler.NodeEnd, Node: 0},
	})
	if got := c.Outcome(0).Revocations; got != 1 {
		t.Errorf("%g revocations, want 1", got)
	}
	servers := c.Meter().(*meter).servers
	if len(servers) != 2 || len(servers[0].Roles) != 2 || servers[0].Roles[1] != "chief" ||
		servers[1].Roles[0] != "worker" ||
		!servers[1].Revoked || servers[0].Revoked || servers[0].Cost != 20 || servers[1].Cost != 10 {
		t.Errorf("servers %+v", servers)
	}
}

// TestServersOfTwoJobs: a server names its job if no other job ran on it. A job that is started on a server again, or
// resized on it, counts once. Events of nodes that are not rented do not count.
func TestServersOfTwoJobs(t *testing.T) {
	terms := &market.Terms{Market: market.Spot, Price: market.Fixed(3600)}
	s := measure.Setup{Meter: (&supply{[]*market.Terms{terms, terms, terms}}).Meter}
	s.Cluster = scheduler.Cluster{Nodes: []scheduler.Node{{Threads: 2}, {Threads: 1}, {Threads: 1}}}
	s.Jobs = []scheduler.Job{{Name: "a", Threads: 1}, {Number: 1, Name: "b", Threads: 1}}
	c := measure.NewCollector(s)
	set := func(lo, hi int32) scheduler.CoreSet { return scheduler.CoreSet{{Lo: lo, Hi: hi}} }
	at := func(seconds int, e scheduler.Event) {
		e.At = time.Duration(seconds) * time.Second
		c.Event(&e)
	}
	for node := range 2 {
		at(0, scheduler.Event{Kind: scheduler.NodeRequest, Node: node, Job: -1, Server: &scheduler.Server{Market: market.Spot}})
		at(1, scheduler.Event{Kind: scheduler.NodeStart, Node: node, Job: -1})
	}
	at(1, scheduler.Event{Kind: scheduler.NodeStart, Node: 2, Job: -1}) // no job requested it
	at(1, scheduler.Event{Kind: scheduler.NodeStart, Node: 3, Job: -1})
	at(1, scheduler.Event{Kind: scheduler.NodeStart, Node: -1, Job: -1})
	at(1, scheduler.Event{Kind: scheduler.NodeRequest, Node: 1, Job: -1}) // without a server
	for j := range 2 {
		at(1, scheduler.Event{Kind: scheduler.Arrive, Job: j})
	}
	at(1, scheduler.Event{Kind: scheduler.Start, Job: 0, Cores: set(0, 1)})
	at(2, scheduler.Event{Kind: scheduler.ResizeJob, Job: 0, Cores: set(0, 2)})
	at(3, scheduler.Event{Kind: scheduler.ResizeJob, Job: 0, Cores: set(0, 1)})
	at(3, scheduler.Event{Kind: scheduler.Start, Job: 1, Cores: set(2, 3)})
	at(4, scheduler.Event{Kind: scheduler.Pause, Job: 1})
	at(4, scheduler.Event{Kind: scheduler.Start, Job: 1, Cores: set(1, 2)})
	at(4, scheduler.Event{Kind: scheduler.NodeWarning, Node: 1, Job: -1, Until: 9 * time.Second})
	at(9, scheduler.Event{Kind: scheduler.NodeEnd, Node: 1, Job: -1, Revoked: true})
	servers := c.Meter().(*meter).servers
	if len(servers) != 2 || servers[0].Job != -1 || servers[0].jobs != 2 || servers[1].Job != 1 || servers[1].jobs != 1 ||
		servers[1].Warned != 4*time.Second || servers[1].Down != 9*time.Second || servers[0].Down != scheduler.Never ||
		servers[0].Up != time.Second || servers[1].Cost != 8 || servers[1].Price != 3600 {
		t.Errorf("%+v", servers)
	}
}
