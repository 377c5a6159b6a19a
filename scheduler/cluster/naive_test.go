package cluster

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// numbers returns the members of a set.
func numbers(s CoreSet) (all []int32) {
	s.Each(func(n int) { all = append(all, int32(n)) })
	return all
}

// book is a simple model of a machine: for each node, the sorted lists of its free cores and GPUs.
type book struct {
	cores, gpus [][]int32
	closed      []bool
}

// take removes numbers from the lists of free numbers.
func take(free [][]int32, gone []int32) {
	for v := range free {
		free[v] = slices.DeleteFunc(free[v], func(n int32) bool { return slices.Contains(gone, n) })
	}
}

// TestMachineByLists compares a machine with the model. After any takes, returns, closings and openings, both have the
// same free cores and GPUs, and give out the lowest numbers of each node.
func TestMachineByLists(t *testing.T) {
	random := rand.New(rand.NewPCG(51, 1))
	for round := range 300 {
		var c Cluster
		var b, whole book
		core, gpu := int32(0), int32(0)
		for range 1 + random.IntN(4) {
			n := Node{Threads: []int{1, 5, 64, 70}[random.IntN(4)], GPUs: random.IntN(3)}
			c.Nodes = append(c.Nodes, n)
			var cores, gpus []int32
			for range n.Threads {
				cores, core = append(cores, core), core+1
			}
			for range n.GPUs {
				gpus, gpu = append(gpus, gpu), gpu+1
			}
			b.cores, b.gpus = append(b.cores, cores), append(b.gpus, gpus)
			whole.cores, whole.gpus = append(whole.cores, slices.Clone(cores)), append(whole.gpus, slices.Clone(gpus))
		}
		b.closed = make([]bool, len(c.Nodes))
		m := NewMachine(c)
		var held []Grant
		for range 40 {
			v := random.IntN(len(c.Nodes))
			switch kind := random.IntN(6); {
			case kind < 3: // cores and GPUs on one or two nodes
				nodes := []int32{int32(v)}
				if w := random.IntN(len(c.Nodes)); w > v {
					nodes = append(nodes, int32(w))
				}
				cores, gpus := 1+random.IntN(c.Nodes[v].Threads), random.IntN(3)
				fits := true
				var wantCores, wantGPUs []int32
				for _, w := range nodes {
					if fits = fits && len(b.cores[w]) >= cores && len(b.gpus[w]) >= gpus; fits {
						wantCores, wantGPUs = append(wantCores, b.cores[w][:cores]...), append(wantGPUs, b.gpus[w][:gpus]...)
					}
				}
				need := Room{Cores: int32(cores), GPUs: int32(gpus)}
				got, ok := Fit(m.Free, need, len(nodes), nodes, nil)
				if ok != fits || ok && !slices.Equal(got, nodes) {
					t.Fatalf("round %d: %+v fits on %v: %v", round, need, nodes, ok)
				}
				if !fits {
					continue
				}
				g := m.Choose(nodes, need, Grant{})
				if !slices.Equal(numbers(g.Cores), wantCores) || !slices.Equal(numbers(g.GPUs), wantGPUs) {
					t.Fatalf("round %d: %+v on %v gets %s and %s, want %v and %v", round, need, nodes, g.Cores, g.GPUs, wantCores, wantGPUs)
				}
				if on := m.NodesOf(g.Cores, nil); !slices.Equal(on, nodes) || !m.Touches(g, nodes[len(nodes)-1:]) ||
					len(c.Nodes) > 1 && m.Touches(g, []int32{(nodes[len(nodes)-1] + 1) % int32(len(c.Nodes))}) != (len(nodes) == len(c.Nodes) || len(nodes) == 2 && (nodes[1]+1)%int32(len(c.Nodes)) == nodes[0]) {
					t.Fatalf("round %d: %s is on %v, want %v", round, g.Cores, on, nodes)
				}
				if again := m.Choose(nodes, need, g); again.Cores.String() != g.Cores.String() || again.GPUs.String() != g.GPUs.String() {
					t.Fatalf("round %d: free cores are not kept", round)
				}
				m.Take(g)
				take(b.cores, numbers(g.Cores))
				take(b.gpus, numbers(g.GPUs))
				held = append(held, g)
			case kind < 5 && len(held) > 0:
				i := random.IntN(len(held))
				g := held[i]
				held = slices.Delete(held, i, i+1)
				rooms := slices.Clone(m.Free)
				m.AddHeld(rooms, g)
				m.Give(g)
				for w := range c.Nodes {
					if b.closed[w] {
						continue
					}
					for _, of := range []struct {
						free  *[]int32
						all   []int32
						given CoreSet
					}{{&b.cores[w], whole.cores[w], g.Cores}, {&b.gpus[w], whole.gpus[w], g.GPUs}} {
						for _, n := range numbers(of.given) {
							if slices.Contains(of.all, n) {
								*of.free = append(*of.free, n)
							}
						}
						slices.Sort(*of.free)
					}
					if rooms[w].Cores != m.Free[w].Cores || rooms[w].GPUs != m.Free[w].GPUs {
						t.Fatalf("round %d: %v would be free on node %d, and %v is", round, rooms[w], w, m.Free[w])
					}
				}
			case kind == 5 && !b.closed[v]:
				m.Close(int32(v))
				b.closed[v], b.cores[v], b.gpus[v] = true, nil, nil
			case kind == 5 && !slices.ContainsFunc(held, func(g Grant) bool { return m.Touches(g, []int32{int32(v)}) }):
				m.Open(int32(v))
				b.closed[v], b.cores[v], b.gpus[v] = false, slices.Clone(whole.cores[v]), slices.Clone(whole.gpus[v])
			}
			idle, most := 0, int32(0)
			for v := range c.Nodes {
				idle, most = idle+len(b.cores[v]), max(most, int32(len(b.cores[v])))
				if f := m.Free[v]; int(f.Cores) != len(b.cores[v]) || int(f.GPUs) != len(b.gpus[v]) || m.Closed(int32(v)) != b.closed[v] {
					t.Fatalf("round %d: %+v is free on node %d, want %v and %v", round, f, v, b.cores[v], b.gpus[v])
				}
				if len(b.cores[v]) > 0 {
					low := m.Lowest(&m.Cores, []int32{int32(v)}, int32(len(b.cores[v])))
					if !slices.Equal(numbers(low), b.cores[v]) || !m.Cores.AllFree(low) {
						t.Fatalf("round %d: the free cores of node %d are %s, want %v", round, v, low, b.cores[v])
					}
				}
			}
			if int(m.Idle) != idle || m.MostFree() != most {
				t.Fatalf("round %d: %d cores are idle, %d on one node; want %d and %d", round, m.Idle, m.MostFree(), idle, most)
			}
		}
	}
}

