package simulated

import (
	"math"
	"slices"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/queue"
)

// Contention describes how jobs on one node slow each other down.
type Contention struct {
	// Slowdown returns how many times longer a job takes that holds own of a node's cores, while other jobs hold
	// others of them. A value below 1 counts as 1.
	Slowdown func(own, others, cores int) float64
	// Cluster has the nodes, to find the cores of grants.
	Cluster scheduler.Cluster
}

// crowd computes the progress of running jobs under contention. Jobs that hold equally many cores of the same node
// are slowed equally. They are a group with one clock, which advances as their work does. An event on a node changes
// one clock for each group on it, so its cost does not depend on the number of jobs.
type crowd struct {
	slowdown func(own, others, cores int) float64
	first    []int32 // number of the first core of each node, and the number of all cores
	held     []int32 // held cores by node
	groups   []group
	alike    []map[int32]int32 // by node: the group for each number of cores
	onNode   [][]int32         // groups with jobs, by node
	unused   []int32           // free groups that were of jobs on several nodes
	of       []int32           // group of each job
	changed  []int32           // nodes whose held cores have changed since the last call of settle
	isNew    []bool            // by node, whether it is in changed
	next     queue.Timers      // the next end of each group; ignored if it differs from group.due
	live     int               // number of groups with jobs
}

// group is running jobs that share a clock. A job on several nodes waits for its slowest node, and is a group by
// itself.
type group struct {
	shares []share
	jobs   int
	slow   float64
	at     time.Duration // instant of the last update of clock
	clock  time.Duration // work of a job that has been in the group from its start, as time alone on its cores
	ends   queue.Timers  // ends of the jobs, as values of clock
	due    time.Duration // instant of the first of these ends at the present speed
}

// share is the number of cores of a node that a job of the group holds.
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

// shares returns how many cores of each node are in a set.
func (k *crowd) shares(cores scheduler.CoreSet) []share {
	var list []share
	for _, span := range cores {
		for lo := span.Lo; lo < span.Hi; {
			v, found := slices.BinarySearch(k.first, lo)
			if !found {
				v--
			}
			for v+1 < len(k.first)-1 && k.first[v+1] == lo { // skip nodes without cores
				v++
			}
			if v >= len(k.held) {
				break // not in this cluster
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

// enter starts the progress of a job, and returns its group.
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

// groupOf returns the group for jobs with the given shares; it creates the group if necessary.
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

// clock returns the clock of a job's group at an instant.
func (k *crowd) clock(job int, now time.Duration) time.Duration {
	g := k.groups[k.of[job]] // a copy, which does not change the group
	g.advance(now)
	return g.clock
}

// slow returns how many times longer a running job takes because of other jobs.
func (k *crowd) slow(job int) float64 { return k.groups[k.of[job]].slow }

// leave removes a job from its group.
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

// hold adds the cores of a job to the held cores of its nodes (sign 1), or subtracts them (sign -1).
func (k *crowd) hold(g *group, sign int32) {
	for _, s := range g.shares {
		k.held[s.node] += sign * s.cores
		k.renew(s.node)
	}
}

// renew makes settle update the speeds of the groups on a node.
func (k *crowd) renew(node int32) {
	if !k.isNew[node] {
		k.isNew[node] = true
		k.changed = append(k.changed, node)
	}
}

// advance moves the clock to now, at the speed since the last change.
func (g *group) advance(now time.Duration) {
	d := now - g.at
	g.at = now
	if g.slow == 1 {
		g.clock += d
		return
	}
	g.clock += time.Duration(math.Round(float64(d) / g.slow))
}

// settle computes the new speeds of groups on changed nodes, and when their next jobs end.
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
	if len(k.next) > 64+8*k.live { // most entries are out of date
		kept := make(queue.Timers, 0, 2*k.live)
		for _, x := range k.next {
			if k.groups[x.Of].due == x.At {
				kept.Push(x)
			}
		}
		k.next = kept
	}
}

// soonest returns the instant at which the next job ends; Never if none runs.
func (k *crowd) soonest() time.Duration {
	for len(k.next) > 0 && k.groups[k.next[0].Of].due != k.next[0].At {
		k.next.Pop()
	}
	if len(k.next) == 0 {
		return scheduler.Never
	}
	return k.next[0].At
}

// finish calls over for each job that ends now.
func (k *crowd) finish(now time.Duration, stale func(end) bool, over func(job int)) {
	for k.soonest() <= now && len(k.next) > 0 {
		id := k.next.Pop().Of
		g := &k.groups[id]
		g.due = scheduler.Never
		g.advance(now)
		k.dropStale(id, stale)
		if len(g.ends) > 0 {
			g.clock = max(g.clock, g.ends[0].At) // differs only by rounding
		}
		for len(g.ends) > 0 && g.ends[0].At <= g.clock {
			x := g.ends.Pop()
			over(int(x.Of))
			k.leave(int(x.Of), now)
			k.dropStale(id, stale)
		}
	}
}

// dropStale removes ends at the front of a group's heap that are out of date.
func (k *crowd) dropStale(id int32, stale func(end) bool) {
	g := &k.groups[id]
	for len(g.ends) > 0 && (k.of[g.ends[0].Of] != id || stale(g.ends[0])) {
		g.ends.Pop()
	}
}
