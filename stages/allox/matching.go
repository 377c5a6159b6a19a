// This file finds the order of jobs on unequal machines that minimizes the sum of their finish times.

package allox

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// Assignment asks for the order of jobs on unequal machines, one at a time on
// each, that minimizes the sum of their finish times. The machines of a kind
// differ only in when they become free. Times are in any unit; a job's time
// multiplied by the number of jobs, and sums of these, fit into an int64.
//
// A job that is the k-th from the end on a machine delays itself and the k-1
// jobs behind it, so that it adds k times its run time to the sum, and the time
// after which the machine is free (W. A. Horn, 1973; J. Bruno, E. G. Coffman,
// R. Sethi, 1974). The least sum is a matching of jobs to (machine, position)
// of minimum cost.
type Assignment struct {
	// Times[i][c] is the run time of job i on a machine of kind c; it is negative if the job cannot run there. Each job
	// can run on at least one kind.
	Times [][]int64
	// Free[c] is the time at which each machine of kind c becomes free, ascending. Each kind has at least one machine.
	Free [][]int64
}

// AssignmentPosition is the place of a job: the position Level, counted from the end and from 1, on a machine of this Kind.
type AssignmentPosition struct{ Kind, Level int }

// track has the positions on machines of one kind, counted from the end. All machines of a kind share them, because the
// choice of the machine does not change the sum. Another job in a position adds the time until the next machine is
// free. So the size of the problem is the number of positions, not of machines. The last position is always empty.
//
// For a given job, the cost of a position is a linear function of its level, with the job's run time as slope. The
// potential of a position equals the potential of its jobs, and no job has lower cost elsewhere. So the potentials are
// the lower envelope of linear functions, and concave.
type track struct {
	jobs      [][]int32 // jobs that are matched to each position
	potential []int64
	// of the search for one job
	distance []int64
	from     []int32 // the job that moves here on the shortest path
	place    []int32 // heap index of each position; -1 if it is not in the heap
}

// matching solves an Assignment by successive shortest paths. It adds jobs one by one; each moves other jobs to other
// positions along the cheapest path. The paths are found by Dijkstra's algorithm with potentials (J. Edmonds, R. M.
// Karp, 1972; N. Tomizawa, 1971). With n jobs and p positions the worst case is O(n² p), but each job visits only
// nearby positions (see scan).
type matching struct {
	Assignment
	tracks []track // by kind
	at     []AssignmentPosition
	price  []int64 // the potential of each job
	// of the search for one job
	near    frontier
	bound   int64                // no shortest path is longer
	settled []AssignmentPosition // positions whose distance is final
	rows    []int32              // jobs that the search has reached
	reached []int64              // their distances
}

const far = math.MaxInt64

// SolveAssignment matches all jobs. The result depends only on the problem; ties are broken by the order of jobs and
// kinds.
func SolveAssignment(p Assignment) []AssignmentPosition {
	m := &matching{Assignment: p, tracks: make([]track, len(p.Free)), at: make([]AssignmentPosition, len(p.Times)),
		price: make([]int64, len(p.Times))}
	for c := range p.Free {
		m.lengthen(c)
	}
	// Match long jobs first: they get the last positions, and later jobs rarely move them. Of equal jobs, match the
	// later one first, because the earlier one must run before it.
	order := make([]int32, len(p.Times))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(p.shortest(b), p.shortest(a)), cmp.Compare(b, a))
	})
	for _, i := range order {
		m.add(i)
	}
	for i := range m.at {
		m.at[i].Level++ // levels count from 1
	}
	return m.at
}

// lengthen adds the next position to a track. The potential of an empty position is minus the time at which the first
// machine is free, so that a path that ends there costs nothing more, and positions behind the last one never matter.
func (m *matching) lengthen(kind int) {
	t := &m.tracks[kind]
	t.jobs, t.potential = append(t.jobs, nil), append(t.potential, -m.Free[kind][0])
	t.distance, t.from, t.place = append(t.distance, far), append(t.from, -1), append(t.place, -1)
}

// leave returns the reduced cost of ending a path in a position, without the job's own cost. ok is false if no path can
// end there.
func (m *matching) leave(at AssignmentPosition) (int64, bool) {
	t, free := &m.tracks[at.Kind], m.Free[at.Kind]
	n := len(t.jobs[at.Level])
	if n == len(free) {
		return 0, false
	}
	return free[n] + t.potential[at.Level], true
}