// TestPartsByHand places three parts: 2 cores, 1 core with a GPU, and nothing. Node 0 has 2 cores; node 1 has 3 cores
// and 2 GPUs. The first part fills node 0, so the second is on node 1. The empty part is on the node of the first part
// with cores.
func TestPartsByHand(t *testing.T) {
	m := NewMachine(Cluster{Nodes: []Node{{Threads: 2}, {Threads: 3, GPUs: 2}}})
	p := &Parts{Each: []Room{{}, {Cores: 2}, {Cores: 1, GPUs: 1}}, Names: []Part{{Role: "chief"}, {Role: "ps"}, {Role: "worker"}}}
	need := Room{Cores: 2, GPUs: 1, Parts: p}
	nodes, ok := Fit(m.Free, need, 3, nil, nil)
	if !ok || !slices.Equal(nodes, []int32{0, 0, 1}) {
		t.Fatalf("the parts are on %v, %v", nodes, ok)
	}
	g := m.Choose(nodes, need, Grant{})
	if g.Cores.String() != "0-2" || g.GPUs.String() != "0" || len(g.Layout.Parts[0].Cores) != 0 ||
		g.Layout.Parts[1].Cores.String() != "0-1" || g.Layout.Parts[2].Cores.String() != "2" || g.Layout.Parts[2].GPUs.String() != "0" ||
		g.Layout.Parts[2].Node != 1 || g.Layout.Parts[2].Role != "worker" {
		t.Errorf("they are given %+v, %+v", g, g.Layout)
	}
	m.Take(g)
	if nodes, ok = Fit(m.Free, need, 3, nil, nil); ok {
		t.Errorf("they fit a second time, on %v", nodes)
	}
	if again := m.Choose([]int32{1, 1, 1}, Room{Parts: &Parts{Each: []Room{{}, {Cores: 1}, {Cores: 1, GPUs: 1}}, Names: p.Names}}, g); again.Cores.String() !=
		"3-4" || again.GPUs.String() != "1" {
		t.Errorf("cores that are not free are kept: %+v", again)
	}
	m.Give(g)
	free := slices.Clone(m.Free)
	if nodes, ok = Fit(m.Free, need, 3, []int32{1, 1, 1}, nil); !ok || !slices.Equal(nodes, []int32{1, 1, 1}) {
		t.Errorf("at home they are on %v, %v", nodes, ok)
	}
	if nodes, ok = Fit(m.Free, need, 3, []int32{1, 1, 0}, nil); ok {
		t.Errorf("a GPU is found on node 0: %v", nodes)
	}
	if !slices.Equal(free, m.Free) {
		t.Error("what is free has changed")
	}
	old := Grant{Cores: CoreSet{{Lo: 2, Hi: 5}}, GPUs: CoreSet{{Lo: 1, Hi: 2}}}
	if kept := m.Choose([]int32{1, 1, 1}, need, old); kept.Cores.String() != "2-4" || kept.GPUs.String() != "1" {
		t.Errorf("free ones are not kept: %+v", kept)
	}
	chief := Part{}
	if !m.PlacePart(&chief, Room{}, []Part{{Node: 0}, {Node: 1, Cores: CoreSet{{Lo: 2, Hi: 3}}}}) || chief.Node != 1 {
		t.Errorf("a part of nothing is on node %d", chief.Node)
	}
	worker := Part{}
	if !m.PlacePart(&worker, Room{Cores: 1, GPUs: 2}, nil) || worker.Node != 1 || worker.Cores.String() != "2" || worker.GPUs.String() != "0-1" {
		t.Errorf("a part with 2 GPUs is %+v", worker)
	}
	if m.PlacePart(&worker, Room{Cores: 4}, nil) {
		t.Errorf("a part of 4 cores is %+v", worker)
	}
}

