package scheduler

import (
	"cmp"
	"math"
	"slices"
)

// problem asks for the order in which jobs run on unlike machines, one at a
// time on each, such that their finishes add up to the least. The machines of a
// kind differ only in when they become free.
//
// A job that is the k-th from the end on a machine delays itself and the k-1
// jobs behind it, so that it adds k times its run time to the sum, and the time
// after which the machine is free (W. A. Horn, 1973; J. Bruno, E. G. Coffman,
// R. Sethi, 1974). The least sum is a matching of jobs to (machine, position)
// of minimum cost.
type problem struct {
	// times[i][c] is the run time of job i on a machine of kind c; negative
	// when it can not run there. Each job can run on some kind.
	times [][]int64
	// free[c] has the time after which each machine of kind c is free, ascending.
	free [][]int64
}

// position is where a job is matched to: the level-th from the end on some
// machine of a kind.
type position struct{ kind, level int }

// track has the positions of one kind of machine, from the end on. All machines
// share them, because it makes no difference to the sum which of them a job in
// one position runs on: one more job in it costs as much as the next machine
// becomes free later. That keeps the problem as small as there are positions,
// not machines. The last position is always empty.
type track struct {
	jobs      [][]int32 // by position, those that are matched to it
	potential []int64
	// of the search for one job
	distance []int64
	from     []int32 // the job that comes here on the shortest path
	done     []bool
}

// matching solves a problem by successive shortest paths: jobs are added one by
// one, each by the cheapest chain of jobs that move on to another position to
// make room (Dijkstra's algorithm with potentials: J. Edmonds, R. M. Karp,
// 1972; N. Tomizawa, 1971). With n jobs and p positions it takes O(n² p) steps
// at worst.
type matching struct {
	problem
	tracks  []track // by kind
	at      []position
	price   []int64 // by job, its potential
	rows    []int32 // jobs that the search has reached
	reached []int64 // the distance of each
}

const far = math.MaxInt64

// solve matches all jobs. The result does not depend on anything but the
// problem; what ties is decided by the order of jobs and kinds.
func solve(p problem) []position {
	m := &matching{problem: p, tracks: make([]track, len(p.free)), at: make([]position, len(p.times)), price: make([]int64, len(p.times))}
	for c := range p.free {
		m.lengthen(c)
	}
	// Long jobs first: they come last, so that those after them rarely have to
	// move them. Of like ones the later: the earlier one is to run before it.
	order := make([]int32, len(p.times))
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
		m.at[i].level++ // from 1 on
	}
	return m.at
}

// lengthen adds the next position of a kind. An empty position's potential is
// what it costs to leave through it, so that those behind the last never
// matter.
func (m *matching) lengthen(kind int) {
	t := &m.tracks[kind]
	t.jobs, t.potential = append(t.jobs, nil), append(t.potential, -m.free[kind][0])
	t.distance, t.from, t.done = append(t.distance, far), append(t.from, -1), append(t.done, false)
}

// leave is the reduced cost of one more job in a position, beside the job's own.
func (m *matching) leave(at position) (int64, bool) {
	t, free := &m.tracks[at.kind], m.free[at.kind]
	n := len(t.jobs[at.level])
	if n == len(free) {
		return 0, false
	}
	return free[n] + t.potential[at.level], true
}

// add matches one more job.
func (m *matching) add(job int32) {
	m.price[job] = math.MinInt64
	for kind := range m.tracks {
		t := &m.tracks[kind]
		time := m.times[job][kind]
		for k := range t.distance {
			t.distance[k], t.done[k] = far, false
			if time >= 0 {
				m.price[job] = max(m.price[job], t.potential[k]-time*int64(k+1))
			}
		}
	}
	m.rows, m.reached = append(m.rows[:0], job), append(m.reached[:0], 0)
	end, best := position{}, int64(far)
	for scanned := 0; ; {
		for ; scanned < len(m.rows); scanned++ {
			m.scan(m.rows[scanned], m.reached[scanned])
		}
		near, distance := m.nearest()
		if distance >= best {
			break
		}
		m.tracks[near.kind].done[near.level] = true
		if out, ok := m.leave(near); ok && distance+out < best {
			end, best = near, distance+out
		}
		for _, j := range m.tracks[near.kind].jobs[near.level] {
			m.rows, m.reached = append(m.rows, j), append(m.reached, distance)
		}
	}
	for kind := range m.tracks {
		t := &m.tracks[kind]
		for k, d := range t.distance {
			if t.done[k] && d < best {
				t.potential[k] += d - best
			}
		}
	}
	for i, j := range m.rows {
		if m.reached[i] < best {
			m.price[j] += m.reached[i] - best
		}
	}
	m.shift(job, end)
}

// scan looks at where a job could move to.
func (m *matching) scan(job int32, distance int64) {
	for kind := range m.tracks {
		time := m.times[job][kind]
		if time < 0 {
			continue
		}
		t := &m.tracks[kind]
		cost := distance + m.price[job]
		potential := t.potential[:len(t.distance)]
		for k, near := range t.distance { // nothing that is done can come nearer
			cost += time
			if d := cost - potential[k]; d < near {
				t.distance[k], t.from[k] = d, job
			}
		}
	}
}

// nearest returns the nearest position that is not done.
func (m *matching) nearest() (at position, distance int64) {
	distance = far
	for kind := range m.tracks {
		t := &m.tracks[kind]
		for k, d := range t.distance {
			if d < distance && !t.done[k] {
				at, distance = position{kind, k}, d
			}
		}
	}
	return at, distance
}

// shift moves the jobs along the shortest path that ends in a position.
func (m *matching) shift(job int32, end position) {
	for to := end; ; {
		t := &m.tracks[to.kind]
		mover := t.from[to.level]
		before := m.at[mover]
		t.jobs[to.level] = append(t.jobs[to.level], mover)
		m.at[mover] = to
		if mover == job {
			break
		}
		old := &m.tracks[before.kind].jobs[before.level]
		*old = slices.DeleteFunc(*old, func(j int32) bool { return j == mover })
		to = before
	}
	for kind := range m.tracks {
		if t := &m.tracks[kind]; len(t.jobs[len(t.jobs)-1]) > 0 {
			m.lengthen(kind)
		}
	}
}

// shortest is a job's run time where it is shortest.
func (p problem) shortest(job int32) int64 {
	least := int64(math.MaxInt64)
	for _, t := range p.times[job] {
		if t >= 0 {
			least = min(least, t)
		}
	}
	return least
}

// sum returns what the jobs' finishes add up to when they are matched so.
func (p problem) sum(at []position) int64 {
	sum := int64(0)
	inside := map[position]int{}
	for i, a := range at {
		sum += p.times[i][a.kind] * int64(a.level)
		sum += p.free[a.kind][inside[a]]
		inside[a]++
	}
	return sum
}
