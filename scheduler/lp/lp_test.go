package lp

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"
)

// draw returns a random program. It has a solution: all x and z can be 0.
func draw(rng *rand.Rand, jobs, types int) Problem {
	p := Problem{Limits: make([]float64, types), Gain: float64(rng.IntN(2)) * 10 * rng.Float64()}
	for l := range p.Limits {
		p.Limits[l] = float64(1 + rng.IntN(2*jobs))
	}
	for range jobs {
		b := Block{Gain: make([]float64, types), Uses: make([][]float64, types)}
		workers := float64(int(1) << rng.IntN(3))
		whole, least := Row{X: make([]float64, types), Most: 1}, Row{X: make([]float64, types), Z: 1}
		for j := range types {
			b.Uses[j] = make([]float64, types)
			b.Uses[j][j] = workers
			whole.X[j] = 1
			least.X[j] = -rng.ExpFloat64()
			if rng.IntN(8) == 0 {
				least.X[j] = 0 // the job cannot run on this type
			}
			if p.Gain == 0 || rng.IntN(3) == 0 {
				b.Gain[j] = rng.Float64()
			}
		}
		b.Rows = []Row{whole, least}
		p.Blocks = append(p.Blocks, b)
	}
	return p
}

// simplex solves a program with gonum's dense simplex, in standard form.
func simplex(p Problem) (float64, error) {
	s := newSolver(&p)
	a := mat.NewDense(s.m, s.n+s.m, nil)
	s.times(func(i, j int, v float64) { a.Set(i, j, a.At(i, j)+v) })
	c := make([]float64, s.n+s.m)
	for j, v := range s.c {
		c[j] = -v
	}
	basis := make([]int, s.m)
	for i := range s.m {
		a.Set(i, s.n+i, 1)
		basis[i] = s.n + i
	}
	opt, _, err := lp.Simplex(c, a, s.h, 1e-12, basis)
	return -opt, err
}

func TestSolveIsEqualToADenseSimplex(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	compared, programs := 0, 1100
	if testing.Short() {
		programs = 100
	}
	for n := range programs {
		p := draw(rng, 1+rng.IntN(8), 1+rng.IntN(4))
		want, err := simplex(p)
		if err != nil {
			continue // the dense simplex fails on some degenerate programs
		}
		compared++
		got, err := Solve(p)
		if err != nil {
			t.Fatalf("program %d: %v", n, err)
		}
		if math.Abs(got.Objective-want) > 1e-6*max(1, math.Abs(want)) {
			t.Errorf("program %d: %.9g, by the simplex %.9g", n, got.Objective, want)
		}
		if broken := violation(&p, &got); broken > 1e-6 {
			t.Errorf("program %d: a row is broken by %g", n, broken)
		}
	}
	if compared < programs*10/11 {
		t.Errorf("only %d programs were compared", compared)
	}
}

// violation returns by how much a solution violates a row; at most 0 if it does not.
func violation(p *Problem, s *Solution) float64 {
	worst := max(0, -s.Z)
	used := make([]float64, len(p.Limits))
	for i := range p.Blocks {
		for j, x := range s.X[i] {
			worst = max(worst, -x)
			for l, u := range p.Blocks[i].Uses[j] {
				used[l] += u * x
			}
		}
		for _, r := range p.Blocks[i].Rows {
			worst = max(worst, dot(r.X, s.X[i])+r.Z*s.Z-r.Most)
		}
	}
	for l, u := range used {
		worst = max(worst, u-p.Limits[l])
	}
	return worst
}

// Two equal jobs share two equal devices of different types. Every division is optimal; the solver returns the middle
// one, which is even.
func TestSolutionIsInTheMiddleOfTheOptima(t *testing.T) {
	p := Problem{Limits: []float64{1, 1}, Gain: 1}
	for range 2 {
		p.Blocks = append(p.Blocks, Block{
			Gain: []float64{0, 0}, Uses: [][]float64{{1, 0}, {0, 1}},
			Rows: []Row{{X: []float64{1, 1}, Most: 1}, {X: []float64{-1, -1}, Z: 1}},
		})
	}
	s, err := Solve(p)
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.X {
		for j, x := range s.X[i] {
			if math.Abs(x-0.5) > 1e-5 {
				t.Errorf("x[%d][%d] = %g, want 0.5", i, j, x)
			}
		}
	}
}

func TestProgramsWithoutAnOptimum(t *testing.T) {
	one := Block{Gain: []float64{1}, Uses: [][]float64{{1}}, Rows: []Row{{X: []float64{-1}, Most: -2}}}
	if _, err := Solve(Problem{Blocks: []Block{one}, Limits: []float64{1}}); !errors.Is(err, ErrNoOptimum) {
		t.Errorf("x ≥ 2 and x ≤ 1: %v", err)
	}
	free := Block{Gain: []float64{1}, Uses: [][]float64{{0}}}
	if _, err := Solve(Problem{Blocks: []Block{free}, Limits: []float64{1}}); !errors.Is(err, ErrNoOptimum) {
		t.Errorf("x without a bound: %v", err)
	}
	if _, err := Solve(Problem{Blocks: []Block{free}}); err == nil {
		t.Error("a variable that uses a limit which is not there was accepted")
	}
	if _, err := Solve(Problem{Limits: []float64{math.NaN()}}); err == nil {
		t.Error("a limit that is not a number was accepted")
	}
}

func benchmark(b *testing.B, jobs int) {
	p := draw(rand.New(rand.NewPCG(3, 4)), jobs, 3)
	p.Gain = 1
	p.Limits = []float64{float64(jobs) / 8, float64(jobs) / 8, float64(jobs) / 8}
	for b.Loop() {
		if _, err := Solve(p); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSolve2048(b *testing.B)  { benchmark(b, 2048) }
func BenchmarkSolve10000(b *testing.B) { benchmark(b, 10000) }
