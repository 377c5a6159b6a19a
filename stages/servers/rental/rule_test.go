package rental

import (
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/validate"
)

// Servers may be rented only in the markets and the regions of the policy; without regions, in all.
func TestWhichServersMayBeRented(t *testing.T) {
	for _, c := range []struct {
		regions        []string
		market, region string
		want           bool
	}{{nil, "spot", "x", true}, {nil, "other", "x", false}, {[]string{"a", "b"}, "spot", "b", true}, {[]string{"a", "b"}, "spot", "c", false},
		{[]string{"a"}, "other", "a", false}} {
		r := rule{markets: []string{"spot", "on_demand"}, regions: c.regions}
		if got := r.may(&scheduler.Node{Market: c.market, Region: c.region}); got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}
}

// Policies that rent servers do so in their markets and regions, as many as jobs wait for, and keep a job on one market.
func TestRentedServers(t *testing.T) {
	node := func(market, region string) scheduler.Node {
		return scheduler.Node{Threads: 1, Supply: cluster.OnRequest, Market: market, Region: region}
	}
	c := scheduler.Cluster{Nodes: []scheduler.Node{node("spot", "north"), node("spot", "south"), node("on_demand", "north"), node("spot", "north")}}
	sec := func(n int) time.Duration { return time.Duration(n) * time.Second }
	ask := func(at, v int) scheduler.Event {
		return scheduler.Event{At: sec(at), Kind: scheduler.NodeRequest, Node: v, Job: -1, Server: &scheduler.Server{Created: sec(at)}}
	}
	up := func(at, v int) scheduler.Event {
		return scheduler.Event{At: sec(at), Kind: scheduler.NodeStart, Node: v, Job: -1}
	}
	arrive, later := scheduler.Event{Kind: scheduler.Arrive}, scheduler.Event{At: sec(20), Kind: scheduler.Level}
	start := func(a, b int32) scheduler.Event {
		parts := []scheduler.Part{{Node: int(a), Cores: scheduler.CoreSet{{Lo: a, Hi: a + 1}}}, {Node: int(b), Cores: scheduler.CoreSet{{Lo: b, Hi: b + 1}}}}
		return scheduler.Event{At: sec(5), Kind: scheduler.Start, Cores: scheduler.CoreSet{{Lo: a, Hi: a + 1}, {Lo: b, Hi: b + 1}}, Layout: &cluster.Layout{Parts: parts}}
	}
	for _, x := range []struct {
		name             string
		markets, regions []string
		nodes            int
		events           []scheduler.Event
		want             []string
	}{
		{"in its market", []string{"spot"}, nil, 1, []scheduler.Event{arrive, ask(1, 0), later}, nil},
		{"in another market", []string{"spot"}, nil, 1, []scheduler.Event{arrive, ask(1, 2), later}, []string{"of the market \"on_demand\" in \"north\", where the policy rents none"}},
		{"in another region", []string{"spot"}, []string{"north"}, 1, []scheduler.Event{arrive, ask(1, 1), later}, []string{"of the market \"spot\" in \"south\", where the policy rents none"}},
		{"two for one", []string{"spot"}, nil, 1, []scheduler.Event{arrive, ask(1, 0), ask(1, 1), later}, []string{"2 servers are on their way for waiting jobs that need 1"}},
		{"two for a gang", []string{"spot"}, nil, 2, []scheduler.Event{arrive, ask(1, 0), ask(1, 1), later}, nil},
		{"one that is up, and another", []string{"spot"}, nil, 1, []scheduler.Event{arrive, ask(1, 0), up(2, 0), ask(3, 1), later}, nil},
		{"for nobody", []string{"spot"}, nil, 1, []scheduler.Event{ask(0, 0), later}, []string{"1 servers are on their way for waiting jobs that need 0", "before its arrival"}},
		{"on one market", []string{"spot", "on_demand"}, nil, 2, []scheduler.Event{arrive, ask(1, 0), ask(1, 3), up(2, 0), up(2, 3), start(0, 3)}, nil},
		{"on two regions", []string{"spot", "on_demand"}, nil, 2, []scheduler.Event{arrive, ask(1, 0), ask(1, 1), up(2, 0), up(2, 1), start(0, 1)}, []string{"is on servers of \"spot\" in \"north\" and of \"spot\" in \"south\" at once"}},
		{"on two markets", []string{"spot", "on_demand"}, nil, 2, []scheduler.Event{arrive, ask(1, 0), ask(1, 2), up(2, 0), up(2, 2), start(0, 2)}, []string{"is on servers of \"spot\" in \"north\" and of \"on_demand\" in \"north\" at once"}},
	} {
		job := scheduler.Job{Name: "j", Threads: x.nodes}
		if x.nodes > 1 {
			job.Nodes = x.nodes
		}
		v := validate.New(c, []scheduler.Job{job}, nil)
		v.Add(Rule(c, scheduler.JobSet{List: []scheduler.Job{job}}, x.markets, x.regions))
		for _, e := range x.events {
			v.Event(&e)
		}
		found := v.Violations()
		if len(found) != len(x.want) {
			t.Errorf("%s: %v, want %q", x.name, found, x.want)
			continue
		}
		for i, want := range x.want {
			if !strings.Contains(found[i].Text, want) {
				t.Errorf("%s: %q, want %q", x.name, found[i].Text, want)
			}
		}
	}
}
