package cluster

import (
	"fmt"
	"slices"
)

// Beside is a job that shares its GPUs with the job that receives a grant.
type Beside struct {
	Job  int
	Name string
}

// Beside returns a grant of a running job's GPUs, with separate cores for the need of a job on
// each of these nodes. Nothing is taken yet.
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
// node may be listed several times in a row. The layout is nil for one node.
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

// Separate ends the sharing of a job with its mate, and returns the mate.
func (m Mates) Separate(job int32) (mate int32, ok bool) {
	if mate, ok = m[job]; ok {
		delete(m, job)
		delete(m, mate)
	}
	return mate, ok
}

// Owners says whose the cores and GPUs of a machine are, of jobs that may lose them.
type Owners struct {
	cores, gpus []int32 // by number
}

// noOwner is the owner of free resources.
const noOwner = int32(-1)

// NewOwners returns the owners of a machine without grants.
func NewOwners(m *Machine) Owners {
	return Owners{
		cores: slices.Repeat([]int32{noOwner}, int(m.Cores.Bounds[len(m.Cores.Bounds)-1])),
		gpus:  slices.Repeat([]int32{noOwner}, int(m.GPUs.Bounds[len(m.GPUs.Bounds)-1])),
	}
}

// Set makes a grant a job's.
func (o *Owners) Set(g Grant, job int32) {
	set(o.cores, g.Cores, job)
	set(o.gpus, g.GPUs, job)
}

func set(owners []int32, of CoreSet, job int32) {
	for _, p := range of {
		for c := p.Lo; c < p.Hi; c++ {
			owners[c] = job
		}
	}
}

// Clear removes the owner of a grant.
func (o *Owners) Clear(g Grant) { o.Set(g, noOwner) }

// Of returns one of the jobs whose something of a grant is.
func (o *Owners) Of(g Grant) (job int32, ok bool) {
	for _, p := range g.Cores {
		for c := p.Lo; c < p.Hi; c++ {
			if o.cores[c] != noOwner {
				return o.cores[c], true
			}
		}
	}
	for _, p := range g.GPUs {
		for c := p.Lo; c < p.Hi; c++ {
			if o.gpus[c] != noOwner {
				return o.gpus[c], true
			}
		}
	}
	return noOwner, false
}

// Turns are the running jobs whose quantum is over while others wait. Their
// cores count as free and they are in the queue, but they keep running until
// dispatch decides. A job that gets the same cores back is never interrupted.
type Turns struct {
	Owners
	Jobs []int32
}

// Add adds a job and its grant.
func (t *Turns) Add(j int32, g Grant) {
	t.Jobs = append(t.Jobs, j)
	t.Set(g, j)
}

// Drop takes a job out.
func (t *Turns) Drop(j int32, g Grant) {
	t.Jobs = slices.DeleteFunc(t.Jobs, func(k int32) bool { return k == j })
	t.Clear(g)
}

// Share is a number of GPUs on one node.
type Share struct{ Node, GPUs int32 }

// DividedGrant returns a grant of GPUs on several nodes, in this order, with the given number of
// cores for each GPU: the lowest that are free. Nothing is taken yet.
func (m *Machine) DividedGrant(shares []Share, cores int32) (Grant, error) {
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
