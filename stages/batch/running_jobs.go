package batch

import (
	"slices"
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// runningJob is a running job and when it ends by its limit.
type runningJob struct {
	end time.Duration
	job int32
}

// allocation is the nodes and cores of a running job.
type allocation struct {
	on     bitmap  // nil when it does not run
	shares []share // of cores, by node
	end    time.Duration
	since  time.Duration
	use    usage
}

// runningJobs are the running jobs and their allocations.
type runningJobs struct {
	byEnd       []runningJob
	allocations []allocation // by job
	wholeNodes  bitmap       // of jobs that have their nodes for themselves
	exclusive   int          // how many such jobs there are
}

// add records that a job has started.
func (r *runningJobs) add(job int32, a allocation) {
	r.allocations[job] = a
	i, _ := slices.BinarySearchFunc(r.byEnd, runningJob{a.end, job}, byEnd)
	r.byEnd = slices.Insert(r.byEnd, i, runningJob{a.end, job})
}

// remove records that a job has left its nodes.
func (r *runningJobs) remove(job int32) {
	a := &r.allocations[job]
	i, found := slices.BinarySearchFunc(r.byEnd, runningJob{a.end, job}, byEnd)
	if found {
		r.byEnd = slices.Delete(r.byEnd, i, i+1)
	}
	a.on, a.shares = nil, nil
}

func byEnd(a, b runningJob) int {
	if a.end != b.end {
		return int(max(min(a.end-b.end, 1), -1))
	}
	return int(a.job - b.job)
}

// coreNumbers has the numbers of the cluster's cores, which are counted node by node.
type coreNumbers struct {
	perNode []int32 // the number of cores, by node
	first   []int32 // the number of each node's first core
	counts  counts  // perNode as bitmaps
}

func newCoreNumbers(nodes []scheduler.Node) (c coreNumbers) {
	next := int32(0)
	for v := range nodes {
		c.first = append(c.first, next)
		c.perNode = append(c.perNode, int32(nodes[v].Threads))
		next += c.perNode[v]
	}
	c.counts = newCounts(len(nodes), int(slices.Max(append([]int32{1}, c.perNode...))))
	for v, cores := range c.perNode {
		c.counts.add(int32(v), cores)
	}
	return c
}

// nodesOf returns the nodes of some cores, and how many are on each.
func (c *coreNumbers) nodesOf(cores scheduler.CoreSet) (bitmap, []share) {
	on, shares := newBitmap(len(c.first)), []share(nil)
	for _, s := range cores {
		v, found := slices.BinarySearch(c.first, s.Lo)
		if !found {
			v--
		}
		for lo := s.Lo; lo < s.Hi; v++ {
			hi := min(s.Hi, c.first[v]+c.perNode[v])
			if n := len(shares); n > 0 && shares[n-1].node == int32(v) {
				shares[n-1].units += hi - lo
			} else if hi > lo {
				shares = append(shares, share{int32(v), hi - lo})
			}
			on.set(v)
			lo = hi
		}
	}
	return on, shares
}
