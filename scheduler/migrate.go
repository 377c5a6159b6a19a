package scheduler

import (
	"slices"

	"github.com/tfexp/tfexp/scheduler/cluster"
)

// movable reports whether a started job may resume on other nodes. A job with roles may not, because its parts have
// each other's addresses.
func (l *loop) movable(j *jobState) bool {
	return l.fixed.migrates && j.booked && (j.plain || len(j.job.Roles()) == 0)
}

// fitIn finds nodes for a waiting job on the given number of cores. rooms has the free resources of each node. The
// former nodes of a paused job come first, because it still has its memory there. The nodes are appended to nodes.
func (l *loop) fitIn(rooms []cluster.Room, j *jobState, cores int32, nodes []int32) (_ []int32, ok bool) {
	if l.easy(j) {
		return append(nodes, 0), cores <= rooms[0].Cores
	}
	need, count := l.needs(j, cores)
	begin := len(nodes)
	nodes, ok = l.choose(rooms, j, need, count, l.home(j), nodes)
	if ok || !l.movable(j) {
		return nodes, ok
	}
	return l.fitAnew(rooms, j, cores, nodes[:begin])
}

// easy reports whether the job needs only cores, and the cluster has only one node, which is always there.
func (l *loop) easy(j *jobState) bool {
	return l.fixed.static && len(l.machine.Free) == 1 && j.plain
}

// fitAnew is fitIn without a preference for the job's former nodes. A job that cannot move still gets only these.
func (l *loop) fitAnew(rooms []cluster.Room, j *jobState, cores int32, nodes []int32) (_ []int32, ok bool) {
	need, count := l.needs(j, cores)
	home := l.home(j)
	if !l.movable(j) {
		return l.choose(rooms, j, need, count, home, nodes)
	}
	whole, _ := j.job.Needs(cores)
	need.Memory = whole.Memory
	held := l.memoryOf(j)
	for _, v := range home {
		rooms[v].Memory += held
	}
	nodes, ok = l.choose(rooms, j, need, count, nil, nodes)
	for _, v := range home {
		rooms[v].Memory -= held
	}
	return nodes, ok
}

// choose finds nodes for a job in rooms: nodes of a divided job by the policy's placement rule, of other jobs the
// first that fit.
func (l *loop) choose(
	rooms []cluster.Room, j *jobState, need cluster.Room, count int, home, nodes []int32,
) (_ []int32, ok bool) {
	if j.plain || !j.job.Divided {
		return cluster.Fit(rooms, need, count, home, nodes)
	}
	site := cluster.PlacementSite{Free: rooms, Whole: l.machine.Whole, Racks: l.machine.Racks}
	return l.rules.Place.Divided(site, need, count, home, nodes)
}

// eachNeed calls f for each of the given nodes with the resources that a waiting job needs there. On its former
// nodes the job needs no further memory.
func (l *loop) eachNeed(j *jobState, cores int32, nodes []int32, f func(node int32, need cluster.Room)) {
	need, _ := l.needs(j, cores)
	memory := need.Memory
	var home []int32
	if l.movable(j) {
		whole, _ := j.job.Needs(cores)
		memory, home = whole.Memory, l.home(j)
	}
	for k, v := range nodes {
		here := need.At(k)
		if need.Parts == nil {
			here.Memory = memory
			if i := slices.Index(home, v); i >= 0 {
				here.Memory, home = memory-l.memoryOf(j), home[i+1:] // memory of former units
			}
		}
		f(v, here)
	}
}

// heldOn returns the last grant of a job if it was on these nodes, else an empty one.
func (l *loop) heldOn(j *jobState, nodes []int32) Grant {
	if l.movable(j) && !slices.Equal(l.home(j), nodes) {
		return Grant{}
	}
	return j.grant
}

// elsewhere reports whether a grant differs from a paused job's last one in its nodes, GPUs or alternative. It is
// false for a job that cannot move.
func (l *loop) elsewhere(j *jobState, g Grant) bool {
	if l.easy(j) || !l.movable(j) {
		return false
	}
	old := &j.grant
	if !slices.Equal(old.GPUs, g.GPUs) || l.turned(j) {
		return true
	}
	l.scratch.from, l.scratch.to = l.nodesIn(j, old, l.scratch.from[:0]), l.nodesIn(j, &g, l.scratch.to[:0])
	return !slices.Equal(l.scratch.from, l.scratch.to)
}

// goOnWith makes the engine resume a paused job with a grant.
func (l *loop) goOnWith(j *jobState, g Grant, moves bool) error {
	if moves {
		return l.fixed.migrator.Migrate(int(j.number), g)
	}
	return l.Engine.Resume(int(j.number), g)
}

// migrated frees the memory of a job on its former nodes.
func (l *loop) migrated(j *jobState) {
	l.unbook(j)
	l.extensions.changed(j, leaves, 0)
	l.result(j).Migrations++
}
