package stats

import (
	"math"
	"slices"
)

// QuantileOf is Quantile of values in any order, which it puts in another one:
// it takes time in proportion to their number.
func QuantileOf(v []float64, q float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	at := q * float64(len(v)-1)
	lo := int(math.Floor(at))
	return interpolated(v, lo, at-float64(lo))
}

// interpolated returns the value that a sorted v has at k, and a part of the way to the next.
func interpolated(v []float64, k int, part float64) float64 {
	place(v, k)
	low, high := v[k], v[k]
	if rest := v[k+1:]; len(rest) > 0 {
		high = slices.Min(rest)
	}
	return low + part*(high-low)
}

// place puts the value that a sorted v has at k there, smaller ones before it
// and greater ones behind it (C. A. R. Hoare, "Algorithm 65: find", CACM 4(7),
// 1961, with the median of three as the pivot).
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
