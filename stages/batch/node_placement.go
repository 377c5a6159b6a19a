package batch

import (
	"slices"

	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/policy"
)

// Filled is the rule for nodes of batch systems.
const Filled policy.Nodes = "filled"

func init() {
	policy.RegisterNodes(policy.NodesChoice{
		Choice: policy.Choice{
			Name: Filled, Title: "filled", Place: 5,
			Doc: "over neighboring nodes, one filled after the other: on the smallest group of " +
				"neighboring nodes with room, or else on the largest",
		},
		Place: func(s cluster.PlacementSite, unit cluster.Room, units int, nodes []int32) ([]int32, bool) {
			p := packer{units: make([]int32, len(s.Free))}
			for v := range s.Free {
				p.units[v] = int32(s.Free[v].Times(unit))
			}
			on, ok := p.place(int32(units), 1, 0, nil)
			for _, x := range on {
				for range x.units {
					nodes = append(nodes, x.node)
				}
			}
			return nodes, ok
		},
	})
}

// share is a number of units of a job on a node.
type share struct{ node, units int32 }

// packer divides jobs over nodes.
type packer struct {
	units   []int32 // that a node has room for
	weights []int   // of nodes; nil for all alike
	spread  bool    // the nodes with the most room come first
}

// place chooses from least to most nodes (0 for no bound) for the units, as in select/cons_tres. Nodes of less weight
// are tried first; others are only added to them.
func (p *packer) place(units int32, least, most int, into []share) ([]share, bool) {
	total, nodes := int64(0), 0
	for _, u := range p.units {
		if u > 0 {
			total += int64(u)
			nodes++
		}
	}
	if total < int64(units) || nodes < least {
		return nil, false
	}
	if most == 0 {
		most = len(p.units)
	}
	if p.spread {
		return p.leastLoaded(units, least, most, into)
	}
	if p.weights != nil {
		if on, ok := p.lightest(units, least, most, into); ok {
			return on, true
		}
	}
	floor := int32(1)
	for { // nodes with little room are left out where others leave room for all
		on, ok := p.choose(units, least, most, floor, into[:0])
		if ok {
			return on, true
		}
		next := int32(0)
		for _, u := range p.units {
			if u > floor && (next == 0 || u < next) {
				next = u
			}
		}
		if next == 0 {
			return nil, false
		}
		floor = next
	}
}

// lightest places a job on the nodes with the least weights, as many as it needs.
func (p *packer) lightest(units int32, least, most int, into []share) ([]share, bool) {
	levels := slices.Compact(slices.Sorted(slices.Values(p.weights)))
	if len(levels) == 1 {
		return nil, false
	}
	light := packer{units: make([]int32, len(p.units))}
	for _, w := range levels {
		for v := range p.units {
			if p.weights[v] <= w {
				light.units[v] = p.units[v]
			}
		}
		if on, ok := light.place(units, least, most, into); ok {
			return on, true
		}
	}
	return nil, false
}

// leastLoaded takes the nodes with the most room first, nodes of less weight before others.
func (p *packer) leastLoaded(units int32, least, most int, on []share) ([]share, bool) {
	order := make([]int32, 0, len(p.units))
	for v, u := range p.units {
		if u > 0 {
			order = append(order, int32(v))
		}
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		if p.weights != nil && p.weights[a] != p.weights[b] {
			return p.weights[a] - p.weights[b]
		}
		return int(p.units[b] - p.units[a])
	})
	for _, v := range order {
		if units <= 0 && len(on) >= least || len(on) >= most {
			break
		}
		n := min(p.units[v], units-int32(max(least-len(on)-1, 0)))
		on = append(on, share{v, n})
		units -= n
	}
	slices.SortFunc(on, func(a, b share) int { return int(a.node - b.node) })
	return on, units <= 0 && len(on) >= least
}

// run is a row of consecutive nodes with room.
type run struct {
	first, last int
	units       int32 // that its nodes have room for
	used        bool
}

// runs returns the runs of nodes that each have room for at least floor units.
func (p *packer) runs(floor int32) (runs []run) {
	for v, u := range p.units {
		switch {
		case u < floor:
		case len(runs) > 0 && runs[len(runs)-1].last == v-1:
			runs[len(runs)-1].last = v
			runs[len(runs)-1].units += u
		default:
			runs = append(runs, run{first: v, last: v, units: u})
		}
	}
	return runs
}

// bestRun returns the run to use next for a number of units on a number of nodes or more; nil when all are used. As in
// select/cons_tres, the smallest run that is large enough comes before the others, and these by their room.
func bestRun(runs []run, units int32, nodes int) (best *run) {
	bestFits := false
	for i := range runs {
		r := &runs[i]
		if r.used {
			continue
		}
		better, fits := false, r.units >= units && r.last-r.first+1 >= nodes
		switch {
		case best == nil || fits && !bestFits:
			better = true
		case fits:
			better = r.units < best.units
		default: // a run with more room but too few nodes replaces one that fits
			better = r.units > best.units
		}
		if better {
			best, bestFits = r, fits
		}
	}
	return best
}

// fullest returns the node of a run with the least room that is enough for all units; -1 for none.
func (p *packer) fullest(r *run, units int32) int {
	fullest := -1
	for v := r.first; v <= r.last; v++ {
		if p.units[v] >= units && (fullest < 0 || p.units[v] < p.units[fullest]) {
			fullest = v
		}
	}
	return fullest
}

// choose is place on nodes with room for at least floor units.
func (p *packer) choose(units int32, least, most int, floor int32, on []share) ([]share, bool) {
	runs := p.runs(floor)
	for units > 0 || len(on) < least {
		r := bestRun(runs, units, least-len(on))
		if r == nil || len(on) >= most {
			return nil, false
		}
		r.used = true
		first, last := r.first, r.last
		if least-len(on) <= 1 { // one node may do
			if v := p.fullest(r, units); v >= 0 {
				first, last = v, v
			}
		}
		for v := first; v <= last && len(on) < most && (units > 0 || len(on) < least); v++ {
			if p.units[v] < floor || len(on) == most-1 && p.units[v] < units { // the last node must hold the rest
				continue
			}
			more := int32(max(least-len(on)-1, 0)) // each of the others has one at least
			n := min(p.units[v], units-more)
			on = append(on, share{int32(v), n})
			units -= n
		}
	}
	slices.SortFunc(on, func(a, b share) int { return int(a.node - b.node) })
	return on, true
}
