package cluster

import "slices"

// Owners says whose the cores and GPUs of a machine are, of jobs that may lose them.
type Owners struct {
	cores, gpus []int32 // by number
}

// noOwner is the owner of what is nobody's.
const noOwner = int32(-1)

// NewOwners returns the owners of a machine of which nothing is anybody's.
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

// Clear makes a grant nobody's.
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
// cores count as free and they stand in the queue, but they run on until
// it is decided who goes on, so that one that gets its own cores back is never
// touched.
type Turns struct {
	Owners
	Jobs []int32
}

// Add adds a job, and what it holds.
func (t *Turns) Add(j int32, g Grant) {
	t.Jobs = append(t.Jobs, j)
	t.Set(g, j)
}

// Drop takes a job out.
func (t *Turns) Drop(j int32, g Grant) {
	t.Jobs = slices.DeleteFunc(t.Jobs, func(k int32) bool { return k == j })
	t.Clear(g)
}
