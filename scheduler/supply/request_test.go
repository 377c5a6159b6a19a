package supply

import (
	"testing"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
)

// shop rents out a limited number of servers.
type shop struct{ left int }

func (s *shop) Acquire(int) (*scheduler.Server, error) {
	if s.left == 0 {
		return nil, nil
	}
	s.left--
	return &scheduler.Server{Market: "spot"}, nil
}

func (s *shop) Release(int) error { return nil }

func (s *shop) From(_ int, at time.Duration) time.Duration { return at }

// TestANodeOnRequest follows a node: a job requests it, it comes up, it is idle, and it is given back.
func TestANodeOnRequest(t *testing.T) {
	c := cluster.Cluster{Nodes: []cluster.Node{
		{Name: "a", Threads: 2, Supply: cluster.OnRequest, Idle: time.Minute},
		{Name: "b", Threads: 4, Supply: cluster.OnRequest, Idle: time.Minute},
	}}
	m := cluster.NewMachine(c)
	var kinds []scheduler.EventKind
	n, err := newServerNodes(c, m, &shop{left: 1}, func(e scheduler.Event) { kinds = append(kinds, e.Kind) })
	if err != nil {
		t.Fatal(err)
	}
	need := cluster.Room{Cores: 3}
	if served, err := n.Serve(need, 1, nil, n.Rooms()); err != nil || !served || !n.Pending() {
		t.Fatalf("a job of 3 cores: served %t, %v, pending %t", served, err, n.Pending())
	}
	if served, _ := n.Serve(need, 1, nil, n.Rooms()); !served {
		t.Error("the server that is on its way does not serve the job")
	}
	if served, err := n.Serve(cluster.Room{Cores: 2}, 2, nil, n.Rooms()); err != nil || served {
		t.Errorf("a job of two nodes, with one server to be had: served %t, %v", served, err)
	}
	if lost, err := n.Notice(&scheduler.Notice{Kind: scheduler.NodeUp, Node: 1}, time.Second); err != nil || lost {
		t.Fatalf("node up: lost %t, %v", lost, err)
	}
	if m.Free[1].Cores != 4 {
		t.Errorf("%d cores are free on the node that is up, want 4", m.Free[1].Cores)
	}
	if at := n.NextIdle(); at != time.Minute+time.Second {
		t.Errorf("it is given back at %s", at)
	}
	n.Occupy(0, cluster.CoreSet{{Lo: 2, Hi: 5}})
	if at := n.NextIdle(); at != scheduler.Never {
		t.Errorf("a node that a job has is given back at %s", at)
	}
	n.Vacate(0, cluster.CoreSet{{Lo: 2, Hi: 5}}, time.Minute)
	n.Rooms() // no job waits
	if at := n.NextIdle(); at != 2*time.Minute {
		t.Errorf("it is given back at %s, a minute after its job ended at 1m", at)
	}
	n.Rest()
	if err := n.GiveBack(); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Notice(&scheduler.Notice{Kind: scheduler.NodeDown, Node: 1}, time.Hour); err == nil {
		t.Error("a node that was given back goes down once more")
	}
	want := []scheduler.EventKind{scheduler.NodeRequest, scheduler.NodeStart, scheduler.NodeEnd}
	if len(kinds) != len(want) || kinds[0] != want[0] || kinds[1] != want[1] || kinds[2] != want[2] {
		t.Errorf("the events are %v, want %v", kinds, want)
	}
}
