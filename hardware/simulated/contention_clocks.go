package simulated

import (
	"math"
	"slices"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/queue"
)

// Contention is how jobs on one node slow each other down.
type Contention struct {
	// Slowdown is how many times longer a job takes because of its neighbors on
	// a node with the given number of cores. The job holds own of the cores,
	// and other jobs hold others. A value below 1 counts as 1.
	Slowdown func(own, others, cores int) float64
	// Cluster is where the cores of grants are.
	Cluster scheduler.Cluster
}

// crowd keeps the clocks of running jobs under contention. Jobs of one node
// that hold as many cores are slowed alike, so they share a clock, which runs
// as their work does; an event on a node costs as much as there are different
// holdings on it, however many jobs run.
type crowd struct {
	slowdown func(own, others, cores int) float64
	first    []int32 // the number of each node's first core, and of the one after the last
	held     []int32 // cores, by node
	groups   []group
	alike    []map[int32]int32 // by node: the group of the jobs with a number of cores
	onNode   [][]int32         // groups that have jobs, by node
	unused   []int32           // groups of gangs that are over
	of       []int32           // the group of each job
	changed  []int32           // nodes whose holdings have changed since the last settle
	isNew    []bool            // whether a node is in changed
	next     queue.Timers      // the next end in each group; stale where group.due differs
	live     int               // groups that have jobs
}

// group is running jobs with one clock. A gang, whose work waits for its
// slowest node, is a separate group.
type group struct {
	shares []share
	jobs   int
	slow   float64
	at     time.Duration // when clock was true
	clock  time.Duration // work done by a job that has been here from the beginning, alone on its cores
	ends   queue.Timers  // by the clock
	due    time.Duration // when the next of them ends unless something changes
}

// share is the number of cores that a job of the group holds of a node.
type share struct{ node, cores int32 }

func newCrowd(c Contention, jobs int) *crowd {
	nodes := len(c.Cluster.Nodes)
	k := &crowd{
		slowdown: c.Slowdown, first: make([]int32, 1, nodes+1), held: make([]int32, nodes),
		alike: make([]map[int32]int32, nodes), onNode: make([][]int32, nodes), isNew: make([]bool,
			nodes), of: make([]int32, jobs),
	}
	for i, n := range c.Cluster.Nodes {
		k.first = append(k.first, k.first[i]+int32(n.Threads))
	}
	return k
}

// shares divides a grant among its nodes.
func (k *crowd) shares(cores scheduler.CoreSet) []share {
	var list []share
	for _, span := range cores {
		for lo := span.Lo; lo < span.Hi; {
			v, found := slices.BinarySearch(k.first, lo)
			if !found {
				v--
			}
			for v+1 < len(k.first)-1 && k.first[v+1] == lo { // nodes without cores
				v++
			}
			if v >= len(k.held) {
				break // not of this cluster
			}
			hi := min(span.Hi, k.first[v+1])
			if n := len(list); n > 0 && list[n-1].node == int32(v) {
				list[n-1].cores += hi - lo
			} else {
				list = append(list, share{int32(v), hi - lo})
			}
			lo = hi
		}
	}
	return list
}

// enter lets a job run from now on, and returns its group.
func (k *crowd) enter(job int, cores scheduler.CoreSet, now time.Duration) *group {
	shares := k.shares(cores)
	id := k.groupOf(shares)
	g := &k.groups[id]
	k.of[job] = id
	if g.jobs++; g.jobs == 1 {
		g.at, k.live = now, k.live+1
		for _, s := range g.shares {
			k.onNode[s.node] = append(k.onNode[s.node], id)
		}
	}
	k.hold(g, 1)
	g.advance(now)
	return g
}

// groupOf finds the group of the jobs that hold such shares, or makes it.
func (k *crowd) groupOf(shares []share) int32 {
	if len(shares) == 1 {
		s := shares[0]
		if id, ok := k.alike[s.node][s.cores]; ok {
			return id
		}
		if k.alike[s.node] == nil {
			k.alike[s.node] = map[int32]int32{}
		}
		id := int32(len(k.groups))
		k.alike[s.node][s.cores] = id
		k.groups = append(k.groups, group{shares: shares, slow: 1, due: scheduler.Never})
		return id
	}
	if n := len(k.unused); n > 0 {
		id := k.unused[n-1]
		k.unused = k.unused[:n-1]
		k.groups[id] = group{shares: shares, slow: 1, due: scheduler.Never}
		return id
	}
	k.groups = append(k.groups, group{shares: shares, slow: 1, due: scheduler.Never})
	return int32(len(k.groups) - 1)
}

