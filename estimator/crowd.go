package estimator

import (
	"math"

	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat"
)

// Slowed is a measured slowdown: a job on Own cores took Times as long as alone, while other jobs held Others of the
// machine's Total cores. SD is the standard deviation of the logarithm of Times, since units of work take different times.
type Slowed struct{ Own, Others, Total, Times, SD float64 }

// Prior of the contention of a machine that was not measured. It has means and standard deviations of the three
// parameters, before ContentionOf maps them (a serial part of 2%, a capacity of all cores, a sharp bend).
var (
	crowdMean = [3]float64{-3.9, 0, math.Ln2 * 2}
	crowdSD   = [3]float64{1, 0.5, 0.7}
)

// slowedSD is the standard deviation of the logarithm of a measured slowdown, in addition to Slowed.SD.
const slowedSD = 0.02

// FitSlowed fits a contention law to measured slowdowns of jobs side by side: the most likely parameters under the
// prior of any machine. Few measurements suffice. Without measurements it returns no contention.
func FitSlowed(measured []Slowed) Contention {
	if len(measured) == 0 {
		return Contention{}
	}
	loss := func(x []float64) float64 {
		law, sum := ContentionOf(x), 0.0
		for i, v := range x {
			sum += square((v - crowdMean[i]) / crowdSD[i])
		}
		for _, m := range measured {
			sum += square(math.Log(math.Max(m.Times, 1)/law.Slowdown(m.Own, m.Others, m.Total)) / math.Hypot(slowedSD, m.SD))
		}
		return sum
	}
	best, least := Contention{}, math.Inf(1)
	for _, capacity := range []float64{-0.5, 0, 0.7} { // starts the search at machines with few and with many free cores
		r, _ := optimize.Minimize(optimize.Problem{Func: loss}, []float64{crowdMean[0], capacity, crowdMean[2]}, nil,
			&optimize.NelderMead{})
		if r != nil && r.F < least {
			best, least = ContentionOf(r.X), r.F
		}
	}
	return best
}

// SideBySide returns the slowdown of copies of a job that ran side by side (crowd), relative to samples of the job
// alone. It compares times of units if both report them, and otherwise the wall times of samples of equal length. It
// returns false if neither is possible.
func SideBySide(alone []Sample, crowd Sample) (Slowed, bool) {
	s := Slowed{Own: float64(crowd.Threads), Others: float64(crowd.Others), Total: float64(crowd.Total)}
	var units, walls []float64
	for _, a := range alone {
		if a.Threads == crowd.Threads {
			units = append(units, a.Units[min(1, len(a.Units)):]...)
			if a.Length == crowd.Length {
				walls = append(walls, a.Wall)
			}
		}
	}
	switch {
	case len(units) > 0 && len(crowd.Units) > 1:
		s.Times = stat.Mean(crowd.Units[1:], nil) / Median(units)
		// The prior of units counts as one unit of each.
		for _, u := range [][]float64{units, crowd.Units[1:]} {
			n, mean := float64(len(u)), stat.Mean(u, nil)
			s.SD = math.Hypot(s.SD, math.Sqrt(squares(u)/square(mean)+square(unitSD))/n)
		}
	case len(walls) > 0:
		s.Times = crowd.Wall / Median(walls)
	}
	return s, s.Times > 0 && !math.IsInf(s.Times, 0)
}
