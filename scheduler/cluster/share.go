package cluster

import "fmt"

// Share is GPUs of a node.
type Share struct{ Node, GPUs int32 }

// Divide returns a grant of GPUs on several nodes, in this order, with so many cores beside
// each GPU: the lowest that are free. Nothing is taken yet.
func (m *Machine) Divide(shares []Share, cores int32) (Grant, error) {
	g := Grant{Layout: &Layout{}}
	for i, s := range shares {
		node := []int32{s.Node}
		if free := m.Free[s.Node]; s.GPUs < 1 || free.GPUs < s.GPUs || free.Cores < cores*s.GPUs {
			return Grant{}, fmt.Errorf("node %d has no room for %d GPUs with %d cores each", s.Node, s.GPUs, cores)
		}
		p := Part{
			Node: int(s.Node), Task: i,
			Cores: m.Lowest(&m.Cores, node, cores*s.GPUs), GPUs: m.Lowest(&m.GPUs, node, s.GPUs),
		}
		g.Layout.Parts = append(g.Layout.Parts, p)
		g.Cores, g.GPUs = g.Cores.Union(p.Cores), g.GPUs.Union(p.GPUs)
	}
	if len(shares) == 1 {
		g.Layout = nil
	}
	return g, nil
}
