package division

import "slices"

// Want is a job's wanted GPUs on some nodes.
type Want struct {
	GPUs int
	// Held is where it is already, if that may stay so; nil for nowhere.
	Held []int
}

// Pack places jobs on some of the nodes of a cluster. Placed jobs stay where they are, unless others would not
// fit. Jobs of several nodes get whole nodes; smaller jobs get the node with the fewest free GPUs that are enough.
// Where staying jobs are in the way, the jobs within one node are placed again, and then all jobs. It returns the
// GPUs of each job by node; nil for one that wants none.
func Pack(capacity, nodes []int, wants []Want) Division {
	packer := packing{capacity: capacity, nodes: nodes, wants: wants}
	stays := []func(w Want) bool{
		func(Want) bool { return true },
		func(w Want) bool { n, _ := extent(w.Held); return n > 1 },
		func(Want) bool { return false },
	}
	for _, stay := range stays {
		if d, ok := packer.keeping(stay, false); ok {
			return d
		}
	}
	d, _ := packer.keeping(stays[len(stays)-1], true)
	return d
}

type packing struct {
	capacity, nodes []int
	wants           []Want
}

// keeping packs with the jobs that stay. A job for which there is no node is divided over those with
// most free GPUs if that is allowed.
func (p *packing) keeping(stay func(Want) bool, divided bool) (Division, bool) {
	d := make(Division, len(p.wants))
	free := make([]int, len(p.capacity))
	for _, v := range p.nodes {
		free[v] = p.capacity[v]
	}
	var order []int
	for i, w := range p.wants {
		switch {
		case w.GPUs == 0:
		case w.Held != nil && stay(w):
			d[i] = slices.Clone(w.Held)
			for v, n := range w.Held {
				free[v] -= n
			}
		default:
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return p.wants[b].GPUs - p.wants[a].GPUs })
	for _, i := range order {
		if d[i] = p.place(free, p.wants[i].GPUs); d[i] == nil {
			if !divided {
				return nil, false
			}
			d[i] = PlaceMostFree(free, p.wants[i].GPUs)
		}
	}
	return d, true
}

// place takes GPUs from one node, or from whole ones.
func (p *packing) place(free []int, gpus int) []int {
	placement, tightest := make([]int, len(free)), -1
	for _, v := range p.nodes {
		if free[v] >= gpus && (tightest < 0 || free[v] < free[tightest]) {
			tightest = v
		}
	}
	if tightest >= 0 {
		free[tightest] -= gpus
		placement[tightest] = gpus
		return placement
	}
	left := gpus
	for _, v := range p.nodes {
		if free[v] == p.capacity[v] && free[v] <= left {
			placement[v] = free[v]
			left -= free[v]
		}
	}
	if left > 0 {
		return nil
	}
	for v, n := range placement {
		free[v] -= n
	}
	return placement
}
