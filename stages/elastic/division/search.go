package division

import (
	"math"
	"math/rand/v2"
	"slices"
)

// search is the state of a search for a division.
type search struct {
	*terms
	random *rand.Rand
	at     [][]int // GPUs by job and node
	cost   []float64
	free   []int
	owner  []int // by node: the job of several nodes that has GPUs there; −1 for none
	// changes is the number of pairs that were changed. settled reports whether no single job can be improved since the
	// last one.
	changes int
	settled bool
	// Memory that is reused.
	placement, oldA, oldB []int
	ways                  []option
}

func newSearch(p *Problem, known *terms) *search {
	n, nodes := len(p.Jobs), len(p.Capacity)
	s := &search{
		terms: known, random: rand.New(rand.NewPCG(p.Seed, 0x706f6c6c7578)), at: make([][]int, n), cost: make([]float64, n),
		free: slices.Clone(p.Capacity), owner: make([]int, nodes), placement: make([]int, nodes),
		oldA: make([]int, nodes), oldB: make([]int, nodes),
	}
	for v := range s.owner {
		s.owner[v] = -1
	}
	for j := range p.Jobs {
		s.at[j] = make([]int, nodes)
		s.cost[j] = none
	}
	return s
}

func unknown(n int) []float64 {
	row := make([]float64, n+1)
	for i := range row {
		row[i] = math.NaN()
	}
	return row
}

// changed returns the term of a job that gets another allocation.
func (s *terms) changed(j, gpus int, several bool) float64 {
	row, nodes := s.within[j], 1
	if several {
		row, nodes = s.across[j], (gpus+s.widest-1)/s.widest
		nodes = max(nodes, 2)
	}
	if math.IsNaN(row[gpus]) {
		row[gpus] = s.costOf(j, nodes, gpus, true)
	}
	return row[gpus]
}

// none is the term of a job without GPUs.
const none = 1 / nothing

func (s *search) division() Division {
	d := make(Division, len(s.at))
	for j, placement := range s.at {
		if Total(placement) > 0 {
			d[j] = slices.Clone(placement)
		}
	}
	return d
}

// take removes the GPUs of a job from the division.
func (s *search) take(j int) {
	for v, n := range s.at[j] {
		if n == 0 {
			continue
		}
		s.free[v] += n
		if s.owner[v] == j {
			s.owner[v] = -1
		}
		s.at[j][v] = 0
	}
	s.cost[j] = none
}

// put gives a placement to a job without GPUs.
func (s *search) put(j int, placement []int, cost float64) {
	nodes, _ := extent(placement)
	for v, n := range placement {
		if n == 0 {
			continue
		}
		s.at[j][v] = n
		s.free[v] -= n
		if nodes > 1 {
			s.owner[v] = j
		}
	}
	s.cost[j] = cost
}

// baseFits reports whether a job without GPUs could get its present allocation back.
func (s *search) baseFits(j int) bool {
	nodes, gpus := extent(s.Jobs[j].Base)
	if gpus == 0 || gpus > s.Jobs[j].Most {
		return false
	}
	for v, n := range s.Jobs[j].Base {
		if n > s.free[v] || n > 0 && nodes > 1 && s.owner[v] >= 0 {
			return false
		}
	}
	return true
}

// option is a way to serve a job: with its present allocation, or with a number of GPUs.
type option struct {
	base    bool
	gpus    int
	several bool
	cost    float64
}

// room returns the greatest number of GPUs that a job could get on one node, and on several nodes.
func (s *search) room(j int) (one, several int) {
	clean, nodes := 0, 0
	for v, n := range s.free {
		one = max(one, n)
		if s.owner[v] < 0 && n > 0 {
			clean += n
			nodes++
		}
	}
	if nodes < 2 {
		clean = 0
	}
	return min(one, s.Jobs[j].Most), min(clean, s.Jobs[j].Most)
}

// best returns the cheapest option of a job without GPUs.
func (s *search) best(j int) option {
	b := option{cost: none}
	if s.baseFits(j) && s.stay[j] < b.cost {
		b = option{base: true, cost: s.stay[j]}
	}
	one, several := s.room(j)
	for n := 1; n <= one; n++ {
		if c := s.changed(j, n, false); c < b.cost-1e-12 {
			b = option{gpus: n, cost: c}
		}
	}
	for n := max(2, one+1); n <= several; n++ {
		if c := s.changed(j, n, true); c < b.cost-1e-12 {
			b = option{gpus: n, several: true, cost: c}
		}
	}
	return b
}

