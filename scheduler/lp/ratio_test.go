package lp

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// drawParts returns random jobs, and the numbers of devices that they share.
func drawParts(rng *rand.Rand, jobs, types int) ([]Part, []float64) {
	limits := make([]float64, types)
	for j := range limits {
		limits[j] = float64(1 + rng.IntN(2*jobs))
	}
	parts := make([]Part, jobs)
	for i := range parts {
		p := Part{Age: 1000 * rng.Float64(), Left: 1 + 5000*rng.ExpFloat64(), Whole: 1 + 5000*rng.ExpFloat64()}
		workers := float64(int(1) << rng.IntN(3))
		for range limits {
			s := rng.Float64()
			if rng.IntN(6) == 0 {
				s = 0
			}
			p.Speed, p.Uses = append(p.Speed, s), append(p.Uses, workers)
		}
		p.Speed[rng.IntN(types)] = 1
		parts[i] = p
	}
	return parts, limits
}

// attainable reports whether a division exists that gives no job a worse ratio than the given one. It solves a linear
// program.
func attainable(t *testing.T, parts []Part, limits []float64, ratio float64) bool {
	t.Helper()
	p := Problem{Limits: limits, Gain: 1}
	for i := range parts {
		b := Block{Gain: make([]float64, len(limits)), Uses: make([][]float64, len(limits))}
		whole := Row{X: make([]float64, len(limits)), Most: 1}
		need := Row{X: make([]float64, len(limits)), Z: parts[i].Left / (ratio*parts[i].Whole - parts[i].Age)}
		if need.Z < 0 {
			return false
		}
		for j := range limits {
			b.Uses[j] = make([]float64, len(limits))
			b.Uses[j][j], whole.X[j], need.X[j] = parts[i].Uses[j], 1, -parts[i].Speed[j]
		}
		b.Rows = []Row{whole, need}
		p.Blocks = append(p.Blocks, b)
	}
	z, err := simplex(p)
	if err != nil {
		s, err := Solve(p) // the dense simplex fails on some degenerate programs
		if err != nil {
			t.Fatal(err)
		}
		z = s.Z
	}
	return z >= 1
}

// The returned division fits and has the returned ratio. No division has a ratio less by a millionth, as linear
// programs confirm.
func TestLeastRatioIsTheLeast(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	programs := 300
	if testing.Short() {
		programs = 50
	}
	for n := range programs {
		parts, limits := drawParts(rng, 1+rng.IntN(8), 1+rng.IntN(4))
		x, ratio, err := LeastRatio(parts, limits)
		if err != nil {
			t.Fatalf("program %d: %v", n, err)
		}
		if attainable(t, parts, limits, ratio*(1-1e-6)) || !attainable(t, parts, limits, ratio*(1+1e-6)) {
			t.Errorf("program %d: %.9g is not the least ratio", n, ratio)
		}
		used := make([]float64, len(limits))
		for i := range x {
			sum, speed := 0.0, 0.0
			for j, v := range x[i] {
				if v < 0 || v > 0 && parts[i].Speed[j] == 0 {
					t.Errorf("program %d: x[%d][%d] = %g", n, i, j, v)
				}
				sum += v
				speed += v * parts[i].Speed[j]
				used[j] += v * parts[i].Uses[j]
			}
			if own := (parts[i].Age + parts[i].Left/speed) / parts[i].Whole; sum > 1 || own > ratio*(1+1e-9) {
				t.Errorf("program %d: job %d runs %g of the time with the ratio %g of %g", n, i, sum, own, ratio)
			}
		}
		for j, u := range used {
			if u > limits[j] {
				t.Errorf("program %d: %g of %g devices", n, u, limits[j])
			}
		}
	}
}

// Of three jobs, one has waited so long that it gets one whole device. The division of the other device does not affect
// the result. The two other jobs are equal, so each gets half of it.
func TestLeastRatioIsInTheMiddle(t *testing.T) {
	alike := Part{Speed: []float64{1}, Uses: []float64{1}, Left: 10, Whole: 100}
	late := Part{Speed: []float64{1}, Uses: []float64{1}, Age: 990, Left: 10, Whole: 100}
	x, ratio, err := LeastRatio([]Part{alike, late, alike}, []float64{2})
	if err != nil || math.Abs(ratio-10) > 1e-6 {
		t.Fatalf("the ratio is %g, want 10: %v", ratio, err)
	}
	for i, want := range []float64{0.5, 1, 0.5} {
		if math.Abs(x[i][0]-want) > 1e-4 && i == 1 || x[i][0] != x[2-i][0] {
			t.Errorf("x = %v, want %g in place %d", x, want, i)
		}
	}
	if _, _, err := LeastRatio([]Part{{Speed: []float64{0}, Uses: []float64{1}, Left: 1, Whole: 1}}, []float64{1}); !errors.Is(
		err, ErrNoOptimum) {
		t.Errorf("a job that can run nowhere: %v", err)
	}
}

func benchmarkRatio(b *testing.B, jobs int) {
	parts, limits := drawParts(rand.New(rand.NewPCG(7, 8)), jobs, 3)
	for j := range limits {
		limits[j] = float64(jobs) / 8
	}
	for b.Loop() {
		if _, _, err := LeastRatio(parts, limits); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLeastRatio160(b *testing.B)   { benchmarkRatio(b, 160) }
func BenchmarkLeastRatio10000(b *testing.B) { benchmarkRatio(b, 10000) }
