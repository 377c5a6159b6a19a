package estimator

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Correction is what finished runs say of the next run of a job, against what was predicted before any of them.
type Correction struct {
	// Factor is how many times as long as predicted the next run takes; Low and High bound it at a level.
	Factor, Low, High float64
	// Runs is how many runs it was learned from.
	Runs int
}

// Corrections learn from the finished runs of jobs on a machine how far off their predictions are, by exponential
// smoothing. The zero value has learned nothing.
//
// The unit is the logarithm of actual over predicted run time. Its level is smoothed over cells for each job, and over
// all jobs together: jobs are sampled at about the same time, so a job that has not run takes over half of what the
// others missed. Intervals are those of Student's t distribution, from the errors of the smoothed levels in earlier cells.
type Corrections struct {
	jobs map[string]*smoothed
	all  smoothed
	runs int
}

// Ran are the runs of a job in a cell: the logarithms of how many times as long as predicted each took.
type Ran struct {
	Job string
	// Before is the standard deviation of such a logarithm that the samples say.
	Before float64
	Longer []float64
}

// The parameters of the smoothing, chosen on made-up machines: steady ones, of two modes, that drift, and with neighbours.
const (
	levelLasts  = 0.6  // how much of a cell's weight in a level is left one cell later
	errorLasts  = 0.9  // the same of a cell's squared errors
	priorWeight = 0.1  // of the level before the first run, in cells
	sharedPart  = 0.5  // how much of the level of all jobs a job takes over
	usualSD     = 0.05 // the standard deviation of runs on a machine of which nothing is known yet
)

// smoothed is a weighted mean of levels, and one of squared errors with their number.
type smoothed struct{ weight, sum, errors, squares float64 }

func (s *smoothed) age() {
	s.weight, s.sum = s.weight*levelLasts, s.sum*levelLasts
	s.errors, s.squares = s.errors*errorLasts, s.squares*errorLasts
}

// add takes in the mean of n runs in a cell, and the sum of their squared errors.
func (s *smoothed) add(level, n, squares float64) {
	s.weight, s.sum = s.weight+1, s.sum+level
	s.errors, s.squares = s.errors+n, s.squares+squares
}

// level is the smoothed level, with its value before the first run.
func (s *smoothed) level(before float64) float64 {
	return (s.sum + priorWeight*before) / (s.weight + priorWeight)
}

// level predicts the logarithm of the next run of a job.
func (c *Corrections) level(job string) float64 {
	shared := sharedPart * c.all.level(0)
	if s := c.jobs[job]; s != nil {
		return s.level(shared)
	}
	return shared
}

// Learn learns from the runs of a cell. Cells are to be learned in their order.
func (c *Corrections) Learn(cell []Ran) {
	if c.jobs == nil {
		c.jobs = map[string]*smoothed{}
	}
	levels := make([]float64, len(cell))
	learned := false
	for i, r := range cell {
		levels[i] = c.level(r.Job)
		learned = learned || len(r.Longer) > 0
	}
	if !learned {
		return
	}
	c.all.age()
	for _, s := range c.jobs {
		s.age()
	}
	for i, r := range cell {
		if len(r.Longer) == 0 {
			continue
		}
		mean, _ := meanSD(r.Longer)
		n, squares := float64(len(r.Longer)), 0.0
		for _, y := range r.Longer {
			squares += (y - levels[i]) * (y - levels[i])
		}
		c.all.add(mean, n, squares)
		if s := c.jobs[r.Job]; s != nil {
			s.add(mean, n, squares)
		} else { // its first error is that of its samples, which the level has learned now
			c.jobs[r.Job] = &smoothed{weight: 1, sum: mean}
		}
		c.runs += len(r.Longer)
	}
}

// Next predicts the next run of a job at a level. before is as in Ran, of a job that has not run.
func (c *Corrections) Next(job string, before, level float64) Correction {
	if c.runs == 0 {
		return Correction{Factor: 1}
	}
	errors, squares, prior := c.all.errors, c.all.squares, usualSD*usualSD+before*before
	if s := c.jobs[job]; s != nil {
		errors, squares, prior = s.errors, s.squares, usualSD*usualSD
	}
	next := distuv.StudentsT{Mu: c.level(job), Sigma: math.Sqrt((prior + squares) / (1 + errors)), Nu: 2 + errors}
	return Correction{
		Factor: math.Exp(next.Mu), Low: math.Exp(next.Quantile((1 - level) / 2)),
		High: math.Exp(next.Quantile((1 + level) / 2)), Runs: c.runs,
	}
}
