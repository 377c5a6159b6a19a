// Matching finds the order of jobs on unequal machines that minimizes
// the sum of their finish times.

package allox

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// Problem asks for the order of jobs on unequal machines, one at a time on
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
	// Times[i][c] is the run time of job i on a machine of kind c; negative
	// when it cannot run there. Each job can run on some kind.
	Times [][]int64
	// Free[c] has the time after which each machine of kind c is free,
	// ascending. Each kind has a machine.
	Free [][]int64
}

// Position is where a job is matched to: the Level-th from the end, counted
// from 1, on some machine of a kind.
type AssignmentPosition struct{ Kind, Level int }

// track has the positions of one kind of machine, from the end on. All machines
// share them, because the machine of a job in one position does not change the
// sum: one more job in it costs the delay until the next machine is free. So
// the size of the problem is the number of positions, not of machines. The last
// position is always empty.
//
// Seen from a job, the cost of a position is a straight line in its level: the
// job's run time is the slope. The potential of a position is the potential of
// the jobs in it, and no job pays less elsewhere, so the potentials are the lower
// envelope of such lines: they are concave.
type track struct {
	jobs      [][]int32 // by position, those that are matched to it
	potential []int64
	// of the search for one job
	distance []int64
	from     []int32 // the job that comes here on the shortest path
	place    []int32 // of each position on the frontier; -1 for none
}

// matching solves a problem by successive shortest paths: jobs are added one by
// one, each by the cheapest chain of jobs that move on to another position to
// make room (Dijkstra's algorithm with potentials: J. Edmonds, R. M. Karp,
// 1972; N. Tomizawa, 1971). With n jobs and p positions it takes O(n² p) steps
// at worst, but a job looks only at the positions that are near it (see scan).
type matching struct {
	Assignment
	tracks []track // by kind
	at     []AssignmentPosition
	price  []int64 // by job, its potential
	// of the search for one job
	near    frontier
	bound   int64                // no shortest path is longer
	settled []AssignmentPosition // that are done
	rows    []int32              // jobs that the search has reached
	reached []int64              // the distance of each
}

const far = math.MaxInt64

// Solve matches all jobs. The result depends only on the problem; ties
// are broken by the order of jobs and kinds.
func SolveAssignment(p Assignment) []AssignmentPosition {
	m := &matching{Assignment: p, tracks: make([]track, len(p.Free)), at: make([]AssignmentPosition, len(p.Times)),
		price: make([]int64, len(p.Times))}
	for c := range p.Free {
		m.lengthen(c)
	}
	// Long jobs first: they come last, so that those after them rarely have to
	// move them. Of equal jobs the later one first: the earlier one must run
	// before it.
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
		m.at[i].Level++ // from 1 on
	}
	return m.at
}

// lengthen adds the next position of a kind. An empty position's potential is
// the cost to leave through it, so positions behind the last one never
// matter.
func (m *matching) lengthen(kind int) {
	t := &m.tracks[kind]
	t.jobs, t.potential = append(t.jobs, nil), append(t.potential, -m.Free[kind][0])
	t.distance, t.from, t.place = append(t.distance, far), append(t.from, -1), append(t.place, -1)
}

// leave returns the reduced cost of one more job in a position, without the job's
// own cost.
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
	m.price[job] = 0 // any number will do: all paths begin here
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

// lowest returns the position that is nearest to a job with the given run time.
// The job's cost minus the potential falls up to there and then rises.
func (t *track) lowest(time int64) int {
	return sort.Search(len(t.potential)-1, func(k int) bool { return time >= t.potential[k+1]-t.potential[k] })
}

// scan looks at where a job could move to: from the nearest position of each kind
// outward, up to those that are farther than a path which is known to lead out.
// Behind a job with the same run time, whose line is not higher, nothing is nearer.
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

// reach records the cost of moving a job to a position, and reports whether it is
// within the bound. A finished position cannot become cheaper.
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

// shortest returns the run time of a job on the kind of machine on which it is fastest.
func (p Assignment) shortest(job int32) int64 {
	least := int64(math.MaxInt64)
	for _, t := range p.Times[job] {
		if t >= 0 {
			least = min(least, t)
		}
	}
	return least
}
