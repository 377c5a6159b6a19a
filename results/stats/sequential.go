package stats

import (
	"fmt"
	"math"
	"slices"
	"sync"
)

// Looks returns the numbers of pairs at which results are tested while replicates are added. It begins with MinPairs,
// grows by one or a quarter from test to test, and ends with most.
func Looks(most int) (looks []int) {
	for n := MinPairs; n < most; n = max(n+1, n*5/4) {
		looks = append(looks, n)
	}
	return append(looks, most)
}

// If a plan has several looks, plannedPart of the error is for them, and afterRest is for replicates that are added
// after the plan. If a plan has a single look, that look has the whole error. Replicates that are added after it
// increase the error by up to afterRest.
const plannedPart, afterRest = 0.9, 0.1

// Look is a test of an experiment's results that is one of several as replicates are added. Its levels are stricter
// than the requested level. All intervals of all looks together are right with the requested probability (repeated
// confidence intervals: C. Jennison and B. W. Turnbull, "Interim Analyses: The Repeated Confidence Interval Approach",
// JRSS B 51(3), 1989).
//
// The looks up to a fraction t of the planned pairs together have the error α·ln(1+(e−1)·t), so that looks have about
// equal parts of it (K. K. G. Lan and D. L. DeMets, "Discrete Sequential Boundaries for Clinical Trials", Biometrika
// 70(3), 1983, after S. J. Pocock). Looks beyond the planned pairs have the error α/10·(1−1/t²), however often pairs
// are added.
type Look struct {
	alpha, nominal float64 // two-sided error of all looks together, and of this look alone
	power          float64 // exponent: the error of this look is proportional to this power of the error of all looks
}

// LookAt returns the look at this number of pairs. The argument looks has the numbers of pairs of all looks, in
// ascending order; numbers above planned are looks after pairs were added. The level is the level of most intervals in
// the experiment.
func LookAt(looks []int, planned, pairs int, level float64) Look {
	k, _ := slices.BinarySearch(looks[:len(looks)-1], pairs)
	const smaller = 16 // families of comparisons, and looks that were not planned, have about 1/16 of the error
	alpha := 1 - level
	nominal := nominalErrors(looks, planned, alpha)[k]
	other := nominalErrors(looks, planned, alpha/smaller)[k]
	return Look{alpha, nominal, math.Log(nominal/other) / math.Log(smaller)}
}

// Level returns the level that the interval of this look needs so that all looks together have the given level.
func (l Look) Level(level float64) float64 { return 1 - l.nominal*math.Pow((1-level)/l.alpha, l.power) }

// P returns the p-value for all looks together from the p-value of this look. It is at most 1 − level exactly when p is
// at most 1 − Level(level).
func (l Look) P(p float64) float64 { return min(1, l.alpha*math.Pow(p/l.nominal, 1/l.power)) }

// nominalKnown caches the results of nominalErrors, by its arguments. Each takes milliseconds to compute.
var nominalKnown sync.Map

// nominalErrors returns the two-sided error of the test at each look, if all looks together have the error alpha.
func nominalErrors(looks []int, planned int, alpha float64) []float64 {
	key := fmt.Sprint(looks, planned, alpha)
	if known, ok := nominalKnown.Load(key); ok {
		return known.([]float64)
	}
	nominal := spendErrors(looks, func(pairs int) float64 {
		t, part := float64(pairs)/float64(planned), 1.0
		if looks[0] < planned {
			part = plannedPart
		}
		return alpha * (part*math.Log1p((math.E-1)*min(t, 1)) + afterRest*max(0, 1-1/(t*t)))
	})
	nominalKnown.Store(key, nominal)
	return nominal
}

// spendErrors returns the two-sided error of the test at each look. All looks up to a number of pairs together have the
// error spent(pairs). The tests are of sums of independent standard normal values.
func spendErrors(looks []int, spent func(pairs int) float64) []float64 {
	nominal := make([]float64, len(looks))
	// inside has the density of a sum that no look has rejected so far, on a grid from 0 to width. The density is
	// symmetric around 0.
	var inside []float64
	var width, before, sofar float64 // largest sum on the grid; pairs and error of the earlier looks
	for k, n := range looks {
		step, target := math.Sqrt(float64(n)-before), (spent(n)-sofar)/2
		over := func(f func(at float64) float64) float64 { // integral of f over the sums so far that are at least 0
			if k == 0 {
				return f(0) / 2
			}
			return simpson(inside, width, f)
		}
		beyond := func(bound float64) float64 { // probability that this look rejects because the sum is above bound
			return over(func(at float64) float64 { return upperTail((bound-at)/step) + upperTail((bound+at)/step) })
		}
		low, high := 0.0, 40*math.Sqrt(float64(n))
		for range 60 {
			if middle := (low + high) / 2; beyond(middle) > target {
				low = middle
			} else {
				high = middle
			}
		}
		bound := high
		nominal[k] = 2 * upperTail(bound/math.Sqrt(float64(n)))
		next := make([]float64, gridPoints)
		for i := range next {
			x := bound * float64(i) / (gridPoints - 1)
			next[i] = over(func(at float64) float64 { return (density((x-at)/step) + density((x+at)/step)) / step })
		}
		inside, width, before, sofar = next, bound, float64(n), spent(n)
	}
	return nominal
}

// gridPoints is the number of grid points from 0 to a bound. It must be odd for Simpson's rule.
const gridPoints = 161

// simpson integrates f times a density, which is given on a grid from 0 to width, by Simpson's rule.
func simpson(density []float64, width float64, f func(at float64) float64) (sum float64) {
	h := width / float64(len(density)-1)
	for i, d := range density {
		weight := float64(2 + 2*(i%2))
		if i == 0 || i == len(density)-1 {
			weight = 1
		}
		sum += weight * d * f(h*float64(i))
	}
	return sum * h / 3
}

func density(z float64) float64 { return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) }

func upperTail(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }
