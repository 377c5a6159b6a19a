package estimator

import (
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Correction is the correction of a job's prediction from finished runs, relative to the prediction before all of them.
type Correction struct {
	// Factor is the ratio of the next run's time to its prediction; Low and High bound it at a level.
	Factor, Low, High float64
	// Runs is the number of runs it was learned from.
	Runs int
}

// Corrections learn the errors of predictions from the finished runs of jobs on a machine. The logarithm of the ratio
// of run time to prediction is smoothed exponentially (Holt, 1957), in two parts. One is the same for all jobs on the same
// number of threads, as jobs are sampled at about the same time, and a slow machine is slow for all of them. The other
// belongs to the job. The zero value has learned nothing.
type Corrections struct {
	shared   map[int]float64 // by number of threads
	own      map[string]*ownCorrection
	variance float64 // of a run about its expectation
	runs     int
}

type ownCorrection struct {
	part  float64
	cells int // in which it has run
}

// Ran are the runs of a job in a cell: the logarithms of their ratios of run time to prediction.
type Ran struct {
	Job     string
	Threads int
	Longer  []float64
}

const (
	// leastGain and leastVariance are the least weights of new data: of a cell in the
	// expectation of the next, and of a run in the variance. They apply once plain means
	// would give new data less weight.
	leastGain, leastVariance = 0.3, 0.1
	// priorRuns is the weight of usualSpread, in runs.
	priorRuns = 1
	// sharedPart is the fraction of a run's deviation that all jobs on its number of threads share.
	sharedPart = 0.5
	// usualSpread is the standard deviation of runs on a machine without measurements.
	usualSpread = 0.08
)

// Learn learns from the runs of a cell. Cells are to be learned in their order.
func (c *Corrections) Learn(cell []Ran) {
	cell = slices.DeleteFunc(slices.Clone(cell), func(r Ran) bool { return len(r.Longer) == 0 })
	if c.own == nil {
		c.own, c.shared, c.variance = map[string]*ownCorrection{}, map[int]float64{}, square(usualSpread)
	}
	before, jobs := maps.Clone(c.shared), map[int]float64{} // before: as it was expected of all runs of the cell
	for _, r := range cell {
		jobs[r.Threads]++
	}
	for _, r := range cell {
		shared := before[r.Threads]
		own := c.own[r.Job]
		if own == nil {
			own = &ownCorrection{}
			c.own[r.Job] = own
		}
		mean, _ := meanSD(r.Longer)
		for _, longer := range r.Longer {
			if own.cells > 0 { // the first shows the bias of the samples
				c.variance += max(leastVariance, 1/float64(c.runs+priorRuns)) * (square(longer-shared-own.part) - c.variance)
			}
			c.runs++
		}
		step := max(leastGain, 1/(float64(own.cells)+1.1)) * (mean - shared - own.part)
		c.shared[r.Threads] += sharedPart * step / jobs[r.Threads]
		own.part += (1 - sharedPart) * step
		own.cells++
	}
}

// Next predicts the next run of a job on a number of threads, at a level. before is the standard deviation of such a
// logarithm that the samples say, which counts for a job that has not run. Without runs on as many threads, the factor
// is 1 and there is no interval.
func (c *Corrections) Next(job string, threads int, before, level float64) Correction {
	expected, known := c.shared[threads]
	if !known {
		return Correction{Factor: 1}
	}
	variance := c.variance
	if own := c.own[job]; own != nil {
		expected += own.part
	} else {
		variance += square(before) * (1 - sharedPart)
	}
	// Smoothing with gain g has a variance of g/(2-g) times that of a run. The variance itself is smoothed as well: it
	// is as uncertain as a plain variance of 2/leastVariance-1 runs, or of all runs if there are fewer.
	df := min(float64(c.runs+priorRuns), 2/leastVariance-1)
	sd := math.Sqrt(variance * (1 + leastGain/(2-leastGain)))
	width := distuv.StudentsT{Sigma: sd, Nu: df}.Quantile((1 + level) / 2)
	return Correction{
		Factor: math.Exp(expected), Low: math.Exp(expected - width), High: math.Exp(expected + width), Runs: c.runs,
	}
}
