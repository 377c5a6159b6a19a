package adaptation

import (
	"math"
	"math/rand/v2"
)

// factorial is the share that the effects of single factors, and of pairs of them,
// explain in a full factorial table with one value for each combination of levels (R.
// A. Fisher, The Design of Experiments, 1935).
type factorial struct {
	// MainR2 is the part of the variance that the effects of single factors explain.
	MainR2 float64
	// Noise is the standard deviation of the part that neither they nor the effects of
	// pairs explain. It estimates the scatter of a value between repetitions. It is NaN
	// without a remainder to estimate it from.
	Noise float64
	// Regret is the expected distance between the greatest value of such a table and the
	// value of the combination that is the best without noise: the loss by noise alone,
	// even if the effects are known. NaN without Noise.
	Regret float64
}

// drawn is the number of tables that are drawn for factorial.Regret; mostDrawn bounds the values of all of them. With
// more than mostPaired values, pairs are left out.
const (
	drawn      = 2000
	mostDrawn  = 4_000_000
	mostPaired = 20_000
)

// newFactorial analyses the values of levels^factors combinations; the last factor
// changes fastest. Effects of pairs are part of the model from three factors on: with
// two they would leave no noise.
func newFactorial(values []float64, levels, factors int) factorial {
	n := len(values)
	mean, total := 0.0, 0.0
	for _, v := range values {
		mean += v / float64(n)
	}
	for _, v := range values {
		total += (v - mean) * (v - mean)
	}
	level := func(i, factor int) int {
		for range factors - 1 - factor {
			i /= levels
		}
		return i % levels
	}
	// The table is balanced, so effects are differences of means.
	single := make([][]float64, factors)
	for f := range factors {
		single[f] = make([]float64, levels)
		for i, v := range values {
			single[f][level(i, f)] += (v - mean) * float64(levels) / float64(n)
		}
	}
	fit := make([]float64, n)
	left := 0.0
	for i, v := range values {
		fit[i] = mean
		for f := range factors {
			fit[i] += single[f][level(i, f)]
		}
		left += (v - fit[i]) * (v - fit[i])
	}
	out := factorial{MainR2: math.NaN(), Noise: math.NaN(), Regret: math.NaN()}
	if total > 0 {
		out.MainR2 = 1 - left/total
	}
	if n > mostPaired {
		return out
	}
	free := n - 1 - factors*(levels-1)
	if factors >= 3 {
		for f := range factors {
			for g := range f {
				pair := make([]float64, levels*levels)
				for i, v := range values {
					pair[level(i, g)*levels+level(i, f)] += (v - mean - single[f][level(i, f)] - single[g][level(i, g)]) *
						float64(levels*levels) / float64(n)
				}
				for i := range fit {
					fit[i] += pair[level(i, g)*levels+level(i, f)]
				}
				free -= (levels - 1) * (levels - 1)
			}
		}
	}
	if free < 1 {
		return out
	}
	left = 0
	for i, v := range values {
		left += (v - fit[i]) * (v - fit[i])
	}
	out.Noise = math.Sqrt(left / float64(free))
	out.Regret = noiseRegret(fit, out.Noise)
	return out
}

// noiseRegret is factorial.Regret, from drawn tables.
func noiseRegret(fit []float64, noise float64) float64 {
	best := 0
	for i, v := range fit {
		if v > fit[best] {
			best = i
		}
	}
	r := rand.New(rand.NewPCG(1, 2)) // the same for every table
	sum := 0.0
	tables := max(1, min(drawn, mostDrawn/len(fit)))
	for range tables {
		greatest, chosen := math.Inf(-1), 0.0
		for i, v := range fit {
			v += noise * r.NormFloat64()
			greatest = max(greatest, v)
			if i == best {
				chosen = v
			}
		}
		sum += greatest - chosen
	}
	return sum / float64(tables)
}
