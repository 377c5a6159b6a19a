package estimator

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// Linear is the run time of a job that does the same work in every unit:
// fixed costs (start-up, save) plus a time for each unit.
//
// Where the program reports its units, each sample has a pace, the mean of its units. The slope is the geometric mean of
// the paces, each weighted by its precision: one over the sum of the variance between runs and the variance of the mean of its units. The
// intercept is the median time beyond the units. The first units count, unless the job's own units say that they are
// slower (see slowStart). Where the program reports nothing, see fitWall.
//
// The variances come from a random-effects model of the logarithm of the time, with priors that were estimated on
// the corpus of run times (package corpus) and that samples of all jobs of an experiment sharpen: see Spread.
//
// With marks instead, the pace is the pace of the longest sample, from its
// first mark to its last.
type Linear struct{}

// Name is "linear".
func (Linear) Name() string { return "linear" }

// Fit returns an error when there is no sample on the resource, or none has a length.
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

// fitUnits fits samples that report each unit.
func fitUnits(samples []Sample, known Spread) Estimate {
	skip := slowStart(samples)
	var runs [][]float64 // the units of each sample that count
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
	var more []float64 // of the leading units
	for _, s := range samples {
		if len(s.Units) >= skip {
			more = append(more, floats.Sum(s.Units[:skip])-float64(skip)*e.Slope)
		}
	}
	e.Intercept += Median(more)
	// The start-up of the run differs from its median as the start-ups of samples do.
	ss := startDF * square(startSD*e.Intercept)
	for _, f := range fixed {
		ss += square(f - Median(fixed))
	}
	e.InterceptSE = math.Sqrt(ss / (startDF + float64(len(fixed)-1)) * (1 + 1/float64(len(fixed))))
	return e
}

// A leading unit is slower than later ones if it takes slowBy times as long, by more than slowDeviations standard
// errors, and at least two samples say so.
const (
	slowBy         = 1.1
	slowDeviations = 2.5
)

// slowStart returns the number of leading units that do not belong to the pace: those that are slower than the later
// ones by their logarithms.
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

// fitWall fits the wall times of a program that reports nothing: each is (start-up + unit·length)·exp(ε), with ε as
// runs differ. The ratio of the start-up to a unit is not known, and few samples hardly say it. So the estimate is the
// mean over all ratios, each as likely as it makes the wall times; the time of a sample of the mean length is that of
// the samples. Samples of one length are taken as work without fixed costs; the interval knows better.
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
	// Of each ratio: the logarithms of the unit and of a sample of the mean length, and how likely it is.
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
		// Student's t: the variance is integrated out.
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

// Median is the mean of the two middle values where there are two.
func Median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	n := len(s)
	return stat.Mean(s[(n-1)/2:n/2+1], nil)
}

// logOf is the logarithm of a time; times that a coarse clock calls 0 are a microsecond.
func logOf(seconds float64) float64 { return math.Log(math.Max(seconds, 1e-6)) }
