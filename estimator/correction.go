package estimator

import (
	"cmp"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Correction corrects the prediction of a job's run time by finished runs, relative to the prediction before all of
// them.
type Correction struct {
	// Factor is the predicted ratio of the next run's time to its prediction. Low and High are its interval at a
	// level.
	Factor, Low, High float64
	// Runs is the number of runs from which the correction was computed.
	Runs int
}

// Corrections computes corrections from finished runs on a machine, which are additional samples of the jobs. The
// zero value has no runs.
//
// The logarithm of the ratio of run time to prediction has three normal parts (random effects; see Robinson, "That
// BLUP is a good thing", 1991). One is common to all jobs: a slow machine slows all of them. One belongs to the job;
// its prior is as wide as the interval of the job's samples. The third belongs to the run.
type Corrections struct {
	jobs  []ranJob
	index map[string]int // name of a job → its index in jobs
	runs  int
	known bool // common is up to date
	common
	level, t float64 // level of t; t is the quantile of Student's t
	priorSD  float64 // of the common part; 0 means the default, commonSD
}

// common is the part of corrections that all jobs share: the expected logarithm with its variance, and the variance
// of runs with its degrees of freedom.
type common struct{ mean, variance, ofRuns, df float64 }

// ranJob is a job with finished runs. variance is the prior variance of its part; cells and sum are the weight of its
// cells and the weighted sum of their means. runs, mean and squares are the number of runs, their mean and the sum of
// squared deviations.
type ranJob struct{ variance, cells, sum, runs, mean, squares float64 }

// Ran has the runs of a job in a cell, as logarithms of the ratio of run time to prediction. Before is the standard
// deviation of such a logarithm, by the job's samples.
type Ran struct {
	Job    string
	Before float64
	Longer []float64
}

// Priors of corrections, as standard deviations of logarithms and their degrees of freedom, for the common part and
// for runs. ownPart is the part of a prediction's variance by samples that belongs to the job; the rest belongs to
// its runs.
const (
	commonSD, commonDF = 0.1, 2.0
	runSD, runDF       = 0.12, 4.0
	ownPart            = 0.5
	// keep is the factor on the weight of earlier cells of a job after each later cell, because the load of a machine
	// changes.
	keep = 0.8
)

// Learn adds the runs of a cell. The runs of one job in a cell count as one, because they met the same state of the
// machine.
func (c *Corrections) Learn(cell ...Ran) {
	if c.index == nil {
		c.index = map[string]int{}
	}
	for _, r := range cell {
		if len(r.Longer) == 0 {
			continue
		}
		i, ok := c.index[r.Job]
		if !ok {
			i = len(c.jobs)
			c.index[r.Job], c.jobs = i, append(c.jobs, ranJob{variance: ownPart * square(r.Before)})
		}
		j, sum := &c.jobs[i], 0.0
		for _, y := range r.Longer {
			j.runs++
			off := y - j.mean
			j.mean += off / j.runs
			j.squares += off * (y - j.mean)
			sum += y
		}
		j.cells, j.sum = keep*j.cells+1, keep*j.sum+sum/float64(len(r.Longer))
		c.runs += len(r.Longer)
	}
	c.known, c.level = false, 0
}

// shared estimates the common part. Its variance is estimated together with its value (EM; Dempster, Laird & Rubin,
// 1977). So a machine that became five times slower after the samples is not mistaken for one that hardly changed.
func (c *Corrections) shared() common {
	if c.known {
		return c.common
	}
	squares, df := 0.0, 0.0
	for _, j := range c.jobs {
		squares, df = squares+j.squares, df+j.runs-1
	}
	if df > mostPeers {
		squares, df = squares*mostPeers/df, mostPeers
	}
	s := common{ofRuns: (runDF*square(runSD) + squares) / (runDF + df), df: runDF + df}
	first := square(cmp.Or(c.priorSD, commonSD))
	prior := first
	for range emSteps {
		sum, precision := 0.0, 1/prior
		for _, j := range c.jobs {
			w := 1 / (j.variance + s.ofRuns/j.cells)
			sum, precision = sum+w*j.sum/j.cells, precision+w
		}
		s.mean, s.variance = sum/precision, 1/precision
		prior = (commonDF*first + square(s.mean) + s.variance) / (commonDF + 1)
	}
	c.common, c.known = s, true
	return s
}

const emSteps = 10

// expect returns the expected logarithm of the ratio of the job's next run time to its prediction, and its variance.
func (c *Corrections) expect(job string, before float64) (mean, variance float64) {
	s := c.shared()
	i, ran := c.index[job]
	if !ran {
		return s.mean, s.variance + ownPart*square(before)
	}
	j := c.jobs[i]
	w := j.variance / (j.variance + s.ofRuns/j.cells)
	return s.mean + w*(j.sum/j.cells-s.mean), (1-w)*j.variance + square(1-w)*s.variance
}

// Next predicts the next run of a job, with an interval at the level. before is Ran.Before, for a job without runs.
// If no job has runs, the factor is 1 without an interval.
func (c *Corrections) Next(job string, before, level float64) Correction {
	if c.runs == 0 {
		return Correction{Factor: 1}
	}
	mean, variance := c.expect(job, before)
	if c.level != level {
		c.level, c.t = level, distuv.StudentsT{Sigma: 1, Nu: c.df}.Quantile((1+level)/2)
	}
	width := c.t * math.Sqrt(variance+c.ofRuns)
	return Correction{math.Exp(mean), math.Exp(mean - width), math.Exp(mean + width), c.runs}
}
