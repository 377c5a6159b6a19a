package estimator

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// Linear is the run time of a job that does the same work in every unit:
// fixed costs (start-up, warm-up, save) plus a time for each unit.
//
// Where the program reports its units, the slope is the mean of the units that
// are neither warm-up nor disturbed (see steady), and the intercept is the
// rest of the wall time at that pace. Where the program reports nothing, both
// come from the wall times of samples of different lengths by least squares,
// as in the two-point form of AlloX (Le et al., EuroSys 2020): both points
// include the same fixed costs, which cancel in their difference.
//
// With marks instead, the pace is the pace of the longest sample, from its
// first mark to its last.
type Linear struct{}

// Prior of a machine before anything is measured: the relative standard
// deviation of one job's pace from run to run, and its weight in samples.
const (
	priorPaceSD = 0.02
	priorDF     = 4
)

// A machine that shares its cores with others unseen is slower for moments, which
// short samples hit or miss: the relative standard deviation of its speed, and
// about how long in seconds a moment is, as measured on a virtual machine.
const (
	momentSD      = 0.07
	momentSeconds = 0.5
)

// moments returns the resulting standard deviation of the pace of samples of the
// given total seconds.
func moments(seconds float64) float64 {
	return momentSD * math.Sqrt(math.Min(1, momentSeconds/seconds))
}

// Name is "linear".
func (Linear) Name() string { return "linear" }

// Fit returns an error when there is no sample on the resource, or none has a
// length. Samples of one length without reported units are taken as work without
// fixed costs.
func (Linear) Fit(p Problem) (Estimate, error) {
	samples, asked := p.on()
	if len(samples) == 0 {
		return Estimate{}, fmt.Errorf("fit linear: no samples on the requested resource: %w", ErrUnfit)
	}
	e, err := fitLine(p, samples)
	e.Model, e.Resource, e.Samples = "linear", asked, len(samples)
	return e, err
}

func fitLine(p Problem, samples []Sample) (Estimate, error) {
	if own := longestMarks(samples); len(own) > 0 {
		return fitMarks(own, p.Tick)
	}
	for _, s := range samples {
		if len(s.Units) != s.Length || s.Length == 0 {
			if err := obeys(samples); err != nil {
				return Estimate{}, fmt.Errorf("fit linear: %w", err)
			}
			return fitWall(samples)
		}
	}
	return fitUnits(samples), nil
}

// fitUnits fits samples that report each unit. Samples of warm-up alone
// determine the pace only if there are no longer ones.
func fitUnits(samples []Sample) Estimate {
	leading := warmup(samples)
	byIndex := make([][]float64, leading) // the warm-up units
	var runs [][]float64                  // the steady units of each sample
	for _, s := range samples {
		for i := range min(leading, len(s.Units)) {
			byIndex[i] = append(byIndex[i], s.Units[i])
		}
		if len(s.Units) > leading {
			runs = append(runs, s.Units[leading:])
		}
	}
	if len(runs) == 0 {
		for _, s := range samples {
			runs = append(runs, s.Units)
		}
		leading, byIndex = 0, nil
	}
	e := Estimate{}
	runs, warning := steady(runs)
	if warning != "" {
		e.Warnings = append(e.Warnings, warning)
	}
	all := slices.Concat(runs...)
	e.Slope = stat.Mean(all, nil)
	fixed := make([]float64, len(samples))
	for i, s := range samples {
		// Time beyond the units at their steady pace: start-up, save, warm-up.
		fixed[i] = s.Wall
		for j, u := range s.Units {
			if j < leading {
				fixed[i] -= e.Slope
			} else {
				fixed[i] -= u
			}
		}
		fixed[i] = math.Max(0, fixed[i])
	}
	intercept, isd := meanSD(fixed)
	e.Intercept, e.InterceptSE = intercept, isd/math.Sqrt(float64(len(fixed)))

	// The spread of a unit is pooled from warm-up and steady units, each
	// about the mean of their kind.
	ss, df := squares(all), len(all)-1
	for _, v := range byIndex {
		if len(v) > 0 {
			ss, df = ss+squares(v), df+len(v)-1
		}
	}
	if df > 0 {
		e.UnitSD, e.DF = math.Sqrt(ss/float64(df)), float64(df)
		e.Rho = autocorrelation(runs)
		e.SlopeSE = e.UnitSD * math.Sqrt((1+e.Rho)/(1-e.Rho)/float64(len(all)))
		e.PaceSD = paceSD(runs, e)
		e.PaceDF = priorDF + float64(len(runs)-1)
		// The samples' own paces are off as well, each by its share of the units.
		shares := 0.0
		for _, r := range runs {
			shares += square(float64(len(r)) / float64(len(all)))
		}
		own, momentary := square(e.PaceSD)*(1+shares), square(moments(floats.Sum(all)))
		e.PaceSD = math.Sqrt(own + momentary)
		e.PaceDF = square(own+momentary) / (square(own)/e.PaceDF + square(momentary)/clockDF)
	}
	return e
}

