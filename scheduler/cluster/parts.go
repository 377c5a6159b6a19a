package cluster

import "slices"

// Parts is the resources that each part of a job needs on its node. Several parts can be on one node. A part that
// needs no cores is on the node of the first part that needs some.
type Parts struct {
	Each []Room
	// Names has the role and task of each part.
	Names []Part
	// GPU has the type of GPU that each part needs; empty for any type. It is nil if no part needs a type. The
	// method On computes Kind of the needs from it.
	GPU []string
}

// PlacePart chooses the node with the lowest number that has room for a part, and cores and GPUs on it, and sets
// them in p. A part that needs no cores gets the node of the first held part with cores. ok is false if no node has
// room.
func (m *Machine) PlacePart(p *Part, need Room, held []Part) (ok bool) {
	if need.Cores == 0 && need.GPUs == 0 {
		p.Node = held[max(slices.IndexFunc(held, func(p Part) bool { return len(p.Cores) > 0 }), 0)].Node
		return true
	}
	p.Node = slices.IndexFunc(m.Free, func(r Room) bool { return r.Holds(need) })
	if p.Node < 0 {
		return false
	}
	node := []int32{int32(p.Node)}
	p.Cores, p.GPUs = m.Lowest(&m.Cores, node, need.Cores), m.Lowest(&m.GPUs, node, need.GPUs)
	return true
}

// On sets Kind of each need to the machine's number of the needed type of GPU.
func (p *Parts) On(m *Machine) {
	for i, gpu := range p.GPU {
		if gpu != "" {
			p.Each[i].Kind = m.KindOf(gpu)
		}
	}
}

// At returns the resources that the job needs on the i-th of the nodes that Fit returns.
func (r Room) At(i int) Room {
	if r.Parts != nil {
		return r.Parts.Each[i]
	}
	return r
}

// first returns the index of the first part that needs cores.
func (p *Parts) first() int {
	return max(slices.IndexFunc(p.Each, func(r Room) bool { return r.Cores > 0 }), 0)
}

// fit chooses a node for each part in turn: the lowest one that still has room after the earlier parts, or the node
// that home has for it.
func (p *Parts) fit(free []Room, whole Room, home, nodes []int32) (_ []int32, ok bool) {
	free = slices.Clone(free)
	begin := len(nodes)
	for i, need := range p.Each {
		if need.Market = whole.Market; need.Kind == 0 {
			need.Kind = whole.Kind
		}
		at := slices.IndexFunc(free, func(r Room) bool { return r.Holds(need) })
		switch {
		case home != nil && !free[home[i]].Holds(need):
			return nodes[:begin], false
		case home != nil:
			at = int(home[i])
		case at < 0:
			return nodes[:begin], false
		}
		free[at].Sub(need)
		nodes = append(nodes, int32(at))
	}
	if home == nil {
		for i, need := range p.Each {
			if need.Cores == 0 {
				nodes[begin+i] = nodes[begin+p.first()]
			}
		}
	}
	return nodes, true
}

// choose returns cores and GPUs for each part on its node: the numbers in old if all are free, else the lowest free
// ones. On one node, earlier parts get lower cores.
func (p *Parts) choose(m *Machine, nodes []int32, old Grant) Grant {
	g := Grant{Cores: old.Cores, GPUs: old.GPUs, Layout: &Layout{Parts: slices.Clone(p.Names)}}
	if len(old.Cores) == 0 || !m.Cores.AllFree(old.Cores) || !m.GPUs.AllFree(old.GPUs) {
		g.Cores, g.GPUs = nil, nil
		for _, v := range slices.Compact(slices.Sorted(slices.Values(nodes))) {
			var all Room
			for i, at := range nodes {
				if at == v {
					all.Add(p.Each[i])
				}
			}
			g.Cores = g.Cores.Union(m.Lowest(&m.Cores, []int32{v}, all.Cores))
			g.GPUs = g.GPUs.Union(m.Lowest(&m.GPUs, []int32{v}, all.GPUs))
		}
	}
	cores, gpus := map[int32]CoreSet{}, map[int32]CoreSet{}
	for _, v := range nodes {
		cores[v], gpus[v] = m.Cores.on(g.Cores, v), m.GPUs.on(g.GPUs, v)
	}
	for i, v := range nodes {
		part := &g.Layout.Parts[i]
		part.Node = int(v)
		part.Cores, cores[v] = cores[v].Cut(int(p.Each[i].Cores))
		part.GPUs, gpus[v] = gpus[v].Cut(int(p.Each[i].GPUs))
	}
	return g
}

// Lead returns the index of the part that leads the job: the job ends when this part ends. It is the chief, else
// worker 0, else the first part.
func Lead(parts []Part) int {
	for _, role := range []string{"chief", "worker"} {
		if i := slices.IndexFunc(parts, func(p Part) bool { return p.Role == role && p.Task == 0 }); i >= 0 {
			return i
		}
	}
	return 0
}
