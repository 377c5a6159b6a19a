package stats

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"
)

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if math.IsNaN(got) != math.IsNaN(want) || math.Abs(got-want) > tol {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func TestQuantile(t *testing.T) {
	x := []float64{1, 2, 3, 4}
	// By hand: rank 0.5·3 = 1.5 is between the values 2 and 3. Rank 0.95·3 = 2.85 is 0.85 of the way from 3 to 4.
	near(t, "median", Quantile(x, 0.5), 2.5, 0)
	near(t, "p95", Quantile(x, 0.95), 3.85, 1e-12)
	near(t, "minimum", Quantile(x, 0), 1, 0)
	near(t, "maximum", Quantile(x, 1), 4, 0)
	near(t, "of one", Quantile([]float64{7}, 0.95), 7, 0)
	near(t, "of none", Quantile(nil, 0.5), math.NaN(), 0)
}

func TestJain(t *testing.T) {
	jain := func(values []float64) float64 {
		var s Sample
		for _, v := range values {
			s.Add(v)
		}
		return s.Jain()
	}
	near(t, "alike", jain([]float64{3, 3, 3}), 1, 1e-15)
	near(t, "one has all", jain([]float64{1, 0, 0, 0}), 0.25, 1e-15)
	near(t, "1, 2, 3", jain([]float64{1, 2, 3}), 36.0/(3*14), 1e-15)
	near(t, "of none", jain(nil), math.NaN(), 0)
}

func TestMeanInterval(t *testing.T) {
	// By hand: the mean is 3 and the standard deviation √2.5. Five values get 3/8 of the tail probability, and t(4,
	// 99.0625%) = 3.822 by interpolation in tables.
	i := MeanInterval([]float64{1, 2, math.NaN(), 3, 4, 5}, 0.95)
	half := 3.822 * math.Sqrt(2.5) / math.Sqrt(5)
	near(t, "mean", i.Mean, 3, 1e-15)
	near(t, "low", i.Low, 3-half, 2e-3)
	near(t, "high", i.High, 3+half, 2e-3)
	if i.N != 5 {
		t.Errorf("n = %d", i.N)
	}
	one := MeanInterval([]float64{2}, 0.95)
	near(t, "mean of one", one.Mean, 2, 0)
	near(t, "low of one", one.Low, math.NaN(), 0)
	raw, err := json.Marshal([]Interval{one, MeanInterval(nil, 0.95)})
	want := `[{"n":1,"mean":2,"low":null,"high":null},{"n":0,"mean":null,"low":null,"high":null}]`
	if err != nil || string(raw) != want {
		t.Errorf("JSON is %s, %v; want %s", raw, err, want)
	}
}

// TestSleep is Student's own paired example, the extra sleep of ten patients under two drugs. R's t.test(paired = TRUE)
// gives t = -4.0621, p = 0.002833, mean difference -1.58, interval -2.4599 to -0.7001. The values for its first nine
// pairs were also computed with R.
func TestSleep(t *testing.T) {
	one := []float64{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0}
	two := []float64{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4}
	near(t, "p of t", tTail(-4.0621, 9), 0.002833, 1e-6)
	all := ComparePairs(two, one, 0.95)
	near(t, "difference", all.Difference, -1.58, 1e-12)
	// The differences are skewed to the left, so the interval is longer than Student's on that side.
	near(t, "high", all.DifferenceHigh, -0.7001, 1e-4)
	near(t, "p", all.P, 0.002833, 1e-6)
	if !(all.DifferenceLow < -2.4599) || all.Method != PairedT {
		t.Errorf("ten pairs: %+v", all)
	}
	near(t, "the interval at the level of the p-value ends at", edge(two, one, 1-all.P), 0, 1e-9)
	near(t, "p of the same the other way", ComparePairs(one, two, 0.95).P, all.P, 1e-15)
}

// edge returns the bound of the interval that is closer to 0.
func edge(baseline, candidate []float64, level float64) float64 {
	p := ComparePairs(baseline, candidate, level)
	return min(math.Abs(p.DifferenceLow), math.Abs(p.DifferenceHigh))
}

// TestRatio checks the bounds of the ratio by their definition. At each bound, the t statistic of c − r·b equals the
// critical value, which is t(4, 1 − 2.5%·3/8) = 3.822 on the side without a long tail.
func TestRatio(t *testing.T) {
	b := []float64{10, 12, 11, 13, 9}
	c := []float64{6, 7.5, 6.1, 8.2, 5.0}
	test := meanTest{df: 4, below: 1, above: 2, tail: 3. / 8}
	lo, hi := ratioBounds(b, c, test, 0.95)
	for r, want := range map[float64]float64{lo: 3.822, hi: 2 * 3.822} {
		d := make([]float64, len(b))
		for i := range d {
			d[i] = c[i] - r*b[i]
		}
		near(t, fmt.Sprintf("|t| at %v", r), math.Abs(stat.Mean(d, nil))/stat.StdErr(stat.StdDev(d, nil), 5), want, 5e-3)
	}
	if !(lo < 32.8/55 && 32.8/55 < hi) {
		t.Errorf("interval %v to %v is not around the ratio", lo, hi)
	}
	// If the baseline's mean may be 0, the ratio has no bounds.
	lo, hi = ratioBounds([]float64{-1, 1, 0.1}, []float64{1, 2, 3}, meanTest{df: 2, below: 1, above: 1, tail: 1}, 0.95)
	near(t, "low", lo, math.NaN(), 0)
	near(t, "high", hi, math.NaN(), 0)
}

func TestAlike(t *testing.T) {
	same := []float64{3, 4, 5}
	p := ComparePairs(same, same, 0.95)
	if p.P != 1 || p.Difference != 0 || p.Ratio != 1 || p.RatioLow != 1 || p.RatioHigh != 1 || p.Method != SignFlips {
		t.Errorf("identical pairs: %+v", p)
	}
	// Three equal differences are not significant: 2 of 8 assignments of signs are as extreme. Six are significant: 2
	// of 64.
	p = ComparePairs([]float64{4, 4, 4}, []float64{2, 2, 2}, 0.95)
	if !math.IsNaN(p.P) || p.Difference != -2 || p.Ratio != 0.5 || !math.IsNaN(p.DifferenceLow) || !math.IsNaN(p.RatioLow) {
		t.Errorf("three pairs that all differ by 2: %+v", p)
	}
	p = ComparePairs([]float64{4, 4, 4, 4, 4, 4}, []float64{2, 2, 2, 2, 2, 2}, 0.95)
	if p.P != 1.0/32 || p.DifferenceLow != -2 || p.DifferenceHigh != -2 || !nearly(p.RatioLow, 0.5) || !nearly(p.RatioHigh, 0.5) {
		t.Errorf("six pairs that all differ by 2: %+v", p)
	}
	if n := FewestAlike(0.95); n != 6 {
		t.Errorf("%d pairs", n)
	}
	p = ComparePairs([]float64{0, 0, 0}, []float64{0, 0, 0}, 0.95)
	if p.P != 1 || !math.IsNaN(p.Ratio) {
		t.Errorf("zeros: %+v", p)
	}
	// Sums of the same numbers in another order differ in the last digit. This does not count as a difference.
	p = ComparePairs([]float64{0.1 + 0.2, 5, 7}, []float64{0.3, 5, 7}, 0.95)
	if p.P != 1 || p.Difference != 0 {
		t.Errorf("rounding: %+v", p)
	}
	p = ComparePairs([]float64{0, 0, 0, 0}, []float64{3, 4, 5, 4}, 0.95)
	if !math.IsNaN(p.Ratio) || !(p.P < 0.02) || !(p.DifferenceLow > 0) {
		t.Errorf("from zero: %+v", p)
	}
}

func TestTooFew(t *testing.T) {
	p := ComparePairs([]float64{1, 2}, []float64{2, 4}, 0.95)
	if p.Pairs != 2 || p.BaselineMean != 1.5 || p.Ratio != 2 || !math.IsNaN(p.P) || !math.IsNaN(p.RatioLow) {
		t.Errorf("two pairs: %+v", p)
	}
	p = ComparePairs(nil, nil, 0.95)
	if !math.IsNaN(p.BaselineMean) || !math.IsNaN(p.P) {
		t.Errorf("no pairs: %+v", p)
	}
}

// TestVerdictAndInterval: an interval leaves out "no difference" exactly when the p-value is significant.
func TestVerdictAndInterval(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(MinPairs, 14).Draw(t, "n")
		shift := rapid.Float64Range(-3, 3).Draw(t, "shift")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		b, c := make([]float64, n), make([]float64, n)
		for i := range b {
			b[i] = 20 + rng.NormFloat64()
			c[i] = b[i] + shift + rng.NormFloat64()
		}
		p := ComparePairs(b, c, 0.95)
		if out := p.DifferenceLow > 0 || p.DifferenceHigh < 0; out != (p.P < 0.05) {
			t.Fatalf("p = %v and the difference is in %v to %v", p.P, p.DifferenceLow, p.DifferenceHigh)
		}
		if out := p.RatioLow > 1 || p.RatioHigh < 1; out != (p.P < 0.05) {
			t.Fatalf("p = %v and the ratio is in %v to %v", p.P, p.RatioLow, p.RatioHigh)
		}
	})
}

