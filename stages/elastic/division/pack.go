package division

import "slices"

// Want is the number of GPUs that a job gets, on some of the nodes.
type Want struct {
	GPUs int
	// Held is its present placement, if the job may stay there; else nil.
	Held []int
}

// Pack places jobs on nodes of a cluster. Jobs with a placement stay, unless other jobs would not fit. Jobs that need
// several nodes get whole nodes. Smaller jobs get the node with the fewest free GPUs that suffice. If jobs that stay
// are in the way, first the jobs within one node are placed again, and then all jobs. It returns the GPUs of each job
// by node; nil for a job that gets none.
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

// keeping packs the jobs around those that stay. If divided is set, a job that fits on no node is divided over the
// nodes with the most free GPUs.
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

// place takes GPUs from one node, or from whole nodes; nil if there are too few.
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
