package cluster

import (
	"testing"

	"pgregory.net/rapid"
)

// drawSet draws a set of small numbers. It also returns which numbers are members.
func drawSet(t *rapid.T, name string, most int) (s CoreSet, in []bool) {
	in = make([]bool, most)
	for i := range in {
		if in[i] = rapid.Bool().Draw(t, name); in[i] {
			s = s.Union(CoreSet{{Lo: int32(i), Hi: int32(i) + 1}})
		}
	}
	return s, in
}

// Operations on sets are compared with the same operations on their members.
func TestSetsByTheirMembers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, inA := drawSet(t, "a", 12)
		b, inB := drawSet(t, "b", 12)
		overlap, count := false, 0
		for i := range inA {
			overlap = overlap || inA[i] && inB[i]
			if inA[i] {
				count++
			}
		}
		if Overlap(a, b) != overlap || Overlap(b, a) != overlap {
			t.Fatalf("%s and %s overlap: %v", a, b, !overlap)
		}
		if a.Count() != count {
			t.Fatalf("%s has %d", a, a.Count())
		}
		s := Slots{Bounds: []int32{0}}
		s.AddNode(12)
		s.AddNode(200)
		s.Mark(CoreSet{{Lo: 0, Hi: 212}}, false)
		s.Mark(a, true)
		all := true
		for i := range inB {
			all = all && (!inB[i] || inA[i])
		}
		if s.AllFree(b) != all {
			t.Fatalf("of %s all of %s is free: %v", a, b, !all)
		}
		// Choose spans that cross words of the bitmap of free slots.
		lo := rapid.Int32Range(12, 211).Draw(t, "from")
		hi := rapid.Int32Range(lo+1, 212).Draw(t, "to")
		s.Mark(CoreSet{{Lo: lo, Hi: hi}}, true)
		for _, c := range []struct {
			set  CoreSet
			want bool
		}{{CoreSet{{Lo: lo, Hi: hi}}, true}, {CoreSet{{Lo: lo - 1, Hi: hi}}, lo == 12 && inA[11]},
			{CoreSet{{Lo: lo, Hi: hi + 1}}, false}} {
			if hi == 212 && c.set[0].Hi > hi {
				continue
			}
			if s.AllFree(c.set) != c.want {
				t.Fatalf("%d to %d is free: %s is %v", lo, hi, c.set, !c.want)
			}
		}
		n := rapid.Int32Range(0, hi-lo).Draw(t, "n")
		if got := CoreSet(s.Lowest(nil, 0, 12, 212, n)); n > 0 && (len(got) != 1 || got[0] != Span{lo, lo + n}) {
			t.Fatalf("the lowest %d of %d to %d are %s", n, lo, hi, got)
		}
	})
}

// Divided grants take GPUs of several nodes, with cores for each GPU.
func TestDivide(t *testing.T) {
	m := NewMachine(Cluster{Nodes: []Node{{Threads: 4, GPUs: 2}, {Threads: 6, GPUs: 3}}})
	g, err := m.DividedGrant([]Share{{Node: 1, GPUs: 2}, {Node: 0, GPUs: 1}}, 2)
	if err != nil || g.Cores.String() != "0-1,4-7" || g.GPUs.String() != "0,2-3" || len(g.Layout.Parts) != 2 ||
		g.Layout.Parts[0].Cores.String() != "4-7" || g.Layout.Parts[1].GPUs.String() != "0" {
		t.Errorf("%+v, %v", g, err)
	}
	if g, err := m.DividedGrant([]Share{{Node: 1, GPUs: 3}}, 2); err != nil || g.Layout != nil || g.Cores.Count() != 6 {
		t.Errorf("one node: %+v, %v", g, err)
	}
	for _, s := range []Share{{0, 0}, {0, 3}, {1, 4}} {
		if _, err := m.DividedGrant([]Share{s}, 1); err == nil {
			t.Errorf("%+v has room", s)
		}
	}
	if _, err := m.DividedGrant([]Share{{0, 2}}, 3); err == nil {
		t.Error("there are three cores for each of two GPUs on four cores")
	}
}

// A divided job fits if the nodes together have room for its units.
func TestDividedDemand(t *testing.T) {
	c := Cluster{Nodes: []Node{{Threads: 2, GPUs: 1, Memory: 4}, {Threads: 4, GPUs: 2, Memory: 4}}}
	for _, d := range []struct {
		demand Demand
		want   bool
	}{
		{Demand{Threads: 6, GPUs: 3, Memory: 6, Nodes: 1, Divided: true}, true},
		{Demand{Threads: 6, GPUs: 3, Memory: 7, Nodes: 1, Divided: true}, false}, // one unit of 3 bytes fits on node 1
		{Demand{Threads: 8, GPUs: 4, Nodes: 1, Divided: true}, false},
		{Demand{Threads: 9, GPUs: 3, Nodes: 1, Divided: true}, false},
		{Demand{Threads: 6, Nodes: 1, Divided: true}, true},
		{Demand{Threads: 7, Nodes: 1, Divided: true}, false},
		{Demand{Threads: 4, GPUs: 2, Nodes: 2}, true},
		{Demand{Threads: 6, GPUs: 2, Nodes: 2}, false},
		{Demand{Threads: 4, GPUs: 2, Memory: 8, Nodes: 1}, false},
	} {
		if got := d.demand.FitsOn(c); got != d.want {
			t.Errorf("%+v fits: %v", d.demand, got)
		}
	}
}

// Lead returns the part whose end is the end of the job.
func TestLead(t *testing.T) {
	for _, c := range []struct {
		parts []Part
		want  int
	}{
		{[]Part{{Role: "ps"}, {Role: "worker", Task: 1}, {Role: "worker"}, {Role: "chief"}}, 3},
		{[]Part{{Role: "ps"}, {Role: "worker", Task: 1}, {Role: "worker"}}, 2},
		{[]Part{{Role: "ps"}, {Role: "worker", Task: 1}}, 0},
	} {
		if got := Lead(c.parts); got != c.want {
			t.Errorf("%+v: %d", c.parts, got)
		}
	}
}