// clock returns the clock of a job's group.
func (k *crowd) clock(job int, now time.Duration) time.Duration {
	g := k.groups[k.of[job]] // a copy
	g.advance(now)
	return g.clock
}

// slow is how many times longer a running job takes because of its neighbors.
func (k *crowd) slow(job int) float64 { return k.groups[k.of[job]].slow }

// leave takes a job out of its group.
func (k *crowd) leave(job int, now time.Duration) {
	id := k.of[job]
	g := &k.groups[id]
	g.advance(now)
	k.hold(g, -1)
	if g.jobs--; g.jobs > 0 {
		return
	}
	k.live--
	g.due, g.slow = scheduler.Never, 1
	for _, s := range g.shares {
		on := k.onNode[s.node]
		i := slices.Index(on, id)
		on[i] = on[len(on)-1]
		k.onNode[s.node] = on[:len(on)-1]
	}
	if len(g.shares) != 1 {
		k.unused = append(k.unused, id)
	}
}

// hold counts the cores of one job of a group.
func (k *crowd) hold(g *group, sign int32) {
	for _, s := range g.shares {
		k.held[s.node] += sign * s.cores
		k.renew(s.node)
	}
}

// renew lets the groups on a node get new speeds at the next settle.
func (k *crowd) renew(node int32) {
	if !k.isNew[node] {
		k.isNew[node] = true
		k.changed = append(k.changed, node)
	}
}

// advance moves the clock on to now, at the speed since the last change.
func (g *group) advance(now time.Duration) {
	d := now - g.at
	g.at = now
	if g.slow == 1 {
		g.clock += d
		return
	}
	g.clock += time.Duration(math.Round(float64(d) / g.slow))
}

// settle gives the groups on changed nodes their new speeds, and finds out
// when the next of their jobs ends.
func (k *crowd) settle(now time.Duration, stale func(end) bool) {
	for _, v := range k.changed {
		k.isNew[v] = false
		for _, id := range k.onNode[v] {
			g := &k.groups[id]
			g.advance(now)
			g.slow = 1
			for _, s := range g.shares {
				slow := k.slowdown(int(s.cores), int(k.held[s.node]-s.cores), int(k.first[s.node+1]-k.first[s.node]))
				if slow > g.slow {
					g.slow = slow
				}
			}
			k.dropStale(id, stale)
			if len(g.ends) > 0 {
				g.due = scheduler.Plus(now, stretch(max(g.ends[0].At-g.clock, 0), g.slow, 1))
				k.next.Push(end{At: g.due, Of: id})
			}
		}
	}
	k.changed = k.changed[:0]
	if len(k.next) > 64+8*k.live { // most are overtaken
		kept := make(queue.Timers, 0, 2*k.live)
		for _, x := range k.next {
			if k.groups[x.Of].due == x.At {
				kept.Push(x)
			}
		}
		k.next = kept
	}
}

// soonest returns when the next job ends; Never when none runs.
func (k *crowd) soonest() time.Duration {
	for len(k.next) > 0 && k.groups[k.next[0].Of].due != k.next[0].At {
		k.next.Pop()
	}
	if len(k.next) == 0 {
		return scheduler.Never
	}
	return k.next[0].At
}

// finish calls over with each job that ends now.
func (k *crowd) finish(now time.Duration, stale func(end) bool, over func(job int)) {
	for k.soonest() <= now && len(k.next) > 0 {
		id := k.next.Pop().Of
		g := &k.groups[id]
		g.due = scheduler.Never
		g.advance(now)
		k.dropStale(id, stale)
		if len(g.ends) > 0 {
			g.clock = max(g.clock, g.ends[0].At) // they differ by rounding at most
		}
		for len(g.ends) > 0 && g.ends[0].At <= g.clock {
			x := g.ends.Pop()
			over(int(x.Of))
			k.leave(int(x.Of), now)
			k.dropStale(id, stale)
		}
	}
}

// dropStale removes the ends that come first in a group but were overtaken.
func (k *crowd) dropStale(id int32, stale func(end) bool) {
	g := &k.groups[id]
	for len(g.ends) > 0 && (k.of[g.ends[0].Of] != id || stale(g.ends[0])) {
		g.ends.Pop()
	}
}
