package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// With the number of pairs that Needed returns, a test detects the difference with the requested probability or
// slightly more. It is more because the corrected intervals of few pairs are wider than Student's.
func TestNeeded(t *testing.T) {
	const level, difference, sd, probability = 0.95, 1.0, 1.5, 0.8
	random := rand.New(rand.NewPCG(1, 2))
	compare := func(n int) Paired {
		a, b := make([]float64, n), make([]float64, n)
		for i := range a {
			a[i] = 100
			b[i] = 100 + difference + sd*random.NormFloat64()
		}
		return ComparePairs(a, b, level)
	}
	const trials = 4000
	half, detected := 0.0, 0
	for range trials {
		p := compare(10)
		half += (p.DifferenceHigh - p.DifferenceLow) / 2 / trials
	}
	n := Needed(half, 10, level, difference, probability)
	for range trials {
		if compare(n).P < 1-level {
			detected++
		}
	}
	if got := float64(detected) / trials; got < 0.8 || got > 0.95 {
		t.Errorf("%d pairs detect the difference in %.3f of the trials", n, got)
	}
	for _, unknown := range []int{Needed(math.NaN(), 10, level, 1, 0.8), Needed(1, 2, level, 1, 0.8),
		Needed(1, 10, level, 0, 0.8), Needed(1e6, 10, level, 1, 0.8)} {
		if unknown != 0 {
			t.Errorf("%d pairs are enough for what cannot be known", unknown)
		}
	}
}
