package cluster

import (
	"fmt"
	"slices"
)

// Beside names a job that shares its GPUs with another job.
type Beside struct {
	Job  int
	Name string
}

// Beside returns a grant with the GPUs of the running job's grant host, and with free cores for need on each of the
// nodes. It does not mark them as held.
func (m *Machine) Beside(host Grant, who Beside, nodes []int32, need Room) (Grant, error) {
	if len(host.GPUs) == 0 || m.doubled != nil && m.doubled[host.GPUs[0].Lo] {
		return Grant{}, fmt.Errorf("job %q has no GPUs that another job can share", who.Name)
	}
	need.GPUs = 0
	g := m.Choose(nodes, need, Grant{})
	g.GPUs, g.Beside = host.GPUs, &who
	g.Layout = m.LayoutOf(g, nodes)
	return g, nil
}

// LayoutOf returns the layout of a grant on the nodes, in which a node may be listed several times in a row. If the
// grant has none, each node gets one part. The layout is nil for a job on one node.
func (m *Machine) LayoutOf(g Grant, nodes []int32) *Layout {
	if g.Layout == nil && len(nodes) > 1 {
		if nodes = slices.Compact(slices.Clone(nodes)); len(nodes) > 1 {
			return m.Layout(g, nodes)
		}
	}
	return g.Layout
}

// Mates maps each job that shares its GPUs to the job that it shares them with.
type Mates map[int32]int32

// Join records that two jobs share GPUs.
func (m *Mates) Join(a, b int32) {
	if *m == nil {
		*m = Mates{}
	}
	(*m)[a], (*m)[b] = b, a
}

// Separate removes a job and its mate, and returns the mate. ok is false if the job had none.
func (m Mates) Separate(job int32) (mate int32, ok bool) {
	if mate, ok = m[job]; ok {
		delete(m, job)
		delete(m, mate)
	}
	return mate, ok
}

// Owners maps cores and GPUs to jobs.
type Owners struct {
	cores, gpus []int32 // job by number of a core or GPU, or noOwner
}

// noOwner is the owner of resources without an owner.
const noOwner = int32(-1)

// NewOwners returns Owners in which nothing has an owner.
func NewOwners(m *Machine) Owners {
	return Owners{
		cores: slices.Repeat([]int32{noOwner}, int(m.Cores.Bounds[len(m.Cores.Bounds)-1])),
		gpus:  slices.Repeat([]int32{noOwner}, int(m.GPUs.Bounds[len(m.GPUs.Bounds)-1])),
	}
}

// Set makes a job the owner of the resources of a grant.
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

// Clear removes the owner of the resources of a grant.
func (o *Owners) Clear(g Grant) { o.Set(g, noOwner) }

// Of returns a job that owns some of the resources of a grant. ok is false if none has an owner.
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

// Turns are the running jobs whose quantum is over while other jobs wait. They are in the queue, and their cores
// count as free, but they run until dispatch has decided. A job that gets the same cores again is not paused.
type Turns struct {
	Owners
	Jobs []int32
}

// Add adds a job with its grant.
func (t *Turns) Add(j int32, g Grant) {
	t.Jobs = append(t.Jobs, j)
	t.Set(g, j)
}

// Drop removes a job with its grant.
func (t *Turns) Drop(j int32, g Grant) {
	t.Jobs = slices.DeleteFunc(t.Jobs, func(k int32) bool { return k == j })
	t.Clear(g)
}

// Share is a number of GPUs on one node.
type Share struct{ Node, GPUs int32 }

// DividedGrant returns a grant of the lowest free GPUs on several nodes, with the given number of cores for each
// GPU. It does not mark them as held.
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
