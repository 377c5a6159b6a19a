package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestPackedQuantiles: a packed sample has exactly the same quantiles, mean and fairness index as one that is not
// packed. The values are times in millionths, ratios, equal values, and values of both signs.
func TestPackedQuantiles(t *testing.T) {
	defer func(n int) { packFrom = n }(packFrom)
	rng := rand.New(rand.NewPCG(1, 2))
	for name, draw := range map[string]func() float64{
		"times":   func() float64 { return math.Round(rng.ExpFloat64()*1e8) / 1e6 },
		"waits":   func() float64 { return max(0, math.Round(rng.NormFloat64()*1e6)/1e6) },
		"ratios":  func() float64 { return 1 + rng.ExpFloat64()/float64(1+rng.IntN(1e9)) },
		"signed":  rng.NormFloat64,
		"steps":   func() float64 { return float64(rng.IntN(3)) },
		"mostly":  func() float64 { return max(0, float64(rng.IntN(1000)-990)) },
		"equal":   func() float64 { return 1 },
		"extreme": func() float64 { return math.Ldexp(rng.Float64(), rng.IntN(600)-300) },
	} {
		for _, n := range []int{1000, 1001, 1255, 70_000, 2 * blockSize, 3*blockSize + 17} {
			packFrom = math.MaxInt
			var whole, packed Sample
			values := make([]float64, n)
			for i := range values {
				values[i] = draw()
				whole.Add(values[i])
			}
			packFrom = 1000
			for _, v := range values {
				packed.Add(v)
			}
			if packed.packed == nil || whole.packed != nil {
				t.Fatal("the wrong sample is packed")
			}
			for _, q := range []float64{0, 0.01, 0.25, 0.5, 0.95, 0.98, 0.989, 0.99, 0.991, 0.999, 1} {
				if got, want := packed.Quantile(q), whole.Quantile(q); got != want {
					t.Errorf("%s: the %v-quantile of %d values is %v instead of %v", name, q, n, got, want)
				}
			}
			if packed.Len() != n || packed.Mean() != whole.Mean() || packed.Jain() != whole.Jain() {
				t.Errorf("%s: %d values have another mean or index", name, n)
			}
		}
	}
}

// TestPackedSize: times of about a hundred seconds take less than three bytes each, and equal values less than a
// twentieth of a byte.
func TestPackedSize(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	values := make([]float64, blockSize)
	for i := range values {
		values[i] = math.Round(rng.ExpFloat64()*1e8) / 1e6
	}
	b := pack(slices.Clone(values))
	if size := float64(len(b.text)+12*len(b.firsts)) / blockSize; size > 3 {
		t.Errorf("a value takes %.1f bytes", size)
	}
	in := interval{low: math.Inf(-1), high: math.Inf(1)}
	b.addTo(&in)
	got := in.between
	slices.Sort(values)
	if !slices.Equal(got, values) {
		t.Error("the values are not what was packed")
	}
	if b := pack(make([]float64, blockSize)); len(b.text) > 4*len(b.firsts) {
		t.Errorf("%d zeros take %d bytes", blockSize, len(b.text))
	}
}