// options appends the options of a job without GPUs, including no GPUs.
func (s *search) options(j int, into []option) []option {
	into = append(into, option{cost: none})
	if s.baseFits(j) {
		into = append(into, option{base: true, cost: s.stay[j]})
	}
	one, several := s.room(j)
	for n := 1; n <= one; n++ {
		into = append(into, option{gpus: n, cost: s.changed(j, n, false)})
	}
	for n := max(2, one+1); n <= several; n++ {
		into = append(into, option{gpus: n, several: true, cost: s.changed(j, n, true)})
	}
	return into
}

// serve gives a job the GPUs of an option.
func (s *search) serve(j int, o option) {
	switch {
	case o.base:
		s.put(j, s.Jobs[j].Base, o.cost)
	case o.gpus > 0:
		placement := s.place(o.gpus, o.several)
		if same(placement, s.Jobs[j].Base) {
			o.cost = s.stay[j]
		}
		s.put(j, placement, o.cost)
	}
}

// place returns a placement of a number of GPUs. On one node, it is the node with the fewest free GPUs that suffice;
// nodes with a part of a job of several nodes are preferred. On several, it uses few nodes, without such a part. The
// next call overwrites the result.
func (s *search) place(gpus int, several bool) []int {
	placement := s.placement
	clear(placement)
	if !several {
		placement[s.tightest(gpus)] = gpus
		return placement
	}
	left := gpus
	for left > 0 {
		if left < gpus {
			if v := s.tightestBeside(left, placement); v >= 0 {
				placement[v] = left
				return placement
			}
		}
		most := -1
		for v, n := range s.free {
			if s.owner[v] < 0 && placement[v] == 0 && n > 0 && (most < 0 || n > s.free[most]) {
				most = v
			}
		}
		n := min(s.free[most], left)
		if n == gpus { // one node suffices, but the job must be on several nodes
			n--
		}
		placement[most] = n
		left -= n
	}
	return placement
}

// tightest returns the node with the fewest free GPUs that suffice; −1 if no node has enough.
func (s *search) tightest(gpus int) int {
	best := -1
	for v, n := range s.free {
		if n < gpus {
			continue
		}
		if best < 0 || n < s.free[best] || n == s.free[best] && s.owner[v] >= 0 && s.owner[best] < 0 {
			best = v
		}
	}
	return best
}

// tightestBeside is tightest among the nodes that have no part of a job of several nodes, and that the placement does
// not use.
func (s *search) tightestBeside(gpus int, placement []int) int {
	best := -1
	for v, n := range s.free {
		if n >= gpus && s.owner[v] < 0 && placement[v] == 0 && (best < 0 || n < s.free[best]) {
			best = v
		}
	}
	return best
}

// fromBase starts from the present division.
func (s *search) fromBase() {
	for j := range s.Jobs {
		if s.baseFits(j) {
			s.put(j, s.Jobs[j].Base, s.stay[j])
		}
	}
}

// fromCounts starts from the best numbers of GPUs if only the size of nodes mattered. Jobs whose number does not change
// keep their placement.
func (s *search) fromCounts() {
	counts := s.counts()
	order := make([]int, 0, len(counts))
	for j, n := range counts {
		if n > 0 && n == Total(s.Jobs[j].Base) && s.baseFits(j) {
			s.put(j, s.Jobs[j].Base, s.stay[j])
		} else if n > 0 {
			order = append(order, j)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return counts[b] - counts[a] })
	for _, j := range order {
		one, several := s.room(j)
		switch n := counts[j]; {
		case n <= one:
			s.serve(j, option{gpus: n, cost: s.changed(j, n, false)})
		case n <= several:
			s.serve(j, option{gpus: n, several: true, cost: s.changed(j, n, true)})
		default:
			s.serve(j, s.best(j))
		}
	}
}

// counts solves a knapsack problem: the number of GPUs of each job, without regard to nodes.
func (s *search) counts() []int {
	all := Total(s.Capacity)
	// least sum of terms of the jobs so far, by the number of GPUs that they use at most
	least := make([]float64, all+1)
	chosen := make([][]int16, len(s.Jobs))
	next := make([]float64, all+1)
	for j := range s.Jobs {
		chosen[j] = make([]int16, all+1)
		most := min(s.Jobs[j].Most, all)
		base := Total(s.Jobs[j].Base)
		terms := make([]float64, most+1)
		terms[0] = none
		for n := 1; n <= most; n++ {
			terms[n] = s.changed(j, n, n > s.widest)
			if n == base {
				terms[n] = s.stay[j]
			}
		}
		for g := range next {
			next[g] = math.Inf(1)
			for n := 0; n <= min(most, g); n++ {
				if c := least[g-n] + terms[n]; c < next[g]-1e-12 {
					next[g], chosen[j][g] = c, int16(n)
				}
			}
		}
		least, next = next, least
	}
	counts := make([]int, len(s.Jobs))
	left := all
	for j := len(s.Jobs) - 1; j >= 0; j-- {
		counts[j] = int(chosen[j][left])
		left -= counts[j]
	}
	return counts
}

