package cluster

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// gpus returns rooms with the given numbers of GPUs, and two cores for each GPU.
func gpus(counts ...int32) (rooms []Room) {
	for _, n := range counts {
		rooms = append(rooms, Room{Cores: 2 * n, GPUs: n})
	}
	return rooms
}

var unit = Room{Cores: 2, GPUs: 1}

// The rules are checked on cases worked by hand. Units are GPUs with two cores.
func TestRulesByHand(t *testing.T) {
	for _, c := range []struct {
		name        string
		rule        PlacementRule
		free, whole []Room
		racks       []int32
		units       int
		want        []int32
	}{
		{"node by node", PlaceAny, gpus(1, 0, 2), nil, nil, 2, []int32{0, 2}},
		{"just enough", PlaceAny, gpus(1, 0, 2), nil, nil, 3, []int32{0, 2, 2}},
		{"too many", PlaceAny, gpus(1, 0, 2), nil, nil, 4, nil},
		{"where the most is left", PlaceSpread, gpus(1, 3, 2), nil, nil, 3, []int32{1, 1, 2}},
		{"ties to the lowest number", PlaceSpread, gpus(2, 2), nil, nil, 3, []int32{0, 0, 1}},
		{"spread over too few", PlaceSpread, gpus(1, 1), nil, nil, 3, nil},
		{"spread over none", PlaceSpread, nil, nil, nil, 1, nil},
		{"on one, the fullest", PlaceConsolidated, gpus(4, 2, 3), gpus(4, 4, 4), []int32{0, 1, 2}, 2, []int32{1, 1}},
		{"waits for one node", PlaceConsolidated, gpus(1, 2, 1), gpus(4, 4, 4), []int32{0, 1, 2}, 3, nil},
		{"two where one is too small", PlaceConsolidated, gpus(4, 1, 4), gpus(4, 4, 4), []int32{0, 1, 2}, 5, []int32{0, 0, 0, 0, 1}},
		{"in one rack", PlaceConsolidated, gpus(4, 1, 3, 3), gpus(4, 4, 4, 4), []int32{0, 1, 2, 2}, 5, []int32{2, 2, 2, 3, 3}},
		{"the rack with the least room", PlaceConsolidated, gpus(4, 4, 3, 3), gpus(4, 4, 4, 4), []int32{0, 0, 1, 1}, 5, []int32{2, 2, 2, 3, 3}},
		{"no rack has room", PlaceConsolidated, gpus(4, 0, 3, 0), gpus(4, 4, 4, 4), []int32{0, 0, 1, 1}, 6, []int32{0, 0, 0, 0, 2, 2}},
		{"more than all", PlaceConsolidated, gpus(1, 1), gpus(1, 1), []int32{0, 1}, 3, nil},
		{"any, if there is no rule", nil, gpus(1, 0, 2), nil, nil, 2, []int32{0, 2}},
	} {
		before := []int32{9}
		got, ok := c.rule.Divided(PlacementSite{c.free, c.whole, c.racks}, unit, c.units, nil, before)
		if ok != (c.want != nil) || !slices.Equal(got, append([]int32{9}, c.want...)) {
			t.Errorf("%s: %v, %v; want %v behind 9", c.name, got, ok, c.want)
		}
	}
	// A job that is bound to nodes is placed on them if they have room for all units.
	for _, c := range []struct {
		home []int32
		ok   bool
	}{{[]int32{2, 2}, true}, {[]int32{0, 0}, false}, {[]int32{0, 2}, true}, {[]int32{1}, false}} {
		if got, ok := PlacementRule(PlaceAny).Divided(PlacementSite{Free: gpus(1, 0, 2)}, unit, 2, c.home, nil); ok != c.ok || !slices.Equal(got, c.home) {
			t.Errorf("bound to %v: %v, %v", c.home, got, ok)
		}
	}
}

// TestAnyPlacement checks the rules on random free resources. Each rule finds nodes whenever that is possible.
// Consolidated uses no more nodes than in the empty cluster, and nodes of one rack if they suffice. After Spread, no
// node has two more free units than a node that was used.
func TestAnyPlacement(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		n := 1 + rng.IntN(5)
		s := PlacementSite{}
		for range n {
			whole := rng.Int32N(5)
			s.Whole, s.Free = append(s.Whole, gpus(whole)...), append(s.Free, gpus(rng.Int32N(whole+1))...)
			s.Racks = append(s.Racks, rng.Int32N(3))
		}
		units := 1 + rng.IntN(8)
		// can reports whether all units fit on some nodes, whose number may not exceed most. With oneRack, these nodes
		// must all be in one rack.
		can := func(rooms []Room, most int, oneRack bool) bool {
			for set := range 1 << n {
				sum, racks := 0, map[int32]bool{}
				for v := range n {
					if set>>v&1 == 1 {
						sum += rooms[v].Times(unit)
						racks[s.Racks[v]] = true
					}
				}
				if bits.OnesCount(uint(set)) <= most && sum >= units && (!oneRack || len(racks) == 1) {
					return true
				}
			}
			return false
		}
		most := 1
		for most < n && !can(s.Whole, most, false) {
			most++
		}
		for name, rule := range map[string]PlacementRule{"any": PlaceAny, "spread": PlaceSpread, "consolidated": PlaceConsolidated} {
			nodes, ok := rule.Divided(s, unit, units, nil, nil)
			possible := can(s.Free, n, false)
			if name == "consolidated" {
				possible = can(s.Free, most, false)
			}
			if ok != possible || ok && len(nodes) != units {
				t.Fatalf("%s: %d units of %+v on %v, %v, want %v", name, units, s, nodes, ok, possible)
			}
			if !ok {
				continue
			}
			left, used, racks := make([]int, n), map[int32]bool{}, map[int32]bool{}
			for v := range left {
				left[v] = s.Free[v].Times(unit)
			}
			for _, v := range nodes {
				left[v]--
				used[v], racks[s.Racks[v]] = true, true
			}
			if slices.Min(left) < 0 || !slices.IsSorted(nodes) {
				t.Fatalf("%s: %d units of %+v on %v", name, units, s, nodes)
			}
			for v := range used {
				if name == "spread" && slices.Max(left) > left[v]+1 {
					t.Fatalf("spread: %d units of %+v on %v", units, s, nodes)
				}
			}
			if name == "consolidated" && (len(used) > most || len(racks) > 1 && can(s.Free, most, true)) {
				t.Fatalf("consolidated: %d units of %+v on %v, of at most %d nodes", units, s, nodes, most)
			}
		}
	}
}
