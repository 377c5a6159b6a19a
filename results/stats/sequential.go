package stats

import (
	"fmt"
	"math"
	"sync"
)

// Looks are the numbers of pairs, at most most, at which results are looked at while replicates are added: each of the
// first ones, and later a quarter more each time.
func Looks(most int) (looks []int) {
	for n := MinPairs; n < most; n = max(n+1, n*5/4) {
		looks = append(looks, n)
	}
	return append(looks, most)
}

// AtLook returns the level of the interval at the look with this number of pairs. At these levels, the intervals of all
// looks together hold the truth with the probability level: repeated confidence intervals (C. Jennison and B. W.
// Turnbull, "Interim Analyses: The Repeated Confidence Interval Approach", JRSS B 51(3), 1989). The looks are numbers of
// pairs, ascending.
//
// The error is spent as α·ln(1+(e−1)·t) with t the fraction of all pairs, which leaves about the same for each look
// (K. K. G. Lan and D. L. DeMets, "Discrete Sequential Boundaries for Clinical Trials", Biometrika 70(3), 1983, after
// S. J. Pocock). The bounds hold for sums of independent normal values; where there are several looks, a tenth of the error is
// reserved for values that depend on each other, such as run times on a machine whose speed moves.
func AtLook(looks []int, pairs int, level float64) float64 {
	alpha := 1 - level
	if len(looks) > 1 {
		alpha *= 0.9
	}
	nominal := nominalErrors(looks, alpha)
	for k, n := range looks {
		if pairs <= n {
			return 1 - nominal[k]
		}
	}
	return 1 - nominal[len(nominal)-1]
}

// nominalKnown has the results of nominalErrors, which take milliseconds.
var nominalKnown sync.Map

// nominalErrors are the two-sided errors of the tests at each look.
func nominalErrors(looks []int, alpha float64) []float64 {
	key := fmt.Sprint(looks, alpha)
	if known, ok := nominalKnown.Load(key); ok {
		return known.([]float64)
	}
	nominal := make([]float64, len(looks))
	most := float64(looks[len(looks)-1])
	spend := func(n int) float64 { return alpha * math.Log1p((math.E-1)*float64(n)/most) }
	// inside is the density, on a grid of half the values, of a sum that has not passed a bound so far: it is symmetric.
	var inside []float64
	var width, before, spent float64 // of the grid's range; the information and the error so far
	for k, n := range looks {
		step, target := math.Sqrt(float64(n)-before), (spend(n)-spent)/2
		beyond := func(bound float64) float64 { // the probability to pass the upper bound now
			if k == 0 {
				return upperTail(bound / step)
			}
			return simpson(inside, width, func(at float64) float64 { return upperTail((bound-at)/step) + upperTail((bound+at)/step) })
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
			if k == 0 {
				next[i] = density(x/step) / step
				continue
			}
			next[i] = simpson(inside, width, func(at float64) float64 { return (density((x-at)/step) + density((x+at)/step)) / step })
		}
		inside, width, before, spent = next, bound, float64(n), spend(n)
	}
	nominalKnown.Store(key, nominal)
	return nominal
}

// gridPoints is an odd number of points between 0 and a bound.
const gridPoints = 161

// simpson integrates f with a density that is given on the grid from 0 to width.
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
