package cluster

import (
	"cmp"
	"slices"
)

// PlacementSite describes the nodes from which a placement rule chooses.
type PlacementSite struct {
	// Free has the free resources of each node, and Whole its total resources.
	Free, Whole []Room
	// Racks has the rack number of each node. A node without a rack has a number that no other node has.
	Racks []int32
}

// PlacementRule chooses nodes for a job of several units; unit is the need of each. It appends the node of each unit
// to nodes, in any order. ok is false if the job must wait.
type PlacementRule func(s PlacementSite, unit Room, units int, nodes []int32) (_ []int32, ok bool)

// Divided chooses the nodes of a divided job: by the rule (PlaceAny if it is nil), or the nodes in home. It appends
// the node of each unit to nodes, in ascending order.
func (r PlacementRule) Divided(s PlacementSite, unit Room, units int, home, nodes []int32) (_ []int32, ok bool) {
	if home != nil {
		return append(nodes, home...), HoldEach(s.Free, unit, home)
	}
	if r == nil {
		r = PlaceAny
	}
	begin := len(nodes)
	nodes, ok = r(s, unit, units, nodes)
	slices.Sort(nodes[begin:])
	return nodes, ok
}

// PlaceAny fills the nodes one after the other, in ascending order.
func PlaceAny(s PlacementSite, unit Room, units int, nodes []int32) (_ []int32, ok bool) {
	begin := len(nodes)
	for v, r := range s.Free {
		n := min(r.Times(unit), units)
		nodes = repeat(nodes, int32(v), n)
		if units -= n; units == 0 {
			return nodes, true
		}
	}
	return nodes[:begin], false
}

// PlaceSpread puts each unit on the node that then has the most room, the lowest of equal ones.
func PlaceSpread(s PlacementSite, unit Room, units int, nodes []int32) (_ []int32, ok bool) {
	begin := len(nodes)
	left := make([]int, len(s.Free))
	for v, r := range s.Free {
		left[v] = r.Times(unit)
	}
	for range units {
		best := 0
		for v := range left {
			if left[v] > left[best] {
				best = v
			}
		}
		if len(left) == 0 || left[best] == 0 {
			return nodes[:begin], false
		}
		left[best]--
		nodes = append(nodes, int32(best))
	}
	return nodes, true
}

// PlaceConsolidated uses as few nodes as the job would need on an idle cluster; the job waits until it can have
// them. Nodes of one rack come first. Units that do not fill a node go to the node that has the least room for them.
func PlaceConsolidated(s PlacementSite, unit Room, units int, nodes []int32) (_ []int32, ok bool) {
	begin := len(nodes)
	most := fewest(s.Whole, unit, units)
	if most > 1 {
		for _, rack := range byRoom(s, unit) {
			if nodes, ok = pack(s, unit, units, most, rack, nodes); ok {
				return nodes, true
			}
		}
	}
	if nodes, ok = pack(s, unit, units, most, anyRack, nodes); !ok {
		nodes = nodes[:begin]
	}
	return nodes, ok
}

const anyRack = -1

// fewest returns the smallest number of nodes that have room for the units.
func fewest(rooms []Room, unit Room, units int) int {
	var has []int
	for _, r := range rooms {
		if n := r.Times(unit); n > 0 {
			has = append(has, n)
		}
	}
	slices.SortFunc(has, func(a, b int) int { return cmp.Compare(b, a) })
	for i, n := range has {
		if units -= n; units <= 0 {
			return i + 1
		}
	}
	return len(has)
}

// byRoom returns the numbers of the racks, the rack with the least room first.
func byRoom(s PlacementSite, unit Room) []int32 {
	room := map[int32]int{}
	var racks []int32
	for v, rack := range s.Racks {
		if _, known := room[rack]; !known {
			racks = append(racks, rack)
		}
		room[rack] += s.Free[v].Times(unit)
	}
	slices.SortStableFunc(racks, func(a, b int32) int { return cmp.Compare(room[a], room[b]) })
	return racks
}

// pack puts units on at most the given number of nodes of a rack. It repeatedly takes the fullest node that has room
// for all remaining units, or else the node with the most room.
func pack(s PlacementSite, unit Room, units, most int, rack int32, nodes []int32) (_ []int32, ok bool) {
	begin := len(nodes)
	for ; most > 0 && units > 0; most-- {
		best, room := int32(-1), 0
		for v, r := range s.Free {
			if rack != anyRack && s.Racks[v] != rack || slices.Contains(nodes[begin:], int32(v)) {
				continue
			}
			n := r.Times(unit)
			if n > room && room < units || n >= units && n < room {
				best, room = int32(v), n
			}
		}
		if best < 0 {
			break
		}
		n := min(room, units)
		nodes = repeat(nodes, best, n)
		units -= n
	}
	if units > 0 {
		return nodes[:begin], false
	}
	return nodes, true
}

func repeat(nodes []int32, v int32, n int) []int32 {
	for range n {
		nodes = append(nodes, v)
	}
	return nodes
}
