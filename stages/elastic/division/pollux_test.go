package division

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// drawn returns a problem in the middle of a run: jobs on 16 nodes of 4 GPUs. Some jobs hold GPUs, and their speed-ups
// flatten at different numbers of GPUs.
func drawn(jobs int, seed uint64) *Problem {
	random := rand.New(rand.NewPCG(seed, 1))
	p := &Problem{Capacity: slices.Repeat([]int{4}, 16), Seed: seed}
	free := slices.Clone(p.Capacity)
	fair := max(64/jobs, 1)
	for range jobs {
		serial, network := random.Float64()*0.2, random.Float64()*0.5
		rate := func(nodes, gpus int) float64 {
			t := serial + (1-serial)/float64(gpus)
			if nodes > 1 {
				t += network / 10
			}
			return 1 / t
		}
		base := rate(1, fair)
		e := Elastic{
			Most: 1 << random.IntN(7), Kept: random.Float64(),
			SpeedUp: func(nodes, gpus int) float64 { return rate(nodes, gpus) / base },
		}
		if random.IntN(3) == 0 {
			e.Base = PlaceMostFree(free, min(1+random.IntN(4), e.Most))
			if nodes, _ := extent(e.Base); nodes > 1 { // the present division must be allowed
				for v, n := range e.Base {
					free[v] += n
				}
				e.Base = nil
			}
		}
		p.Jobs = append(p.Jobs, e)
	}
	return p
}

func TestSearchIsAllowedAndTheSameEachTime(t *testing.T) {
	for seed := range uint64(20) {
		p := drawn(1+int(seed)*4, seed)
		d := p.Search()
		if v := p.Value(d); math.IsInf(v, -1) {
			t.Fatalf("seed %d: the division is not allowed: %v", seed, d)
		}
		if again := p.Search(); !slices.EqualFunc(d, again, same) {
			t.Errorf("seed %d: two searches differ", seed)
		}
	}
}

// TestSearchOfFewJobs compares with all divisions of small problems.
func TestSearchOfFewJobs(t *testing.T) {
	for seed := range uint64(30) {
		p := drawn(3, seed)
		p.Capacity = []int{2, 2}
		for j := range p.Jobs {
			if p.Jobs[j].Base != nil {
				p.Jobs[j].Base = p.Jobs[j].Base[:2]
				for v := range p.Jobs[j].Base {
					p.Jobs[j].Base[v] = min(p.Jobs[j].Base[v], 2)
				}
			}
		}
		best := math.Inf(-1)
		for code := range 729 { // 3 jobs × 2 nodes × 0 … 2 GPUs
			d := make(Division, 3)
			for j := range d {
				d[j] = []int{code % 3, code / 3 % 3}
				code /= 9
			}
			best = max(best, p.Value(d))
		}
		if got := p.Value(p.Search()); got < best*(1-1e-9) {
			t.Errorf("seed %d: found %v, the best is %v", seed, got, best)
		}
	}
}

func TestNothingIsMovedWithoutGain(t *testing.T) {
	p := &Problem{Capacity: []int{4, 4}}
	linear := func(_, gpus int) float64 { return float64(gpus) }
	p.Jobs = []Elastic{
		{Base: []int{0, 4}, Most: 4, Kept: 0.5, SpeedUp: linear}, {Base: []int{4, 0}, Most: 4, Kept: 0.5, SpeedUp: linear},
	}
	if d := p.Search(); !same(d[0], []int{0, 4}) || !same(d[1], []int{4, 0}) {
		t.Errorf("two jobs that fill the cluster are moved: %v", d)
	}
}

// TestSearchIsAtLeastAsGoodAsGenetic compares with a genetic search of 100 divisions over
// 100 generations, by the rules of Pollux: crossover between jobs, random changes, and a
// repair of invalid divisions.
func TestSearchIsAtLeastAsGoodAsGenetic(t *testing.T) {
	if testing.Short() {
		t.Skip("a genetic search takes a second")
	}
	p := drawn(160, 7)
	ours, theirs := p.Value(p.Search()), p.Value(genetic(p, 100, 100))
	if t.Logf("the search finds %v, the genetic one %v", ours, theirs); ours < theirs {
		t.Error("the genetic search finds more")
	}
}

// genetic is a genetic search.
func genetic(p *Problem, size, generations int) Division {
	random := rand.New(rand.NewPCG(11, 12))
	jobs, nodes := len(p.Jobs), len(p.Capacity)
	type state struct {
		at    Division
		value float64
	}
	base := make(Division, jobs)
	for j := range base {
		base[j] = make([]int, nodes)
		copy(base[j], p.Jobs[j].Base)
	}
	clone := func(d Division) Division {
		out := make(Division, len(d))
		for j := range d {
			out[j] = slices.Clone(d[j])
		}
		return out
	}
	repair := func(d Division) {
		owner := make([]bool, nodes)
		for j := range d {
			if n, _ := extent(d[j]); n > 1 {
				for v := range d[j] {
					if d[j][v] > 0 && owner[v] {
						d[j][v] = 0
					} else if d[j][v] > 0 {
						owner[v] = true
					}
				}
			}
			left := p.Jobs[j].Most
			for _, v := range random.Perm(nodes) {
				d[j][v] = min(d[j][v], left)
				left -= d[j][v]
			}
		}
		for v, left := range p.Capacity {
			for j := range d {
				d[j][v] = min(d[j][v], left)
				left -= d[j][v]
			}
		}
	}
	mutate := func(d Division) {
		free := Free(p.Capacity, d)
		for j := range d {
			if random.Float64() < 0.1 {
				copy(d[j], base[j])
			}
			few := random.Float64() < 0.1
			for v := range d[j] {
				if few && random.Float64() < 0.1 {
					d[j][v] = 0
				}
				chance := 1 / float64(jobs)
				if d[j][v] > 0 {
					chance += 0.25
				}
				if free[v] > 0 && random.Float64() < chance {
					d[j][v] += random.IntN(p.Capacity[v] - d[j][v] + 1)
				}
			}
		}
	}
	population := []state{{base, p.Value(base)}}
	best := population[0]
	for range generations {
		for len(population) < 2*size {
			a := population[random.IntN(min(len(population), size))].at
			b := population[random.IntN(min(len(population), size))].at
			child := clone(a)
			for j := random.IntN(jobs); j < jobs; j++ {
				copy(child[j], b[j])
			}
			mutate(child)
			repair(child)
			population = append(population, state{child, p.Value(child)})
		}
		slices.SortStableFunc(population, func(a, b state) int {
			switch {
			case a.value > b.value:
				return -1
			case a.value < b.value:
				return 1
			}
			return 0
		})
		population = population[:size]
		if population[0].value > best.value {
			best = population[0]
		}
	}
	return best.at
}

// BenchmarkSearch is a round with 160 jobs on 64 GPUs.
func BenchmarkSearch(b *testing.B) {
	p := drawn(160, 7)
	for b.Loop() {
		p.Search()
	}
}