// add matches one more job.
func (m *matching) add(job int32) {
	m.price[job] = 0 // any value will do, since all paths begin here
	for kind := range m.tracks {
		t := &m.tracks[kind]
		for k := range t.distance {
			t.distance[k], t.place[k] = far, -1
		}
	}
	m.near = frontier{m.near.steps[:0], m.tracks}
	m.bound, m.settled = far, m.settled[:0]
	m.rows, m.reached = append(m.rows[:0], job), append(m.reached[:0], 0)
	end, best := AssignmentPosition{}, int64(far)
	for scanned := 0; ; {
		for ; scanned < len(m.rows); scanned++ {
			m.scan(m.rows[scanned], m.reached[scanned])
		}
		next, ok := m.near.take()
		if !ok || next.distance >= best {
			break
		}
		near, distance := next.at, next.distance
		m.settled = append(m.settled, near)
		if out, ok := m.leave(near); ok && distance+out < best {
			end, best = near, distance+out
		}
		for _, j := range m.tracks[near.Kind].jobs[near.Level] {
			m.rows, m.reached = append(m.rows, j), append(m.reached, distance)
		}
	}
	for _, at := range m.settled {
		t := &m.tracks[at.Kind]
		t.potential[at.Level] += min(t.distance[at.Level]-best, 0)
	}
	for i, j := range m.rows {
		m.price[j] += min(m.reached[i]-best, 0)
	}
	m.shift(job, end)
}

// lowest returns the position with the least cost minus potential for a job with this run time. That difference falls
// before this position and rises after it.
func (t *track) lowest(time int64) int {
	return sort.Search(len(t.potential)-1, func(k int) bool { return time >= t.potential[k+1]-t.potential[k] })
}

// scan finds the positions to which a job can move. It starts at the best position of each kind and goes outward, until
// the distance exceeds the length of a known path. It also stops at a job with the same run time, since positions
// behind it are not nearer.
func (m *matching) scan(job int32, distance int64) {
	for kind := range m.tracks {
		time := m.Times[job][kind]
		if time < 0 {
			continue
		}
		t := &m.tracks[kind]
		begin, lowest := distance+m.price[job], t.lowest(time)
		if before := t.from[lowest]; t.distance[lowest] <= begin+time*int64(lowest+1)-t.potential[lowest] &&
			m.Times[before][kind] == time {
			continue
		}
		for k := lowest; k < len(t.distance) && m.reach(AssignmentPosition{kind, k}, job, begin+time*int64(k+1)); k++ {
		}
		for k := lowest - 1; k >= 0 && m.reach(AssignmentPosition{kind, k}, job, begin+time*int64(k+1)); k-- {
		}
	}
}

// reach records the distance of moving a job to a position, and reports whether it is within the bound. The distance of
// a settled position cannot decrease.
func (m *matching) reach(at AssignmentPosition, job int32, cost int64) bool {
	t := &m.tracks[at.Kind]
	d := cost - t.potential[at.Level]
	if d > m.bound {
		return false
	}
	if d < t.distance[at.Level] {
		t.distance[at.Level], t.from[at.Level] = d, job
		m.near.put(step{d, at})
		if out, ok := m.leave(at); ok {
			m.bound = min(m.bound, d+out)
		}
	}
	return true
}

// shift moves the jobs along the shortest path that ends in a position.
func (m *matching) shift(job int32, end AssignmentPosition) {
	for to := end; ; {
		t := &m.tracks[to.Kind]
		mover := t.from[to.Level]
		before := m.at[mover]
		t.jobs[to.Level] = append(t.jobs[to.Level], mover)
		m.at[mover] = to
		if mover == job {
			break
		}
		old := &m.tracks[before.Kind].jobs[before.Level]
		*old = slices.DeleteFunc(*old, func(j int32) bool { return j == mover })
		to = before
	}
	for kind := range m.tracks {
		if t := &m.tracks[kind]; len(t.jobs[len(t.jobs)-1]) > 0 {
			m.lengthen(kind)
		}
	}
}

// shortest returns the run time of a job on its fastest kind of machine.
func (p Assignment) shortest(job int32) int64 {
	least := int64(math.MaxInt64)
	for _, t := range p.Times[job] {
		if t >= 0 {
			least = min(least, t)
		}
	}
	return least
}
