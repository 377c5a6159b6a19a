package adaptation

import (
	"math"
	"math/rand/v2"
)

// factorial is an analysis of a full factorial table, which has a value for each combination of the factors' levels (R.
// A. Fisher, The Design of Experiments, 1935). It divides the variance into effects of single factors, effects of
// pairs, and noise.
type factorial struct {
	// MainR2 is the part of the variance that single factors explain.
	MainR2 float64
	// Noise is the standard deviation of the part that neither single factors nor pairs explain. It estimates how much
	// a value varies between repetitions. It is NaN if nothing remains to estimate it from.
	Noise float64
	// Regret is the expected regret due to noise alone: the distance from the greatest value of such a table to the
	// value of the combination that is the best without noise. It is NaN without Noise.
	Regret float64
}

// drawn is the number of tables that are drawn to compute factorial.Regret. mostDrawn bounds the total number of their
// values. Tables with more than mostPaired values are analyzed without pairs.
const (
	drawn      = 2000
	mostDrawn  = 4_000_000
	mostPaired = 20_000
)

// newFactorial analyzes the values of levels^factors combinations, in the order in which the last factor changes
// fastest. Effects of pairs are part of the model if there are at least three factors: with two, nothing would remain
// for the noise.
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
	// The table is balanced, so an effect is a difference of means.
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

// noiseRegret returns factorial.Regret, by the mean over randomly drawn tables.
func noiseRegret(fit []float64, noise float64) float64 {
	best := 0
	for i, v := range fit {
		if v > fit[best] {
			best = i
		}
	}
	r := rand.New(rand.NewPCG(1, 2)) // equal seeds: the result depends on the table alone
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