// TestSharedGPUs checks that two jobs may share a GPU and a third may not. The GPU is free when both have given it
// back.
func TestSharedGPUs(t *testing.T) {
	m := NewMachine(Cluster{Nodes: []Node{{Threads: 3, GPUs: 1}, {Threads: 2, GPUs: 1}}})
	host := m.Choose([]int32{0, 1}, Room{Cores: 1, GPUs: 1}, Grant{})
	m.Take(host)
	guest, err := m.Beside(host, Beside{Job: 3, Name: "h"}, []int32{0, 1}, Room{Cores: 1, GPUs: 1})
	if err != nil || guest.Cores.String() != "1,4" || guest.GPUs.String() != "0-1" || guest.Beside.Job != 3 || len(guest.Layout.Parts) != 2 {
		t.Fatalf("%+v, %v", guest, err)
	}
	m.Take(guest)
	for _, g := range []Grant{host, {Cores: host.Cores}} {
		if _, err := m.Beside(g, Beside{}, []int32{0}, Room{Cores: 1}); err == nil {
			t.Errorf("the GPUs %s have room for another", g.GPUs)
		}
	}
	if m.Give(host); m.Free[0].GPUs != 0 || m.Free[0].Cores != 2 {
		t.Errorf("after one has ended %+v is free", m.Free[0])
	}
	if m.Give(guest); m.Free[0].GPUs != 1 || m.Free[1].GPUs != 1 || m.Idle != 5 {
		t.Errorf("after both have ended %+v is free", m.Free)
	}
	if l := m.LayoutOf(Grant{Cores: CoreSet{{Lo: 0, Hi: 2}}}, []int32{0, 0}); l != nil {
		t.Errorf("units of one node have the layout %+v", l)
	}
	if got := m.EachUnit(CoreSet{{Lo: 1, Hi: 5}}, 2, nil); !slices.Equal(got, []int32{0, 1}) {
		t.Errorf("units of 2 cores are on %v", got)
	}
	var mates Mates
	mates.Join(1, 2)
	if mate, ok := mates.Separate(2); mate != 1 || !ok {
		t.Errorf("the mate is %d, %v", mate, ok)
	}
	if _, ok := mates.Separate(1); ok {
		t.Error("it has a mate still")
	}
}

