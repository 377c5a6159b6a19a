package stats

import (
	"math"
	"slices"
)

// QuantileOf returns the q-quantile of unsorted values by the definition of Quantile. It changes the order of v. Its
// time is proportional to the number of values.
func QuantileOf(v []float64, q float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	at := q * float64(len(v)-1)
	lo := int(math.Floor(at))
	return interpolated(v, lo, at-float64(lo))
}

// interpolated returns the value at index k of the sorted v, plus the share part of the distance to the next value. It
// changes the order of v.
func interpolated(v []float64, k int, part float64) float64 {
	place(v, k)
	low, high := v[k], v[k]
	if rest := v[k+1:]; len(rest) > 0 {
		high = slices.Min(rest)
	}
	return low + part*(high-low)
}

// place moves values of v such that v[k] has the value that it would have if v were sorted. Smaller values are then
// before it, and greater ones behind it. The pivot is the median of three values (C. A. R. Hoare, "Algorithm 65: find",
// CACM 4(7), 1961).
func place(v []float64, k int) {
	for lo, hi := 0, len(v)-1; lo < hi; {
		a, b, c := v[lo], v[lo+(hi-lo)/2], v[hi]
		pivot := max(min(a, b), min(max(a, b), c))
		i, j := lo, hi
		for i <= j {
			for v[i] < pivot {
				i++
			}
			for v[j] > pivot {
				j--
			}
			if i <= j {
				v[i], v[j] = v[j], v[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case k <= j:
			hi = j
		case k >= i:
			lo = i
		default:
			return
		}
	}
}
