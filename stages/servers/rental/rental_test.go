package rental

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
)

// asked is a strategy with scripted answers that records its views.
type asked struct {
	answer Market
	view   View
}

func (a *asked) Choose(v View) Market { a.view = v; return a.answer }

// twoRegions has a spot server in each of two regions, one on demand in the second, one that stands, and one on
// request of no market.
func twoRegions() cluster.Cluster {
	on := func(market, region string) cluster.Node {
		return cluster.Node{Threads: 1, Supply: cluster.OnRequest, Market: market, Region: region}
	}
	return cluster.Cluster{Nodes: []cluster.Node{on("spot", "east"), on("spot", "west"), on(cluster.MarketOnDemand, "west"),
		{Threads: 1}, on("", "west")}}
}

func rentalOf(t *testing.T, terms Terms, jobs int) *rental {
	t.Helper()
	c := twoRegions()
	r, err := newRental(terms, c, cluster.NewMachine(c), jobs)
	if err != nil {
		t.Fatal(err)
	}
	return &r
}

// from says when each node has a server; those not named never have.
func from(at map[int32]time.Duration) func(int32) time.Duration {
	return func(v int32) time.Duration {
		if d, ok := at[v]; ok {
			return d
		}
		return scheduler.Never
	}
}

func TestNodesOfMarkets(t *testing.T) {
	c := twoRegions()
	m := cluster.NewMachine(c)
	r, err := newRental(Terms{Strategy: &asked{}, Tick: 1}, c, m, 1)
	if err != nil {
		t.Fatal(err)
	}
	var bits []int32
	for _, free := range m.Free {
		bits = append(bits, free.Market)
	}
	if want := []int32{1, 2, 4, 0, 1 << maxOffers}; !slices.Equal(bits, want) {
		t.Errorf("markets of nodes %b, want %b", bits, want)
	}
	for v, want := range []bool{true, true, true, false, false} {
		if r.any([]int32{3, int32(v)}) != want {
			t.Errorf("node %d is rented: %v", v, !want)
		}
	}
	if bars := r.bars(0); bars != 1<<(maxOffers+1)-1 {
		t.Errorf("a job without servers may start: %b", bars)
	}
	// Regions of the terms are tried in their order, and others are left out.
	west := rentalOf(t, Terms{Strategy: &asked{}, Tick: 1, Regions: []string{"west"}}, 1)
	if west.any([]int32{0}) || !west.any([]int32{1}) || len(west.offers) != 2 {
		t.Errorf("%+v", west.offers)
	}
	both := rentalOf(t, Terms{Strategy: &asked{}, Tick: 1, Regions: []string{"west", "east"}}, 1)
	if both.offers[0].region != "west" || both.offers[2].region != "east" || both.ofNode[0] != 2 || both.ofNode[1] != 0 {
		t.Errorf("%+v %v", both.offers, both.ofNode)
	}
	for regions, ok := range map[int]bool{0: false, 1: true, maxOffers: true, maxOffers + 1: false} {
		var c cluster.Cluster
		for i := range regions {
			c.Nodes = append(c.Nodes, cluster.Node{Threads: 1, Supply: cluster.OnRequest, Market: "spot", Region: fmt.Sprint(i)})
		}
		c.Nodes = append(c.Nodes, cluster.Node{Threads: 1})
		if _, err := newRental(Terms{Tick: 1}, c, cluster.NewMachine(c), 1); (err == nil) != ok {
			t.Errorf("%d regions: %v", regions, err)
		}
	}
	if _, err := newRental(Terms{}, twoRegions(), cluster.NewMachine(twoRegions()), 1); err == nil {
		t.Error("a tick takes no time")
	}
}

// The strategy decides at each tick from the arrival on, and after a loss. The job may start only on servers of its
// choice.
func TestDecisionsOfAJob(t *testing.T) {
	s := &asked{answer: Spot}
	r := rentalOf(t, Terms{Strategy: s, Tick: 10, Changeover: -1}, 2)
	r.arrive(1, 5)
	if due := r.takeDue(); !slices.Equal(due, []int32{1}) || r.takeDue() != nil || r.next() != 15 {
		t.Errorf("due %v, next at %d", due, r.next())
	}
	both := from(map[int32]time.Duration{0: 0, 1: 0, 2: 0})
	state := rentalCase{Deadline: 100, Work: 40, Done: 3, Changeover: 4, From: both}
	// Each instant has its own decisions.
	decide := func(now time.Duration) (bool, string) {
		r.due = append(r.due, 1)
		r.takeDue()
		return r.decide(1, now, state)
	}
	leave, name := decide(7)
	if leave || name != "a spot server in east" || r.bars(1)&1 != 0 || r.bars(1)&2 == 0 || r.bars(0)&1 == 0 {
		t.Errorf("%v, %q, %b", leave, name, r.bars(1))
	}
	if want := (View{Now: 2, Deadline: 100, Work: 40, Done: 3, Overhead: 4, Tick: 10, Available: true,
		Spells: []Availability{{Available: true}}}); !reflect.DeepEqual(s.view, want) {
		t.Errorf("the strategy sees %+v, want %+v", s.view, want)
	}
	// Servers that are on their way count as held, and still have to start.
	r.serve(1, true, 8)
	r.serve(1, true, 9) // since then
	state.Work = 0
	if leave, _ = decide(10); leave || s.view.Held != Spot || s.view.Starting != 2 || s.view.Work != UnknownWork {
		t.Errorf("%v, %+v", leave, s.view)
	}
	if decide(30); s.view.Starting != 0 {
		t.Errorf("after its start: %+v", s.view)
	}
	s.answer = OnDemand
	if leave, name = decide(31); !leave || name != "a server on demand in west" || r.bars(1)&4 != 0 {
		t.Errorf("%v, %q", leave, name)
	}
	if decide(32); s.view.Held != Nothing {
		t.Error("servers that are only chosen are held")
	}
	r.serve(1, true, 33)
	if leave, _ = decide(34); leave || s.view.Held != OnDemand {
		t.Errorf("%v, %+v", leave, s.view)
	}
	s.answer = Nothing
	if leave, name = decide(35); !leave || name != "no server" {
		t.Errorf("%v, %q", leave, name)
	}
	// After a loss, the other region is tried first.
	s.answer = Spot
	decide(36)
	r.serve(1, true, 36)
	r.lose(1, 3) // a node that is not rented
	if r.takeDue() != nil {
		t.Error("a decision is due for a node that is not rented")
	}
	r.lose(1, 0)
	if due := r.takeDue(); !slices.Equal(due, []int32{1}) {
		t.Errorf("due %v", due)
	}
	if leave, name = decide(37); leave || name != "a spot server in west" {
		t.Errorf("after the loss: %v, %q", leave, name)
	}
	// A job's kept work, and its end.
	if r.keep(1, 9); r.jobs[1].kept != 9 {
		t.Errorf("%d is kept", r.jobs[1].kept)
	}
	r.end(1)
	if r.lose(1, 1); len(r.takeDue()) > 0 || r.next() != scheduler.Never || r.jobs[1].kept != 0 {
		t.Errorf("a job that is over is due; the next tick is at %d", r.next())
	}
}

