package surrogate

import "math"

// LogExpectedImprovement returns log(σ·(u·Φ(u) + φ(u))), u = (best − mean)/σ: the
// logarithm of how far a normal outcome is expected to fall below the best seen. It
// stays finite far from the best, where the improvement itself is 0 in floating
// point (S. Ament and others, Unexpected Improvements to Expected Improvement for
// Bayesian Optimization, 2023).
func LogExpectedImprovement(best, mean, sd float64) float64 {
	if !(sd > 0) {
		if mean < best {
			return math.Log(best - mean)
		}
		return math.Inf(-1)
	}
	u := (best - mean) / sd
	return math.Log(sd) + logH(u)
}

// logH returns log(u·Φ(u) + φ(u)).
func logH(u float64) float64 {
	const c = 0.9189385332046727 // log(2π)/2
	switch {
	case u > -5:
		return math.Log(u*math.Erfc(-u/math.Sqrt2)/2 + math.Exp(-u*u/2-c))
	case u > -1e3:
		// Mills' ratio Φ(u)/φ(u) by its continued fraction.
		ratio := mills(-u)
		return -u*u/2 - c + math.Log1p(u*ratio)
	default:
		return -u*u/2 - c - 2*math.Log(-u)
	}
}

// mills returns (1 − Φ(x))/φ(x) for x ≥ 5, by Laplace's continued fraction.
func mills(x float64) float64 {
	f := x
	for k := 60; k >= 1; k-- {
		f = x + float64(k)/f
	}
	return 1 / f
}

// LogProbabilityBelow returns log Φ((limit − mean)/σ): how likely a normal outcome
// is at most the limit.
func LogProbabilityBelow(limit, mean, sd float64) float64 {
	if !(sd > 0) {
		if mean <= limit {
			return 0
		}
		return math.Inf(-1)
	}
	z := (limit - mean) / sd
	switch {
	case z > -5:
		return math.Log(math.Erfc(-z/math.Sqrt2) / 2)
	default:
		return -z*z/2 - 0.9189385332046727 + math.Log(mills(-z))
	}
}
