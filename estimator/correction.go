package estimator

import (
	"cmp"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Correction is the correction of a job's prediction from finished runs, relative to the prediction before all of them.
type Correction struct {
	// Factor is the ratio of the next run's time to its prediction; Low and High bound it at a level.
	Factor, Low, High float64
	// Runs is the number of runs it was learned from.
	Runs int
}

// Corrections learn from the finished runs of jobs on a machine, which are further samples of the jobs. The logarithm of
// the ratio of a run's time to its prediction has three normal parts (random effects; see Robinson, "That BLUP is a good
// thing", 1991). One is common to all jobs: a slow machine is slow for all of them. One is the job's, whose prior is as
// wide as the interval of its samples. The third is the run's. The zero value has learned nothing.
type Corrections struct {
	jobs  []ranJob
	index map[string]int // of jobs, by name
	runs  int
	known bool // whether common is up to date
	common
	level, t float64 // the last quantile of Student's t
	priorSD  float64 // of the common part; 0 means commonSD
}

// common is the part of a correction that all jobs share: the expected logarithm with its variance, and the variance
// of runs with its degrees of freedom.
type common struct{ mean, variance, ofRuns, df float64 }

// ranJob is a job that has run: the prior variance of its part; the weight of its cells, with the sum of their means; and
// the number of runs, with their mean and the sum of their squared deviations.
type ranJob struct{ variance, cells, sum, runs, mean, squares float64 }

// Ran are the runs of a job in a cell: the logarithms of their ratios of run time to prediction. Before is the standard
// deviation of such a logarithm by the samples.
type Ran struct {
	Job    string
	Before float64
	Longer []float64
}

// The priors of corrections, as standard deviations of logarithms with their degrees of freedom: of the common part, and
// of runs. ownPart is the part of the variance of a prediction by samples that belongs to the job, and not to its runs.
const (
	commonSD, commonDF = 0.1, 2.0
	runSD, runDF       = 0.12, 4.0
	ownPart            = 0.5
	// keep is the weight of earlier cells of a job each time that another has run: the load of a machine changes.
	keep = 0.8
)

// Learn learns from the runs of a cell. Runs of one job in a cell see one moment of the machine: they count as one.
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

// shared estimates what all jobs share. The variance of the common part depends on that part (EM; Dempster, Laird &
// Rubin, 1977): a machine that is five times slower than during the samples is not taken for one that hardly differs.
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

// expect returns the expected logarithm of the ratio of the job's next runs to their predictions, and its variance.
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

// Next predicts the next run of a job at a level. before is as in Ran, for a job that has not run. Without any runs, the
// factor is 1 and there is no interval.
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
