package estimator

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// Linear is the model for a job that does the same work in every unit: its run time is a fixed time (start-up, save)
// plus a time per unit.
//
// If the program reports its units, the mean of a sample's units is its time per unit. The slope is the geometric
// mean of these over samples, weighted by precision: the inverse of the sum of the variance between runs and the
// variance of the mean of the sample's units. The intercept is the median of the time outside the units. The first
// units are included, unless they are slower than others (see slowStart). If the program reports no units, see
// fitWall.
//
// The variances come from a random-effects model of the logarithm of the time. Its priors were estimated from the
// corpus of run times (package corpus); samples of all jobs of an experiment make them more precise: see Spread.
type Linear struct{}

// Name is "linear".
func (Linear) Name() string { return "linear" }

// Fit returns an error if there is no sample on the resource, or if no sample has a length.
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
	for _, s := range samples {
		if len(s.Units) != s.Length || s.Length == 0 {
			if err := obeys(samples); err != nil {
				return Estimate{}, fmt.Errorf("fit linear: %w", err)
			}
			return fitWall(samples, p.Spread)
		}
	}
	return fitUnits(samples, p.Spread), nil
}

// fitUnits fits samples whose programs report each unit.
func fitUnits(samples []Sample, known Spread) Estimate {
	skip := slowStart(samples)
	var runs [][]float64 // the units used of each sample
	fixed := make([]float64, len(samples))
	for i, s := range samples {
		fixed[i] = s.Wall
		for _, u := range s.Units {
			fixed[i] -= u
		}
		fixed[i] = math.Max(0, fixed[i])
		if len(s.Units) > skip {
			runs = append(runs, s.Units[skip:])
		}
	}
	variance, unitDF, rho := unitSpread(runs)
	spread := known.with(runs, variance, rho)
	e := Estimate{Rho: rho, DF: unitDF, PaceSD: math.Sqrt(spread.variance() * beyondSamples), PaceDF: spread.df()}
	weights, sum, squared := make([]float64, len(runs)), 0.0, 0.0
	for i, r := range runs {
		weights[i] = 1 / (spread.variance() + meanOf(len(r), variance, rho))
		sum += weights[i]
	}
	log := 0.0
	for i, r := range runs {
		w := weights[i] / sum
		log += w * logOf(stat.Mean(r, nil))
		squared += square(w) / weights[i] * beyondSamples
	}
	e.Slope = math.Exp(log)
	e.UnitSD, e.SlopeSE = e.Slope*math.Sqrt(variance), e.Slope*math.Sqrt(squared)
	e.Intercept = Median(fixed)
	var more []float64 // the leading units that are left out
	for _, s := range samples {
		if len(s.Units) >= skip {
			more = append(more, floats.Sum(s.Units[:skip])-float64(skip)*e.Slope)
		}
	}
	e.Intercept += Median(more)
	// The start-up of a run differs from the median as much as the start-ups of samples do.
	ss := startDF * square(startSD*e.Intercept)
	for _, f := range fixed {
		ss += square(f - Median(fixed))
	}
	e.InterceptSE = math.Sqrt(ss / (startDF + float64(len(fixed)-1)) * (1 + 1/float64(len(fixed))))
	return e
}

// A leading unit counts as slower than later ones if it takes slowBy times as long, and the difference is more than
// slowDeviations standard errors, in at least two samples.
const (
	slowBy         = 1.1
	slowDeviations = 2.5
)

// slowStart returns the number of leading units that are slower than later ones, by their logarithms. They are left
// out of the time per unit.
func slowStart(samples []Sample) int {
	for skip := 0; ; skip++ {
		var first, later []float64
		for _, s := range samples {
			for i, u := range s.Units {
				if i == skip {
					first = append(first, logOf(u))
				} else if i > skip {
					later = append(later, logOf(u))
				}
			}
		}
		if len(first) < 2 || len(later) < 3 {
			return skip
		}
		a, _ := meanSD(first)
		b, _ := meanSD(later)
		variance := (unitDF*square(unitSD) + squares(later)) / (unitDF + float64(len(later)-1))
		error := math.Sqrt(variance * (1/float64(len(first)) + 1/float64(len(later))))
		if slower := a - b; slower < math.Log(slowBy) || slower < slowDeviations*error {
			return skip
		}
	}
}

// fitWall fits the wall times of a program that reports no units. A wall time is (start-up + unit·length)·exp(ε); the
// spread of ε is that between runs. A few samples hardly determine the ratio of start-up to unit. So the estimate is
// the mean over many ratios, weighted by the likelihood of the wall times. A sample of the mean length keeps the
// measured time. If all samples have one length, the work is assumed to have no fixed time; the interval includes the
// doubt.
func fitWall(samples []Sample, known Spread) (Estimate, error) {
	variance := known.variance() + wallUnits
	mean, n, several := 0.0, float64(len(samples)), false
	for _, s := range samples {
		mean += float64(s.Length) / n
		several = several || s.Length != samples[0].Length
	}
	if mean == 0 {
		return Estimate{}, fmt.Errorf("fit linear: the samples have no length: %w", ErrUnfit)
	}
	// For each ratio: the logarithms of the times of a unit and of a sample of mean length, and the weight of the
	// ratio.
	var unit, whole, weights []float64
	ss := math.Inf(1)
	for step := -1; step <= ratioSteps; step++ {
		ratio, weight := 0.0, noStartup
		if step >= 0 {
			ratio = leastRatioOf * math.Pow(mostRatioOf/leastRatioOf, float64(step)/ratioSteps)
			weight = 1.0
		}
		logs := make([]float64, len(samples))
		for i, s := range samples {
			logs[i] = math.Log(math.Max(s.Wall, 1e-6) / (float64(s.Length) + ratio))
		}
		m, _ := meanSD(logs)
		left := squares(logs)
		ss = math.Min(ss, left)
		unit, whole = append(unit, m), append(whole, m+math.Log(mean+ratio))
		// The density is Student's t, because the unknown variance is integrated out.
		weights = append(weights, weight*math.Pow(1+left/(wallDF*variance), -(wallDF+n-1)/2))
	}
	log := stat.Mean(unit, weights)
	sd := math.Sqrt(stat.Moment(2, unit, weights))
	e := Estimate{Slope: math.Exp(log), DF: wallDF + n - 1, PaceDF: wallDF + n - 1}
	at := math.Exp(stat.Mean(whole, weights))
	if !several {
		e.Slope = at / mean
	}
	e.Intercept = math.Max(0, at-e.Slope*mean)
	v := (wallDF*variance + ss) / e.DF
	e.SlopeSE = e.Slope * math.Sqrt(square(sd)+v/n)
	e.InterceptSE = mean * e.Slope * sd
	e.PaceSD = math.Sqrt(v * beyondSamples)
	return e, nil
}

// squares returns the sum of the squared deviations from the mean.
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

// Median returns the median; with an even number of values, the mean of the two middle ones.
func Median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	n := len(s)
	return stat.Mean(s[(n-1)/2:n/2+1], nil)
}

// logOf returns the logarithm of a time in seconds. Times of 0, from a coarse clock, count as a microsecond.
func logOf(seconds float64) float64 { return math.Log(math.Max(seconds, 1e-6)) }
