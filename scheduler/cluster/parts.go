package cluster

import "slices"

// Parts is the need of each part of a job on its node, where parts differ. Parts may
// share a node. A part that needs nothing is on the node of the first part that needs
// cores.
type Parts struct {
	Each []Room
	// Names has the roles and tasks of the parts.
	Names []Part
	// GPU has the type of GPU that each part needs, empty for any; it may be nil. On
	// makes kinds of them.
	GPU []string
}

// PlacePart chooses the lowest node that has room for a part of a job, and its cores and GPUs
// there; ok is false if there is no such node. A part that needs no cores is on the node of the
// first held part that has some.
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

// On makes the types of GPUs that parts need the kinds of a machine.
func (p *Parts) On(m *Machine) {
	for i, gpu := range p.GPU {
		if gpu != "" {
			p.Each[i].Kind = m.KindOf(gpu)
		}
	}
}

// At returns the need on the i-th of the nodes that Fit returns.
func (r Room) At(i int) Room {
	if r.Parts != nil {
		return r.Parts.Each[i]
	}
	return r
}

// first is the index of the first part that needs cores.
func (p *Parts) first() int {
	return max(slices.IndexFunc(p.Each, func(r Room) bool { return r.Cores > 0 }), 0)
}

// fit chooses a node for each part in turn: the lowest number that still has room
// after the earlier parts, or the node of home.
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

// choose picks the lowest cores and GPUs of the nodes for the parts, or the old ones if
// all are free. The parts of a node have its cores in their order.
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

// Lead returns the index of the part that speaks for its job, which ends when it does:
// the chief, else worker 0, else the first.
func Lead(parts []Part) int {
	for _, role := range []string{"chief", "worker"} {
		if i := slices.IndexFunc(parts, func(p Part) bool { return p.Role == role && p.Task == 0 }); i >= 0 {
			return i
		}
	}
	return 0
}