// TestHolm has the example of R's p.adjust(c(0.01, 0.02, 0.03, 0.04), "holm").
func TestHolm(t *testing.T) {
	got := Holm([]float64{0.03, 0.01, math.NaN(), 0.04, 0.02})
	for i, want := range []float64{0.06, 0.04, math.NaN(), 0.06, 0.06} {
		near(t, fmt.Sprintf("p[%d]", i), got[i], want, 1e-15)
	}
	near(t, "bounded by 1", Holm([]float64{0.7, 0.8})[0], 1, 0)
}

// TestCompareBlocks: blocks of one job each give the results of pairs. For logs of independent blocks, the share of
// intervals that hold the true difference is about the level.
func TestCompareBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	covered := 0
	const logs = 80
	for i := range logs {
		var blocks []Block
		for range 30 {
			n := 5 + rng.IntN(10)
			day := rng.NormFloat64() // shared by all jobs of a day
			b := Block{N: n}
			for range n {
				own := 10 + day + rng.NormFloat64()
				b.Baseline += own
				b.Candidate += own - 2 + 0.5*day
			}
			blocks = append(blocks, b)
		}
		r := CompareBlocks(blocks, 0.95, fmt.Sprint(i))
		if r.DifferenceLow <= -2 && -2 <= r.DifferenceHigh {
			covered++
		}
		if r.P > 0.001 {
			t.Errorf("a clear difference has p = %v", r.P)
		}
	}
	if share := float64(covered) / logs; share < 0.9 || share > 0.99 {
		t.Errorf("the intervals hold the true difference in %v of the logs, want about 0.95", share)
	}
	same := []Block{{2, 3, 3}, {1, 4, 4}, {1, 5, 5}}
	if r := CompareBlocks(same, 0.95, "x"); r.P != 1 || r.Difference != 0 || r.BaselineMean != 3 || r.RatioLow != 1 {
		t.Errorf("equal blocks: %+v", r)
	}
}

// QuantileOf returns exactly the quantile of the sorted values.
func TestQuantileOfAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.OneOf(rapid.Float64Range(0, 5),
			rapid.Map(rapid.IntRange(0, 3), func(n int) float64 { return float64(n) }))
		v := rapid.SliceOfN(value, 1, 200).Draw(t, "values")
		q := rapid.OneOf(rapid.SampledFrom([]float64{0, 0.5, 0.95, 1}), rapid.Float64Range(0, 1)).Draw(t, "q")
		sorted := slices.Sorted(slices.Values(v))
		if got, want := QuantileOf(v, q), Quantile(sorted, q); got != want {
			t.Fatalf("%v, want %v", got, want)
		}
		if slices.Sort(v); !slices.Equal(v, sorted) {
			t.Fatal("a value was lost")
		}
	})
}
