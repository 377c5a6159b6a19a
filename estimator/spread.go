package estimator

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// Spread is how far runs of one job on a machine differ in pace, for reasons that no number of units averages out: the
// clock, neighbors, other programs. It is the variance of the logarithm, estimated from samples of many jobs; the zero
// value is the prior's. It is joined with a prior as an inverse gamma distribution (Gelman et al., "Bayesian
// Data Analysis", 2013).
type Spread struct {
	// Squares are the squared deviations of samples of a job from their mean, beyond those that the spread of units
	// explains, with DF degrees of freedom.
	Squares, DF float64
}

// The prior of any machine, from the half of the corpus of run times that is for choosing. Each spread is a standard
// deviation of logarithms, with its weight in degrees of freedom.
const (
	// paceSD is the spread of the paces of samples, unitSD of units about their run's mean, startSD of start-ups.
	paceSD, paceDF   = 0.10, 4.0
	unitSD, unitDF   = 0.12, 3.0
	startSD, startDF = 0.15, 3.0
	// beyondSamples is how many times the variance of runs some minutes apart exceeds the variance of samples of one moment.
	beyondSamples = 2.0
	// mostPeers bounds the weight of other jobs' samples.
	mostPeers = 20.0
	// unitRho is the correlation of a unit's time with the next one's, with the weight of rhoPairs pairs.
	unitRho, rhoPairs = 0.3, 16.0
)

// Of wall times alone: the variance of a sample's units, the weight of the prior, and the ratios of the start-up to a
// unit that are considered, in ratioSteps steps of equal ratio, besides none, which counts as much as noStartup of them.
const (
	wallUnits    = 0.003
	wallDF       = 3.0
	leastRatioOf = 0.05
	mostRatioOf  = 50.0
	noStartup    = 4.0
	ratioSteps   = 40
)

// variance is the posterior mean, df the degrees of freedom behind it.
func (s Spread) variance() float64 { return (paceDF*square(paceSD) + s.Squares) / s.df() }
func (s Spread) df() float64       { return paceDF + s.DF }

// SpreadOf is the spread of the samples of jobs that ran on one machine, each list of one job on one resource. Those
// that report no units count by their wall times, where two have one length.
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

// with adds the runs of a job, whose units have a variance (of logarithms) and a correlation.
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
	// Runs of few units say little of the spread between runs.
	trust := square(paceSD) / (square(paceSD) + explained)
	s.Squares += trust * math.Max(0, squares(paces)-df*explained)
	s.DF += trust * df
	return s
}

// meanOf is the variance of the mean of n units that follow each other as an AR(1) process.
func meanOf(n int, variance, rho float64) float64 {
	return variance * math.Min(1, (1+rho)/(1-rho)/float64(n))
}

// unitSpread is the variance of the logarithms of units about the mean of their run, and the correlation of a unit with
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
