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

// The parts of the error that looks have together. Plans with several looks leave the rest to replicates that are added
// when they are over, and spend it in full then. A single look has the whole error, and replicates that are added to it
// have afterRest on top.
const (
	plannedPart = 0.9
	afterRest   = 0.1
)

// Look is one of several looks at the results of an experiment. At the levels that it gives, the intervals of all looks
// together hold the truth with the probability that was asked for: repeated confidence intervals (C. Jennison and
// B. W. Turnbull, "Interim Analyses: The Repeated Confidence Interval Approach", JRSS B 51(3), 1989).
//
// The error is spent as α·ln(1+(e−1)·t) with t the fraction of the planned pairs, which leaves about the same for each
// look (K. K. G. Lan and D. L. DeMets, "Discrete Sequential Boundaries for Clinical Trials", Biometrika 70(3), 1983,
// after S. J. Pocock). Beyond the planned pairs, it is a tenth times 1−1/t², however often pairs are added.
type Look struct {
	alpha, nominal float64 // error of all looks, and of this one
	power          float64 // the error of this look is proportional to this power of the other
}

// LookAt returns the look at this number of pairs. The looks are numbers of pairs, ascending; beyond the planned
// number, they are of pairs that were added. The level is the one that most intervals have.
func LookAt(looks []int, planned, pairs int, level float64) Look {
	k := 0
	for k < len(looks)-1 && looks[k] < pairs {
		k++
	}
	const smaller = 16 // families of some comparisons, and unplanned looks, have about this part of the error
	alpha := 1 - level
	nominal := nominalErrors(looks, planned, alpha)[k]
	other := nominalErrors(looks, planned, alpha/smaller)[k]
	return Look{alpha, nominal, math.Log(nominal/other) / math.Log(smaller)}
}

// Level is the level of this look's interval where all looks together have a level.
func (l Look) Level(level float64) float64 { return 1 - l.nominal*math.Pow((1-level)/l.alpha, l.power) }

// P is the p-value that holds for all looks together: at most 1 − level when this look's is at most 1 − Level(level).
func (l Look) P(p float64) float64 { return min(1, l.alpha*math.Pow(p/l.nominal, 1/l.power)) }

// nominalKnown has the results of nominalErrors, which take milliseconds.
var nominalKnown sync.Map

// nominalErrors are the two-sided errors of the tests at each look.
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
		if t > 1 {
			return alpha * (part + afterRest*(1-1/(t*t)))
		}
		return alpha * part * math.Log1p((math.E-1)*t)
	})
	nominalKnown.Store(key, nominal)
	return nominal
}

// spendErrors are the two-sided errors of the tests at each look that let the error of the looks up to a number of
// pairs be spent(pairs), for sums of independent normal values.
func spendErrors(looks []int, spent func(pairs int) float64) []float64 {
	nominal := make([]float64, len(looks))
	// inside is the density, on a grid of half the values, of a sum that has not passed a bound so far: it is symmetric.
	var inside []float64
	var width, before, sofar float64 // of the grid's range; the information and the error so far
	for k, n := range looks {
		step, target := math.Sqrt(float64(n)-before), (spent(n)-sofar)/2
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
		inside, width, before, sofar = next, bound, float64(n), spent(n)
	}
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