// TestOwnersAndWords checks who owns the cores and GPUs of a grant, and the text of demands.
func TestOwnersAndWords(t *testing.T) {
	m := NewMachine(Cluster{Nodes: []Node{{Threads: 4, GPUs: 2}}})
	o := NewOwners(m)
	o.Set(Grant{Cores: CoreSet{{Lo: 1, Hi: 3}}}, 7)
	o.Set(Grant{GPUs: CoreSet{{Lo: 1, Hi: 2}}}, 8)
	for _, c := range []struct {
		g    Grant
		want int32
	}{
		{Grant{Cores: CoreSet{{Lo: 2, Hi: 4}}}, 7}, {Grant{Cores: CoreSet{{Lo: 0, Hi: 1}, {Lo: 3, Hi: 4}}}, -1},
		{Grant{Cores: CoreSet{{Lo: 3, Hi: 4}}, GPUs: CoreSet{{Lo: 0, Hi: 2}}}, 8}, {Grant{GPUs: CoreSet{{Lo: 0, Hi: 1}}}, -1},
	} {
		if job, ok := o.Of(c.g); job != c.want || ok != (c.want >= 0) {
			t.Errorf("%+v is of %d, %v; want %d", c.g, job, ok, c.want)
		}
	}
	for want, d := range map[string]Demand{
		"4 threads, 2 GPUs, 2GiB, over 2 nodes":           {Threads: 4, GPUs: 2, Memory: 2 << 30, Nodes: 2},
		"1 thread":                                        {Threads: 1, Nodes: 1},
		"2 threads, 1 GPU of the type V100, on any nodes": {Threads: 2, GPUs: 1, GPU: "V100", Nodes: 1, Divided: true},
	} {
		if got := d.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	room := Room{Cores: 7, GPUs: 4, Memory: 9, Kind: 1}
	for _, c := range []struct {
		need Room
		want int
	}{{Room{Cores: 2}, 3}, {Room{Cores: 1, GPUs: 2}, 2}, {Room{Cores: 1, Memory: 5}, 1}, {Room{Cores: 1, Kind: 2}, 0}, {Room{Cores: 7, GPUs: 4,
		Memory: 9, Kind: 1}, 1}} {
		if got := room.Times(c.need); got != c.want {
			t.Errorf("%+v %d times, want %d", c.need, got, c.want)
		}
	}
}

// TestPlacesOfFewNodes checks queries about single nodes, both the first node and others.
func TestPlacesOfFewNodes(t *testing.T) {
	m := NewMachine(Cluster{Nodes: []Node{{Threads: 2, Rack: "a"}, {Threads: 4, GPUs: 2}, {Threads: 4, Rack: "a"}, {Threads: 1}}})
	if want := []int32{0, 1, 0, 3}; !slices.Equal(m.Racks, want) {
		t.Errorf("the racks are %v, want %v", m.Racks, want)
	}
	for _, c := range []struct {
		nodes []int32
		holds bool
	}{
		{nil, true}, {[]int32{0}, true}, {[]int32{0, 1, 1}, true}, {[]int32{0, 0}, false}, {[]int32{1, 1, 1}, false},
		{[]int32{1, 2, 2}, true}, {[]int32{1, 2, 3}, false},
	} {
		if got := HoldEach(m.Free, Room{Cores: 2}, c.nodes); got != c.holds {
			t.Errorf("2 cores on each of %v: %v", c.nodes, got)
		}
	}
	if most := MaxFree(m.Free, Room{}, nil); most != (Room{Cores: 4, GPUs: 2, Memory: unlimited}) {
		t.Errorf("at most %+v is free", most)
	}
	if most := MaxFree(m.Free, Room{}, []int32{3}); most != (Room{Cores: 1, Memory: unlimited}) {
		t.Errorf("at most %+v is free at home", most)
	}
	p := &Parts{Each: []Room{{}, {Cores: 3}, {Cores: 2}}, Names: make([]Part, 3)}
	nodes, ok := Fit(m.Free, Room{Parts: p}, 3, nil, []int32{9})
	if !ok || !slices.Equal(nodes, []int32{9, 1, 1, 0}) {
		t.Errorf("the parts are on %v, %v", nodes, ok)
	}
	part := Part{Node: 7}
	if !m.PlacePart(&part, Room{Cores: 2}, nil) || part.Node != 0 || part.Cores.String() != "0-1" {
		t.Errorf("a part of 2 cores is %+v", part)
	}
	if i := Lead([]Part{{Role: "chief"}, {Role: "worker"}}); i != 0 {
		t.Errorf("part %d speaks for the job", i)
	}
	if i := Lead([]Part{{Role: "worker"}, {Role: "ps"}, {Role: "worker", Task: 1}}); i != 0 {
		t.Errorf("part %d speaks for the job", i)
	}
	one := NewMachine(Cluster{Nodes: []Node{{Threads: 4}}})
	if on := one.NodesOf(nil, nil); len(on) != 0 {
		t.Errorf("nothing is on %v", on)
	}
}
