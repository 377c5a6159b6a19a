package supply

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
)

// vendor offers servers for some nodes, from a given time on.
type vendor struct {
	has          map[int]bool
	from         time.Duration
	fail         error
	rented, back []int
}

func (s *vendor) Acquire(v int) (*scheduler.Server, error) {
	if s.fail != nil {
		return nil, s.fail
	}
	if !s.has[v] {
		return nil, nil
	}
	s.rented = append(s.rented, v)
	return &scheduler.Server{Market: "spot"}, nil
}

func (s *vendor) Release(v int) error {
	s.back = append(s.back, v)
	return s.fail
}

func (s *vendor) From(_ int, at time.Duration) time.Duration { return max(at, s.from) }

// site is a cluster with a standing node (2 cores), a fixed node (4 cores), and three nodes on request (2, 4 and 4
// cores).
type site struct {
	*testing.T
	n       serverNodes
	machine *cluster.Machine
	shop    *vendor
	log     []string
}

func open(t *testing.T, has ...int) *site {
	t.Helper()
	node := func(name string, threads int, supply cluster.Supply) cluster.Node {
		return cluster.Node{Name: name, Threads: threads, Supply: supply, Idle: time.Minute}
	}
	c := cluster.Cluster{Nodes: []cluster.Node{node("stands", 2, cluster.Standing), node("fixed", 4, cluster.Fixed),
		node("small", 2, cluster.OnRequest), node("large", 4, cluster.OnRequest), node("last", 4, cluster.OnRequest)}}
	c.Nodes[4].Idle = scheduler.Never
	s := &site{T: t, machine: cluster.NewMachine(c), shop: &vendor{has: map[int]bool{}}}
	for _, v := range has {
		s.shop.has[v] = true
	}
	var err error
	s.n, err = newServerNodes(c, s.machine, s.shop, func(e scheduler.Event) {
		s.log = append(s.log, fmt.Sprintf("%s %d", e.Kind, e.Node))
		if e.Kind == scheduler.NodeEnd && e.Revoked {
			s.log[len(s.log)-1] += " revoked"
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *site) notice(kind scheduler.NoticeKind, v int, at time.Duration, lost bool) {
	s.Helper()
	got, err := s.n.Notice(&scheduler.Notice{Kind: kind, Node: v, Until: at + 1}, at)
	if err != nil || got != lost {
		s.Errorf("notice of node %d at %s: lost %v, %v", v, at, got, err)
	}
}

func (s *site) serve(cores int32, count int, want bool) {
	s.Helper()
	if served, err := s.n.Serve(cluster.Room{Cores: cores}, count, nil, s.n.Rooms()); served != want || err != nil {
		s.Errorf("%d nodes of %d cores are served: %v, %v", count, cores, served, err)
	}
}

func (s *site) said(want ...string) {
	s.Helper()
	if d := cmp.Diff(want, s.log); d != "" {
		s.Error(d)
	}
	s.log = nil
}

func free(m *cluster.Machine) string {
	var b strings.Builder
	for _, r := range m.Free {
		fmt.Fprint(&b, r.Cores, " ")
	}
	return strings.TrimSpace(b.String())
}

// A fixed node is requested at the start, and again after each loss. After a warning it takes no new jobs.
func TestFixedNodes(t *testing.T) {
	s := open(t, 1)
	s.said("node_request 1")
	if free(s.machine) != "2 0 0 0 0" || !s.n.Pending() || !s.n.Orders() {
		t.Errorf("%s are free, pending %v", free(s.machine), s.n.Pending())
	}
	s.notice(scheduler.NodeUp, 1, time.Second, false)
	if free(s.machine) != "2 4 0 0 0" || s.n.Pending() || s.n.NextIdle() != scheduler.Never {
		t.Errorf("%s are free, pending %v", free(s.machine), s.n.Pending())
	}
	s.n.Occupy(7, cluster.CoreSet{{Lo: 2, Hi: 4}})
	s.n.Occupy(3, cluster.CoreSet{{Lo: 0, Hi: 3}}) // cores of both nodes
	s.notice(scheduler.NodeWarned, 1, 2*time.Second, false)
	if free(s.machine) != "2 0 0 0 0" || !s.n.Pending() {
		t.Errorf("%s are free, pending %v", free(s.machine), s.n.Pending())
	}
	s.notice(scheduler.NodeDown, 1, 3*time.Second, true)
	if jobs := s.n.Lose(1); !slices.Equal(jobs, []int32{3, 7}) || s.n.Pending() {
		t.Errorf("it is lost with %v, pending %v", jobs, s.n.Pending())
	}
	if err := errors.Join(s.n.Replace(1), s.n.Replace(3)); err != nil || !s.n.Pending() {
		t.Error(err)
	}
	s.said("node_up 1", "node_warned 1", "node_down 1 revoked", "node_request 1")
	s.notice(scheduler.NodeUp, 1, 4*time.Second, false)
	s.notice(scheduler.NodeDown, 1, 5*time.Second, true) // without a warning
	s.n.Vacate(3, cluster.CoreSet{{Lo: 0, Hi: 3}}, 5*time.Second)
	s.n.Leave(7, 1, 5*time.Second)
	if jobs := s.n.Lose(1); len(jobs) != 0 || free(s.machine) != "2 0 0 0 0" || s.n.Pending() {
		t.Errorf("it is lost with %v, %s are free, pending %v", jobs, free(s.machine), s.n.Pending())
	}
	for _, e := range []scheduler.Notice{{Kind: scheduler.NodeUp, Node: 0}, {Kind: scheduler.NodeUp, Node: 1}, {Kind: scheduler.NodeWarned, Node: 1},
		{Kind: scheduler.NodeDown, Node: 1}, {Kind: scheduler.NodeUp, Node: -1}, {Kind: scheduler.NodeUp, Node: 5}, {Kind: scheduler.NodeDown, Node: 2}} {
		if lost, err := s.n.Notice(&e, 0); err == nil || lost {
			t.Errorf("%+v is taken", e)
		}
	}
}

// A job gets present servers first, and then servers that were already requested. Then as few further servers as
// necessary are requested. If there is no server for a node, another node is requested.
func TestServe(t *testing.T) {
	s := open(t, 2, 3, 4)
	s.said()
	s.serve(2, 1, true)
	s.said() // the standing node is enough
	s.serve(3, 1, true)
	s.said("node_request 3")
	s.serve(4, 1, true)
	s.said() // node 3 was already requested
	s.serve(4, 2, true)
	s.said("node_request 4")
	s.serve(4, 3, false)
	s.serve(5, 1, false)
	s.said()
	rooms := s.n.Rooms()
	for i, want := range []bool{true, true, true, true, true, true, false} { // 2, 4 and 4 cores, and two of another one
		served, err := s.n.Serve(cluster.Room{Cores: 2}, 1, nil, rooms)
		if served != want || err != nil {
			t.Errorf("job %d of two cores: %v, %v", i, served, err)
		}
	}
	s.said("node_request 2")
	if served, err := s.n.Serve(cluster.Room{Cores: 2}, 1, []int32{0}, s.n.Rooms()); !served || err != nil {
		t.Errorf("a job bound to the node that stands: %v, %v", served, err)
	}
	s = open(t, 4)
	if served, err := s.n.Serve(cluster.Room{Cores: 3}, 1, []int32{4}, s.n.Rooms()); served || err != nil {
		t.Errorf("a job bound to a node that is gone: %v, %v", served, err)
	}
	s.serve(3, 1, true) // the vendor has no server for node 3
	s.said("node_request 4")
	s.serve(3, 2, false)
	if at := s.n.From(3, cluster.Room{Cores: 1}, 5); at != scheduler.Never {
		t.Errorf("a node without servers from %s", at)
	}
	if at := s.n.From(0, cluster.Room{Cores: 2}, 5); at != 5 {
		t.Errorf("a free node from %s", at)
	}
	if at := s.n.From(0, cluster.Room{Cores: 3}, 5); at != 6 {
		t.Errorf("a node without room from %s", at)
	}
	s.shop.from = 9
	if at := s.n.From(2, cluster.Room{Cores: 1}, 5); at != 9 || s.n.ServerFrom(2, 11) != 11 {
		t.Errorf("a server from %s", at)
	}
	// Orders reports whether more servers could be requested, because nodes without one are left.
	s = open(t, 2, 3, 4)
	rooms = s.n.Rooms()
	for left := range 3 {
		if !s.n.Orders() {
			t.Errorf("after %d orders there is nothing to order", left)
		}
		if served, err := s.n.Serve(cluster.Room{Cores: 3 - int32(left/2)}, 1, nil, rooms); !served || err != nil {
			t.Error(served, err)
		}
		rooms[0].Cores = 0
	}
	if s.n.Orders() {
		t.Error("all is ordered, and there is something to order")
	}
	s.n.Ready = func(int32) bool { return true }
	if !s.n.Orders() {
		t.Error("what is on its way cannot be given back")
	}
	s.n.Rooms()
	if err := s.n.GiveBack(); err != nil || len(s.shop.back) != 3 {
		t.Errorf("%v are given back, %v", s.shop.back, err)
	}
	if s.n.Ready = nil; !s.n.Orders() {
		t.Error("what was given back cannot be ordered")
	}
	s = open(t, 3)
	if err := s.n.Replace(3); err != nil || s.shop.rented != nil {
		t.Errorf("a node on request is replaced: %v, %v", s.shop.rented, err)
	}
	s = open(t, 3)
	s.serve(4, 1, true)
	s.notice(scheduler.NodeUp, 3, 0, false)
	s.shop.fail = errors.New("closed")
	if err := s.n.DismissAll(); err == nil {
		t.Error("servers that cannot be given back are no error")
	}
	s = open(t, 2, 3)
	s.shop.fail = errors.New("closed")
	if served, err := s.n.Serve(cluster.Room{Cores: 3}, 1, nil, s.n.Rooms()); served || err == nil || !strings.Contains(err.Error(), `"large"`) {
		t.Errorf("%v, %v", served, err)
	}
	s = open(t, 2, 3, 4)
	s.n.Ready = func(v int32) bool { return v == 4 }
	s.serve(3, 1, true)
	s.said("node_request 4")
	if !s.n.Orders() {
		t.Error("a node on its way is not looked at")
	}
}

// A node is given back when nothing has run on it for its idle time, except if a job waits for it.
func TestIdleNodes(t *testing.T) {
	s := open(t, 2, 3, 4)
	rooms := s.n.Rooms()
	for range 2 { // one job on each of the nodes 3 and 4
		if served, err := s.n.Serve(cluster.Room{Cores: 4}, 1, nil, rooms); !served || err != nil {
			t.Fatal(served, err)
		}
	}
	s.notice(scheduler.NodeUp, 3, 1*time.Second, false)
	s.notice(scheduler.NodeUp, 4, 1*time.Second, false) // never given back: its idle time is endless
	if at := s.n.NextIdle(); at != time.Minute+time.Second {
		t.Errorf("given back at %s", at)
	}
	cores := cluster.CoreSet{{Lo: 8, Hi: 10}} // cores of node 3
	s.n.Occupy(1, cores)
	s.n.Occupy(2, cores)
	s.n.Vacate(1, cores, 2*time.Second)
	s.n.Vacate(9, cores, 2*time.Second) // job 9 was not on the node
	if at := s.n.NextIdle(); at != scheduler.Never {
		t.Errorf("a node with a job is given back at %s", at)
	}
	s.n.Vacate(2, cores, 3*time.Second)
	if at := s.n.NextIdle(); at != time.Minute+3*time.Second {
		t.Errorf("given back at %s", at)
	}
	s.n.Rest()
	if s.n.NextIdle() != scheduler.Never || !s.n.Orders() {
		t.Error("a node that has rested is to rest again")
	}
	s.serve(4, 2, true) // a job waits for both nodes
	if err := s.n.GiveBack(); err != nil || len(s.shop.back) != 0 {
		t.Errorf("%v are given back, %v", s.shop.back, err)
	}
	s.n.Rooms() // no job waits any more
	if err := s.n.GiveBack(); err != nil || !slices.Equal(s.shop.back, []int{3}) || free(s.machine) != "2 0 0 0 4" {
		t.Errorf("%v are given back, %v, %s are free", s.shop.back, err, free(s.machine))
	}
	s.said("node_request 3", "node_request 4", "node_up 3", "node_up 4", "node_down 3")
	if err := s.n.GiveBack(); err != nil || len(s.shop.back) != 1 {
		t.Errorf("%v are given back, %v", s.shop.back, err)
	}
	if err := s.n.DismissAll(); err != nil || !slices.Equal(s.shop.back, []int{3, 4}) {
		t.Errorf("%v are given back at the end, %v", s.shop.back, err)
	}
	s.said("node_down 4")
	// A node that is used again after its idle time stays.
	s = open(t, 3)
	s.serve(4, 1, true)
	s.notice(scheduler.NodeUp, 3, 0, false)
	s.n.NextIdle()
	s.n.Rest()
	s.n.Rooms()
	s.n.Occupy(1, cores)
	if err := s.n.GiveBack(); err != nil || len(s.shop.back) != 0 {
		t.Errorf("%v are given back, %v", s.shop.back, err)
	}
	// If the policy rents servers, requested servers for which no job waits any more are also given back.
	s = open(t, 2, 3)
	s.n.Ready = func(int32) bool { return true }
	s.serve(2, 1, true) // fits on the standing node
	s.serve(4, 1, true)
	s.serve(4, 1, true)
	if err := s.n.GiveBack(); err != nil || len(s.shop.back) != 0 {
		t.Errorf("%v are given back, %v", s.shop.back, err)
	}
	s.n.Rooms()
	if err := s.n.GiveBack(); err != nil || !slices.Equal(s.shop.back, []int{3}) || s.n.Pending() {
		t.Errorf("%v are given back, %v, pending %v", s.shop.back, err, s.n.Pending())
	}
	s.serve(4, 1, true)
	s.said("node_request 3", "node_down 3", "node_request 3")
	s.shop.fail = errors.New("closed")
	s.n.Rooms()
	if err := s.n.GiveBack(); err == nil || !strings.Contains(err.Error(), `"large"`) {
		t.Errorf("%v", err)
	}
}

// In a cluster of standing nodes, nothing is requested or given back.
func TestStandingNodes(t *testing.T) {
	var n serverNodes
	if n.Pending() || n.Orders() || n.NextIdle() != scheduler.Never {
		t.Error("a node comes or goes")
	}
	if err := errors.Join(n.GiveBack(), n.DismissAll()); err != nil {
		t.Error(err)
	}
	s := open(t)
	if s.n.Pending() || s.shop.rented != nil {
		t.Errorf("%v are rented", s.shop.rented)
	}
	s.said()
}
