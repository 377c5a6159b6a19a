package division

import (
	"math"
	"slices"
)

// Elastic is a job among which a Problem divides GPUs.
type Elastic struct {
	// Base is the job's present GPUs by node; nil if it has none.
	Base []int
	// Most is the greatest number of GPUs that the job can get.
	Most int
	// Kept multiplies the speed-up if the allocation changes, from 0 to 1. It is smaller for young jobs and for jobs
	// that were restarted often, since a restart costs them more.
	Kept float64
	// SpeedUp returns the job's speed on the given nodes and GPUs, relative to its speed
	// on its fair share.
	SpeedUp func(nodes, gpus int) float64
}

// Problem is the division of GPUs among elastic jobs that maximizes
//
//	(Σ (s + 0.001)^-1 / jobs)^-1,   s = speed-up × nodes / GPUs × (Kept if the allocation changes)
//
// with at most one job of several nodes on each node (A. Qiao and others, "Pollux", OSDI 2021, sections 4.2 and 4.2.1).
type Problem struct {
	Capacity []int // by node
	Jobs     []Elastic
	Seed     uint64
}

// nothing is added to speed-ups, so that the reciprocal of a speed-up of 0 is finite.
const nothing = 1e-3

// tries is the number of pairs of jobs whose change is tried after no single job can be improved. More tries improve the
// objective by about a percent. It is a fixed number, as the rounds of the authors' search, so that results do not
// depend on the speed of the machine.
const tries = 1500

// Value returns the objective of a division; −∞ if the division is not allowed.
func (p *Problem) Value(d Division) float64 {
	used := make([]int, len(p.Capacity))
	spread := make([]int, len(p.Capacity))
	sum := 0.0
	for j := range p.Jobs {
		nodes, gpus := extent(d[j])
		if gpus > p.Jobs[j].Most {
			return math.Inf(-1)
		}
		for v, n := range d[j] {
			used[v] += n
			if nodes > 1 && n > 0 {
				spread[v]++
			}
		}
		sum += p.costOf(j, nodes, gpus, !same(d[j], p.Jobs[j].Base))
	}
	for v := range used {
		if used[v] > p.Capacity[v] || spread[v] > 1 {
			return math.Inf(-1)
		}
	}
	return float64(len(p.Jobs)) / sum
}

// costOf returns the term of a job in the sum, which the search minimizes.
func (p *Problem) costOf(j, nodes, gpus int, changed bool) float64 {
	s := 0.0
	if gpus > 0 {
		s = p.Jobs[j].SpeedUp(nodes, gpus) * float64(len(p.Capacity)) / float64(Total(p.Capacity))
	}
	if changed {
		s *= p.Jobs[j].Kept
	}
	return 1 / (s + nothing)
}

func extent(placement []int) (nodes, gpus int) {
	for _, n := range placement {
		if n > 0 {
			nodes++
			gpus += n
		}
	}
	return nodes, gpus
}

func same(a, b []int) bool {
	for v := range max(len(a), len(b)) {
		x, y := 0, 0
		if v < len(a) {
			x = a[v]
		}
		if v < len(b) {
			y = b[v]
		}
		if x != y {
			return false
		}
	}
	return true
}

// Search returns a division with a great value. It starts from the present division, and from the best division that
// ignores nodes (a knapsack). It improves single jobs, and then pairs of jobs. The result is deterministic.
func (p *Problem) Search() Division {
	best, most := Division(nil), math.Inf(-1)
	known, first := newTerms(p), [][]int(nil)
	for _, start := range []func(*search){(*search).fromBase, (*search).fromCounts} {
		s := newSearch(p, known)
		start(s)
		s.settle()
		if first != nil && slices.EqualFunc(first, s.at, slices.Equal) {
			break // both starts are equal, so the second would find the same
		}
		first = copied(s.at)
		s.pairs()
		d := s.division()
		if v := p.Value(d); v > most+1e-12 {
			best, most = d, v
		}
	}
	return best
}

func copied(rows [][]int) [][]int {
	out := make([][]int, len(rows))
	for i := range rows {
		out[i] = slices.Clone(rows[i])
	}
	return out
}

// terms caches the jobs' terms in the sum. They depend on a job's own allocation only.
type terms struct {
	*Problem
	// within and across are the terms of a job after a change, by job and number of GPUs, in one node and over several.
	// NaN means not yet computed.
	within, across [][]float64
	// leastWithin and leastAcross are the results of least that were computed so far, by job.
	leastWithin, leastAcross [][]float64
	stay                     []float64 // term of each job if it keeps its GPUs
	held                     []int     // number of GPUs that each job has now
	widest                   int       // GPUs of the largest node
}

func newTerms(p *Problem) *terms {
	n := len(p.Jobs)
	k := &terms{
		Problem: p, within: make([][]float64, n), across: make([][]float64, n), leastWithin: make([][]float64, n),
		leastAcross: make([][]float64, n), stay: make([]float64, n), held: make([]int, n), widest: slices.Max(p.Capacity),
	}
	for j := range p.Jobs {
		nodes, gpus := extent(p.Jobs[j].Base)
		k.stay[j], k.held[j] = p.costOf(j, nodes, gpus, false), gpus
		k.within[j], k.across[j] = unknown(k.widest), unknown(Total(p.Capacity))
	}
	return k
}
