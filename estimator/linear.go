package estimator

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
)

// Linear is the run time of a job that does the same work in every unit:
// fixed costs (start-up, first-unit warm-up, save) plus a time for each unit.
//
// Where the program reports its units, the slope is the mean of all but the
// first of each sample, and the intercept is what the wall time holds beyond
// them at that pace. A first unit warms up caches, threads and the clock of the
// machine: it takes a tenth longer even in small jobs, which a job that is
// many times as long as its sample would pay for with each of its units. Where
// the program reports nothing, both come from the wall times of samples of
// different lengths by least squares, as in the two-point form of AlloX (Le et
// al., EuroSys 2020).
type Linear struct{}

// Name is "linear".
func (Linear) Name() string { return "linear" }

// Fit returns an error when there is no sample on the resource, or none has a
// length. Samples of one length without reported units are taken as work without
// fixed costs.
func (Linear) Fit(p Problem) (Estimate, error) {
	samples, asked := p.on()
	if len(samples) == 0 {
		return Estimate{}, fmt.Errorf("fit linear: no samples on the resource asked for: %w", ErrUnfit)
	}
	e, err := fitLine(samples)
	e.Resource = asked
	return e, err
}

func fitLine(samples []Sample) (Estimate, error) {
	for _, s := range samples {
		if len(s.Units) != s.Length || s.Length == 0 {
			return fitWall(samples)
		}
	}
	return fitUnits(samples), nil
}

// fitUnits fits samples that report each unit. Samples of one unit tell the
// pace only if there are no longer ones. The spread of a unit is that of first
// and of later ones, each about their own mean.
func fitUnits(samples []Sample) Estimate {
	var first, later []float64
	for _, s := range samples {
		first = append(first, s.Units[0])
		later = append(later, s.Units[1:]...)
	}
	steady, df := later, len(first)+len(later)-2
	if len(later) == 0 {
		steady, df = first, len(first)-1
	}
	slope := stat.Mean(steady, nil)
	var fixed []float64
	for _, s := range samples {
		// What is beyond the units at their steady pace: start-up, save, warm-up.
		rest := s.Wall + s.Units[0] - slope
		for _, u := range s.Units {
			rest -= u
		}
		fixed = append(fixed, math.Max(0, rest))
	}
	intercept, isd := meanSD(fixed)
	e := Estimate{
		Model: "linear", Slope: slope, Intercept: intercept, Samples: len(samples),
		InterceptSE: isd / math.Sqrt(float64(len(fixed))),
	}
	if df > 0 {
		e.UnitSD = math.Sqrt((squares(first) + squares(later)) / float64(df))
		e.SlopeSE = e.UnitSD / math.Sqrt(float64(len(steady)))
		e.DF = float64(df)
	}
	return e
}

// squares sums the squared deviations from the mean.
func squares(v []float64) float64 {
	if len(v) < 2 {
		return 0
	}
	return stat.Variance(v, nil) * float64(len(v)-1)
}

// fitWall fits wall times against lengths by least squares.
func fitWall(samples []Sample) (Estimate, error) {
	var x, y []float64
	for _, s := range samples {
		x = append(x, float64(s.Length))
		y = append(y, s.Wall)
	}
	sxx := stat.Variance(x, nil) * float64(len(x)-1)
	if len(x) < 2 || sxx == 0 {
		if len(x) > 0 && samples[0].Length > 0 {
			// One length only: its whole wall time is taken as work.
			m, _ := meanSD(y)
			return Estimate{Model: "linear", Slope: m / x[0], Samples: len(samples)}, nil
		}
		return Estimate{}, fmt.Errorf("fit linear: the samples have no length: %w", ErrUnfit)
	}
	intercept, slope := stat.LinearRegression(x, y, nil, false)
	if slope < 0 || intercept < 0 {
		// Fixed costs below zero, or work that takes no time, are noise: a line
		// through the origin is the nearest that can be.
		intercept = 0
		var xy, xx float64
		for i := range x {
			xy += x[i] * y[i]
			xx += x[i] * x[i]
		}
		slope = xy / xx
	}
	e := Estimate{Model: "linear", Slope: slope, Intercept: intercept, Samples: len(samples)}
	if df := float64(len(x) - 2); df > 0 {
		var ss float64
		for i := range x {
			r := y[i] - intercept - slope*x[i]
			ss += r * r
		}
		s2 := ss / df
		mean := stat.Mean(x, nil)
		e.SlopeSE = math.Sqrt(s2 / sxx)
		e.InterceptSE = math.Sqrt(s2 * (1/float64(len(x)) + mean*mean/sxx))
		e.DF = df
	}
	return e, nil
}

// meanSD returns the mean and the sample standard deviation (0 for one value).
func meanSD(v []float64) (mean, sd float64) {
	if len(v) == 1 {
		return v[0], 0
	}
	return stat.MeanStdDev(v, nil)
}