// Jobs that choose the same region at one time do not get each other's servers. A region without a free server is not
// available.
func TestClaimsOfAnInstant(t *testing.T) {
	s := &asked{answer: Spot}
	r := rentalOf(t, Terms{Strategy: s, Tick: 10, Changeover: 6}, 3)
	for j := range int32(3) {
		r.arrive(j, 0)
	}
	r.takeDue()
	state := rentalCase{Work: 1, Changeover: 4, From: from(map[int32]time.Duration{0: 0, 1: 0})}
	for j, want := range []string{"a spot server in east", "a spot server in west", "no server"} {
		if _, name := r.decide(int32(j), 0, state); name != want || s.view.Available != (j < 2) || s.view.Overhead != 6 {
			t.Errorf("job %d: %q, %+v", j, name, s.view)
		}
	}
	// At a later time, the first server seems available to the last job again.
	r.ring(10)
	r.ring(10)
	r.ring(10)
	if due := r.takeDue(); !slices.Equal(due, []int32{0, 1, 2}) || r.next() != 20 {
		t.Errorf("due %v, next at %d", due, r.next())
	}
	later := rentalCase{Work: 1, Deadline: 12, From: from(map[int32]time.Duration{0: 11})}
	if _, name := r.decide(2, 10, later); name != "no server" || s.view.Available {
		t.Errorf("%q, %+v", name, s.view)
	}
	if _, name := r.decide(2, 11, later); name != "a spot server in east" {
		t.Errorf("when it is there: %q", name)
	}
}

// A job has no more ticks if no decision can change anything: no server will be available, and the deadline has passed.
func TestTicksEnd(t *testing.T) {
	for _, c := range []struct {
		deadline time.Duration
		ends     bool
	}{{0, true}, {9, true}, {10, true}, {11, false}} {
		r := rentalOf(t, Terms{Strategy: &asked{answer: Spot}, Tick: 10}, 1)
		r.arrive(0, 0)
		r.ring(10)
		r.takeDue()
		r.decide(0, 10, rentalCase{Deadline: c.deadline, From: from(nil)})
		if got := r.next() == scheduler.Never; got != c.ends {
			t.Errorf("a deadline of %d: the next tick is at %d", c.deadline, r.next())
		}
	}
}

// TestSpellsOfSpotServers: a job records since its arrival when spot servers were available. A revocation ends a spell,
// even if another server is available at once.
func TestSpellsOfSpotServers(t *testing.T) {
	var a tenant
	for _, seen := range []struct {
		at              time.Duration
		available, lost bool
	}{{10, true, false}, {20, true, false}, {25, false, true}, {40, false, false}, {50, true, false}, {55, true, true}, {60, true, false}} {
		a.see(seen.available, seen.lost, seen.at)
	}
	want := []Availability{{Available: true, Length: 15}, {Available: false, Length: 25}, {Available: true, Length: 5}, {Available: true, Length: 5}}
	if !slices.Equal(a.spells, want) {
		t.Errorf("the spells are %v, want %v", a.spells, want)
	}
}

// TestPriceOfSpotServers is the lowest known price of a spot server as a part of the lowest known price on demand.
func TestPriceOfSpotServers(t *testing.T) {
	node := func(market string, price float64) cluster.Node {
		return cluster.Node{Threads: 1, Supply: cluster.OnRequest, Market: market, Region: fmt.Sprint(price), Price: price}
	}
	for _, c := range []struct {
		nodes []cluster.Node
		share float64
	}{
		{[]cluster.Node{node("spot", 3), node("spot", 1), node("on_demand", 4), node("on_demand", 5)}, 0.25},
		{[]cluster.Node{node("spot", 0), node("on_demand", 4)}, 0},
		{[]cluster.Node{node("spot", 3), node("on_demand", 0)}, 0},
	} {
		all := cluster.Cluster{Nodes: c.nodes}
		r, err := newRental(Terms{Tick: 1}, all, cluster.NewMachine(all), 0)
		if err != nil || r.share != c.share {
			t.Errorf("%+v: %g, %v; want %g", c.nodes, r.share, err, c.share)
		}
	}
}
