package stats

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// beyond returns the probability that Student's t with df degrees of freedom is outside ±t. With t = √df·tan θ, the
// density is proportional to cos^(df−1) θ, which Simpson's rule integrates.
func beyond(t float64, df int) float64 {
	area := func(from float64) (sum float64) {
		const steps = 2000
		width := (math.Pi/2 - from) / steps
		for i := range steps + 1 {
			weight := 2 + 2*float64(i%2)
			if i == 0 || i == steps {
				weight = 1
			}
			sum += weight * math.Pow(math.Max(0, math.Cos(from+float64(i)*width)), float64(df-1))
		}
		return sum * width
	}
	return area(math.Atan(math.Abs(t)/math.Sqrt(float64(df)))) / area(0)
}

// TestByDefinition computes p-values and intervals of pairs independently, without a library and without code of this
// package.
func TestByDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.Float64Range(-100, 100)
		b := rapid.SliceOfN(value, 3, 15).Draw(t, "baseline")
		c := rapid.SliceOfN(value, len(b), len(b)).Draw(t, "candidate")
		n := float64(len(b))
		var mean, second, third float64
		d := make([]float64, len(b))
		for i := range b {
			d[i] = c[i] - b[i]
			mean += d[i] / n
		}
		if slices.Max(d)-slices.Min(d) < 1e-3 {
			t.Skip("no spread")
		}
		for _, v := range d {
			second += math.Pow(v-mean, 2)
			third += math.Pow(v-mean, 3)
		}
		sd := math.Sqrt(second / (n - 1))
		se, skew := sd/math.Sqrt(n), n/((n-1)*(n-2))*third/math.Pow(sd, 3)
		below, above := se, se
		if longer := 1 + math.Abs(skew)*min(0.75, 11/n); skew > 0 {
			above *= longer
		} else {
			below *= longer
		}
		side := below
		if mean < 0 {
			side = above
		}
		tails := min(max((n-2)/8, 0.75), 1)
		got := ComparePairs(b, c, 0.95)
		for _, x := range []struct {
			what      string
			has, want float64
		}{{"difference", got.Difference, mean}, {"p", got.P, min(1, beyond(mean/side, len(b)-1)/tails)},
			{"outside of the lower bound", beyond((mean-got.DifferenceLow)/below, len(b)-1), 0.05 * tails},
			{"outside of the upper bound", beyond((got.DifferenceHigh-mean)/above, len(b)-1), 0.05 * tails}} {
			if !(math.Abs(x.has-x.want) <= 1e-6*max(1, math.Abs(x.want))) {
				t.Fatalf("%s is %v, should be %v", x.what, x.has, x.want)
			}
		}
	})
}