// settle improves single jobs until no job can be improved.
func (s *search) settle() {
	for round := 0; round < 8 && !s.settled; round++ {
		s.settled = true
		for j := range s.Jobs {
			before := s.cost[j]
			copy(s.oldA, s.at[j])
			s.take(j)
			if o := s.best(j); o.cost < before-1e-9 {
				s.serve(j, o)
				s.settled = false
			} else {
				s.put(j, s.oldA, before)
			}
		}
	}
}

// pairs tries to change two jobs at once; at least one of them holds GPUs. A pair that could not be improved is tried
// again only after another pair was improved.
func (s *search) pairs() {
	var holders []int
	n := len(s.Jobs)
	looked := make([][]int, n) // by pair: the value of changes at its last try, plus one; 0 for never
	for try := range tries {
		if try%64 == 0 {
			holders = holders[:0]
			for j := range s.at {
				if Total(s.at[j]) > 0 {
					holders = append(holders, j)
				}
			}
			if len(holders) == 0 || n < 2 {
				return
			}
		}
		a, b := holders[s.random.IntN(len(holders))], s.random.IntN(n)
		if looked[a] == nil {
			looked[a] = make([]int, n)
		}
		if a == b || looked[a][b] == s.changes+1 {
			continue
		}
		if looked[a][b] = s.changes + 1; s.exchange(a, b) {
			s.changes++
			s.settled = false
		}
	}
	s.settle()
}

// atLeast returns a lower bound of a job's term if it is served in the given way. The bound is lower if this can be the
// job's present allocation.
func (s *terms) atLeast(j int, way option) float64 {
	if way.gpus > 0 && way.gpus == s.held[j] {
		return min(way.cost, s.stay[j])
	}
	return way.cost
}

// least returns the least term of a job after a change, with up to the given number of GPUs, on one node or on several.
func (s *terms) least(j, gpus int, several bool) float64 {
	rows, first := s.leastWithin, 1
	if several {
		rows, first = s.leastAcross, 2
	}
	if rows[j] == nil {
		rows[j] = append(make([]float64, 0, gpus+1), none)
	}
	for n := len(rows[j]); n <= gpus; n++ {
		least := rows[j][n-1]
		if n >= first {
			least = min(least, s.changed(j, n, several))
		}
		rows[j] = append(rows[j], least)
	}
	return rows[j][gpus]
}

// bound is a lower bound of the term of a job without GPUs, by the number of free GPUs.
type bound struct {
	*search
	job          int
	one, several int
	based        bool
}

func (s *search) boundOf(j int) bound {
	one, several := s.room(j)
	return bound{s, j, one, several, s.baseFits(j)}
}

// with returns the bound if up to the given number of GPUs are free.
func (b bound) with(gpus int) float64 {
	least := min(b.least(b.job, min(gpus, b.one), false), b.least(b.job, min(gpus, b.several), true))
	if b.based && gpus >= b.held[b.job] {
		least = min(least, b.stay[b.job])
	}
	return least
}

// exchange serves two jobs in another way if that lowers the sum of their terms. It reports whether it did.
func (s *search) exchange(a, b int) bool {
	before := s.cost[a] + s.cost[b]
	costA, costB := s.cost[a], s.cost[b]
	copy(s.oldA, s.at[a])
	copy(s.oldB, s.at[b])
	s.take(a)
	s.take(b)
	s.ways = s.options(a, s.ways[:0])
	least, first, second := before-1e-9, option{gpus: -1}, option{}
	bound, free := s.boundOf(b), Total(s.free)
	for _, way := range s.ways {
		gpus := way.gpus
		if way.base {
			gpus = s.held[a]
		}
		if way.cost >= least || s.atLeast(a, way)+bound.with(max(free-gpus, 0)) >= least {
			continue
		}
		s.serve(a, way)
		if o := s.best(b); s.cost[a]+o.cost < least {
			least, first, second = s.cost[a]+o.cost, way, o
		}
		s.take(a)
	}
	if first.gpus < 0 {
		s.put(a, s.oldA, costA)
		s.put(b, s.oldB, costB)
		return false
	}
	s.serve(a, first)
	s.serve(b, second)
	return true
}
