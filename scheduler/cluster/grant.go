package cluster

// Grant is the resources that a job gets, of all of its parts together: core and GPU numbers of the cluster.
type Grant struct {
	Cores CoreSet
	GPUs  CoreSet
	// Alternative is the alternative with which the job runs, an index of Job.Alternatives; 0 for a job without
	// alternatives.
	Alternative int
	// Layout says which part of the job gets which cores and GPUs; nil for a job of one part, which gets all of them
	// on one node.
	Layout *Layout
	// Beside is the other job that uses the same GPUs; nil if they are not shared.
	Beside *Beside
}

// Layout is the parts of a job that has several. A job on several nodes without roles has one part on each.
type Layout struct{ Parts []Part }

// Part is the resources of one part of a job, on one node. Several parts can be on one node.
type Part struct {
	Node int
	// Role is the name of the part's role, and Task its index in the role. Without roles, Role is empty, and Task is
	// the index of the part's node in the layout.
	Role string
	Task int
	// Cores and GPUs are numbers of the cluster, and all on the part's node.
	Cores, GPUs CoreSet
}

// Parts returns the parts of a grant on a cluster; at least one.
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

// Together returns a grant with the resources of all parts.
func Together(parts []Part) Grant {
	g := Grant{Layout: &Layout{Parts: parts}}
	for _, p := range parts {
		g.Cores, g.GPUs = g.Cores.Union(p.Cores), g.GPUs.Union(p.GPUs)
	}
	return g
}

// Needs returns the resources that the parts need to resume on their nodes.
func (l *Layout) Needs() *Parts {
	p := &Parts{}
	for _, part := range l.Parts {
		p.Each = append(p.Each, Room{Cores: int32(part.Cores.Count()), GPUs: int32(part.GPUs.Count())})
		p.Names = append(p.Names, Part{Role: part.Role, Task: part.Task})
	}
	return p
}

// Layout returns a layout of a grant with one part on each of the nodes, which must be different.
func (m *Machine) Layout(g Grant, nodes []int32) *Layout {
	l := &Layout{Parts: make([]Part, len(nodes))}
	for i, v := range nodes {
		l.Parts[i] = Part{Node: int(v), Task: i, Cores: m.Cores.on(g.Cores, v), GPUs: m.GPUs.on(g.GPUs, v)}
	}
	return l
}

// on returns the numbers of a set that are on a node.
func (s *Slots) on(set CoreSet, node int32) CoreSet {
	var part CoreSet
	for _, p := range set {
		if lo, hi := max(p.Lo, s.Bounds[node]), min(p.Hi, s.Bounds[node+1]); lo < hi {
			part = append(part, Span{lo, hi})
		}
	}
	return part
}

// Split divides parts into two lists: parts for which gone is false, and parts for which it is true.
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