// autocorrelation returns the correlation of units of one run with their
// successors, pooled over runs, from 0 to 0.9. Short runs hide most of it and
// show some where there is no correlation: it is shrunk as if eight more pairs
// had shown 0.
func autocorrelation(runs [][]float64) float64 {
	var products, ss, pairs float64
	for _, r := range runs {
		if len(r) < 3 {
			continue
		}
		m := stat.Mean(r, nil)
		for i := range r[1:] {
			products += (r[i] - m) * (r[i+1] - m)
			pairs++
		}
		ss += squares(r) * float64(len(r)-1) / float64(len(r))
	}
	if ss == 0 || pairs < 8 {
		return 0
	}
	return math.Min(0.9, math.Max(0, products/ss*pairs/(pairs+8)))
}

// paceSD returns the deviation in pace between runs that the spread of their
// units does not explain, joined with the prior of any machine.
func paceSD(runs [][]float64, e Estimate) float64 {
	var paces []float64
	explained := 0.0
	for _, r := range runs {
		paces = append(paces, stat.Mean(r, nil))
		explained += square(e.UnitSD) * (1 + e.Rho) / (1 - e.Rho) / float64(len(r)) / float64(len(runs))
	}
	k := float64(len(paces) - 1)
	if k < 1 || e.Slope <= 0 {
		return priorPaceSD
	}
	beyond := math.Max(0, stat.Variance(paces, nil)-explained) / square(e.Slope)
	return math.Sqrt((priorDF*square(priorPaceSD) + k*beyond) / (priorDF + k))
}

// fitWall fits wall times against lengths by least squares.
func fitWall(samples []Sample) (Estimate, error) {
	var x, y []float64
	for _, s := range samples {
		x = append(x, float64(s.Length))
		y = append(y, s.Wall)
	}
	sxx := squares(x)
	if sxx == 0 {
		if samples[0].Length > 0 {
			// One length only: its whole wall time is taken as work.
			m, _ := meanSD(y)
			return Estimate{Slope: m / x[0], Warnings: []string{
				"all samples have the same length: fixed costs and work cannot be separated, and the spread is unknown"}}, nil
		}
		return Estimate{}, fmt.Errorf("fit linear: the samples have no length: %w", ErrUnfit)
	}
	intercept, slope := stat.LinearRegression(x, y, nil, false)
	if slope <= 0 || intercept < 0 {
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
	e := Estimate{Slope: slope, Intercept: intercept, PaceSD: math.Hypot(priorPaceSD, moments(floats.Sum(y)))}
	// Two points leave no residuals: the prior of any machine is used.
	mean, df := stat.Mean(x, nil), float64(len(x)-2)
	ss := priorDF * square(priorPaceSD*(stat.Mean(y, nil)-intercept))
	for i := range x {
		ss += square(y[i] - intercept - slope*x[i])
	}
	e.DF = df + priorDF
	s2 := ss / e.DF
	e.SlopeSE = math.Sqrt(s2 / sxx)
	e.InterceptSE = math.Sqrt(s2 * (1/float64(len(x)) + mean*mean/sxx))
	return e, nil
}

// squares sums the squared deviations from the mean.
func squares(v []float64) float64 {
	if len(v) < 2 {
		return 0
	}
	return stat.Variance(v, nil) * float64(len(v)-1)
}

// meanSD returns the mean and the sample standard deviation (0 for one value).
func meanSD(v []float64) (mean, sd float64) {
	if len(v) == 1 {
		return v[0], 0
	}
	return stat.MeanStdDev(v, nil)
}
