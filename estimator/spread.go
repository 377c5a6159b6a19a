package estimator

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// Spread is how much runs of a job on a machine differ in time per unit, for reasons that do not average out over
// units: the clock rate, other jobs, other programs. It is a variance of logarithms, estimated from samples of many
// jobs and combined with a prior as an inverse gamma distribution (Gelman et al., "Bayesian Data Analysis", 2013).
// The zero value has only the prior.
type Spread struct {
	// Squares is the sum of squared deviations of the samples of a job from their mean, less the part due to the
	// spread of units. DF is its degrees of freedom.
	Squares, DF float64
}

// The prior of any machine, from the half of the corpus of run times that is for fitting. Each spread is a standard
// deviation of logarithms, with a weight in degrees of freedom.
const (
	// paceSD is the spread of samples' times per unit, unitSD of units around the mean of their run, startSD of
	// start-ups.
	paceSD, paceDF   = 0.10, 4.0
	unitSD, unitDF   = 0.12, 3.0
	startSD, startDF = 0.15, 3.0
	// beyondSamples is the ratio of the variance between runs some minutes apart to the variance between samples of
	// one moment.
	beyondSamples = 2.0
	// mostPeers limits the weight of samples of other jobs.
	mostPeers = 20.0
	// unitRho is the correlation of consecutive units' times, with the weight of rhoPairs pairs.
	unitRho, rhoPairs = 0.3, 16.0
)

// Constants for programs without reported units: the variance of a sample's units, the weight of the prior, and the
// ratios of start-up to unit that are tried, in ratioSteps steps of equal ratio. A start-up of 0 is tried too, with
// the weight of noStartup of them.
const (
	wallUnits    = 0.003
	wallDF       = 3.0
	leastRatioOf = 0.05
	mostRatioOf  = 50.0
	noStartup    = 4.0
	ratioSteps   = 40
)

// variance returns the posterior mean of the variance; df returns its degrees of freedom.
func (s Spread) variance() float64 { return (paceDF*square(paceSD) + s.Squares) / s.df() }
func (s Spread) df() float64       { return paceDF + s.DF }

// SpreadOf returns the spread of samples on one machine. Each list has the samples of one job on one resource.
// Samples without reported units count by their wall times, if at least two have the same length.
func SpreadOf(jobs [][]Sample) Spread {
	var all Spread
	for _, samples := range jobs {
		var runs [][]float64
		skip := slowStart(samples)
		for _, s := range samples {
			if s.Length > 0 && len(s.Units) == s.Length && len(s.Units) > skip {
				runs = append(runs, s.Units[skip:])
			}
		}
		if len(runs) > 1 {
			variance, _, rho := unitSpread(runs)
			one := Spread{}.with(runs, variance, rho)
			all.Squares, all.DF = all.Squares+one.Squares, all.DF+one.DF
		}
	}
	if all.DF > mostPeers {
		all.Squares, all.DF = all.Squares*mostPeers/all.DF, mostPeers
	}
	return all
}

// with adds the runs of a job. Its units have the given variance (of logarithms) and correlation.
func (s Spread) with(runs [][]float64, variance, rho float64) Spread {
	if len(runs) < 2 {
		return s
	}
	paces, explained := make([]float64, len(runs)), 0.0
	for i, r := range runs {
		paces[i] = logOf(stat.Mean(r, nil))
		explained += meanOf(len(r), variance, rho) / float64(len(runs))
	}
	df := float64(len(runs) - 1)
	// Runs of few units say little about the spread between runs.
	trust := square(paceSD) / (square(paceSD) + explained)
	s.Squares += trust * math.Max(0, squares(paces)-df*explained)
	s.DF += trust * df
	return s
}

// meanOf returns the variance of the mean of n consecutive units, an AR(1) process.
func meanOf(n int, variance, rho float64) float64 {
	return variance * math.Min(1, (1+rho)/(1-rho)/float64(n))
}

// unitSpread returns the variance of the logarithms of units around the mean of their run, and the correlation of a unit with
// the next one of its run, both joined with the priors.
func unitSpread(runs [][]float64) (variance, df, rho float64) {
	var ss, products, n, pairs float64
	for _, r := range runs {
		m := stat.Mean(r, nil)
		for i, u := range r {
			off := (u - m) / math.Max(m, 1e-9)
			ss += square(off)
			if i > 0 {
				products += off * (r[i-1] - m) / math.Max(m, 1e-9)
				pairs++
			}
		}
		n += float64(len(r) - 1)
	}
	df = unitDF + n
	variance = (unitDF*square(unitSD) + ss) / df
	if ss > 0 && n > 0 {
		rho = products / ss * (n + float64(len(runs))) / math.Max(pairs, 1)
	}
	rho = (rhoPairs*unitRho + pairs*rho) / (rhoPairs + pairs)
	return variance, df, math.Min(0.9, math.Max(0, rho))
}
