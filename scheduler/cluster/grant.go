package cluster

// Grant is the resources granted to a job: core and GPU numbers of the cluster,
// of all its parts together.
type Grant struct {
	Cores CoreSet
	GPUs  CoreSet
	// Alternative is the alternative that the job is to use, an index of its
	// alternatives; 0 for a job that has none.
	Alternative int
	// Layout divides the grant among the parts of a job that has several; nil for
	// a job of one part, which has all of it on one node.
	Layout *Layout
	// Beside is the job that shares all of these GPUs; nil if they are not shared.
	Beside *Beside
}

// Layout is the parts of a job that has several: one a node for a gang.
type Layout struct{ Parts []Part }

// Part is the holdings of one part of a job, on one node. Other parts may share the node.
type Part struct {
	Node int
	// Role is the name of its role, and Task its index among the parts of this
	// role. The parts of a gang have no role, and are counted by their nodes.
	Role string
	Task int
	// Cores and GPUs are numbers of the cluster, of this node.
	Cores, GPUs CoreSet
}

// Parts returns the parts of the grant on a cluster: at least one.
func (g *Grant) Parts(c Cluster) []Part {
	if g.Layout != nil {
		return g.Layout.Parts
	}
	p := Part{Cores: g.Cores, GPUs: g.GPUs}
	last := 0
	for i, n := range c.Nodes {
		if last += n.Threads; len(g.Cores) > 0 && int(g.Cores[0].Lo) < last {
			p.Node = i
			break
		}
	}
	return []Part{p}
}

// Together returns the grant that parts have together.
func Together(parts []Part) Grant {
	g := Grant{Layout: &Layout{Parts: parts}}
	for _, p := range parts {
		g.Cores, g.GPUs = g.Cores.Union(p.Cores), g.GPUs.Union(p.GPUs)
	}
	return g
}

// Needs returns the needs of the parts of a started job, to resume.
func (l *Layout) Needs() *Parts {
	p := &Parts{}
	for _, part := range l.Parts {
		p.Each = append(p.Each, Room{Cores: int32(part.Cores.Count()), GPUs: int32(part.GPUs.Count())})
		p.Names = append(p.Names, Part{Role: part.Role, Task: part.Task})
	}
	return p
}

// Layout divides a grant among its nodes, which are all different.
func (m *Machine) Layout(g Grant, nodes []int32) *Layout {
	l := &Layout{Parts: make([]Part, len(nodes))}
	for i, v := range nodes {
		l.Parts[i] = Part{Node: int(v), Task: i, Cores: m.Cores.on(g.Cores, v), GPUs: m.GPUs.on(g.GPUs, v)}
	}
	return l
}

// on returns the part of a set that is on a node.
func (s *Slots) on(set CoreSet, node int32) CoreSet {
	var part CoreSet
	for _, p := range set {
		if lo, hi := max(p.Lo, s.Bounds[node]), min(p.Hi, s.Bounds[node+1]); lo < hi {
			part = append(part, Span{lo, hi})
		}
	}
	return part
}

// Split divides parts into those that are left and those that are gone.
func Split(parts []Part, gone func(p *Part) bool) (left, lost []Part) {
	for _, p := range parts {
		if gone(&p) {
			lost = append(lost, p)
		} else {
			left = append(left, p)
		}
	}
	return left, lost
}
