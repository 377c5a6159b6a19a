package cluster

import (
	"fmt"
	"slices"
)

// Beside is a job that shares its GPUs with the one that is given a grant.
type Beside struct {
	Job  int
	Name string
}

// Beside returns a grant of the GPUs that a running job holds, with cores of its own for what a
// job needs on each of these nodes. Nothing is taken yet.
func (m *Machine) Beside(host Grant, who Beside, nodes []int32, need Room) (Grant, error) {
	if len(host.GPUs) == 0 || m.doubled != nil && m.doubled[host.GPUs[0].Lo] {
		return Grant{}, fmt.Errorf("the job %q has no GPUs that it could share with one other", who.Name)
	}
	need.GPUs = 0
	g := m.Choose(nodes, need, Grant{})
	g.GPUs, g.Beside = host.GPUs, &who
	g.Layout = m.LayoutOf(g, nodes)
	return g, nil
}

// LayoutOf returns the layout of a grant, which divides it among its nodes if it has none yet. Each
// may be there several times in a row; there is none for one node.
func (m *Machine) LayoutOf(g Grant, nodes []int32) *Layout {
	if g.Layout == nil && len(nodes) > 1 {
		if nodes = slices.Compact(slices.Clone(nodes)); len(nodes) > 1 {
			return m.Layout(g, nodes)
		}
	}
	return g.Layout
}

// Mates are jobs that share GPUs, two and two.
type Mates map[int32]int32

// Join makes two jobs mates.
func (m *Mates) Join(a, b int32) {
	if *m == nil {
		*m = Mates{}
	}
	(*m)[a], (*m)[b] = b, a
}

// Part returns the mate of a job, which is its mate no more.
func (m Mates) Part(job int32) (mate int32, ok bool) {
	if mate, ok = m[job]; ok {
		delete(m, job)
		delete(m, mate)
	}
	return mate, ok
}
