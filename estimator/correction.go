package estimator

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Correction is what finished runs say of the next run of a job, against what was predicted before any of them.
type Correction struct {
	// Factor is how many times as long as predicted the next run takes; Low and High bound it at a level.
	Factor, Low, High float64
	// Runs is how many runs it was learned from.
	Runs int
}

// Corrections learn from the finished runs of jobs on a machine how far off their predictions are. The zero value has
// learned nothing.
//
// The logarithm of how many times as long as predicted a run takes is the sum of a constant of its job, which its
// samples missed; the state of the machine at the time, which lasts from one cell to the next in part (an AR(1)
// process) and is the same for all jobs; and what is the run's own. The jobs were sampled at about the same time, so
// part of the constants is the same as well: the first runs of one job also say something of the others. How large
// these parts are is not known: each of some values counts as much as it explains the runs so far (a mixture of Kalman
// filters), so that intervals are wide after the first runs, and as wide as runs really differ after many.
type Corrections struct {
	jobs    []correctedJob
	filters []machineState
	cells   int
	runs    int
}

// correctedJob is a job that has run: the standard deviation of its logarithms before any run had finished, and the
// cell in which it ran last.
type correctedJob struct {
	name   string
	before float64
	last   int
}

// Ran are the runs of a job in a cell: the logarithms of how many times as long as predicted each took.
type Ran struct {
	Job string
	// Before is the standard deviation of such a logarithm that the samples say.
	Before float64
	Longer []float64
}

// mostCorrected is of how many jobs the constants are known at once. Of more, those that ran last are.
const mostCorrected = 32

// Learn learns from the runs of a cell. Cells are to be learned in their order.
func (c *Corrections) Learn(cell []Ran) {
	cell = slices.DeleteFunc(slices.Clone(cell), func(r Ran) bool { return len(r.Longer) == 0 })
	if len(cell) == 0 {
		return
	}
	if c.filters == nil {
		c.filters = machineStates()
	}
	c.cells++
	for _, r := range cell {
		i := c.place(r)
		mean, _ := meanSD(r.Longer)
		runs := atOnce{float64(len(r.Longer)), mean, squares(r.Longer)}
		for k := range c.filters {
			f := &c.filters[k]
			f.add(f.looks(c.jobs[i].before, i), runs)
		}
		c.jobs[i].last = c.cells
		c.runs += len(r.Longer)
	}
	for k := range c.filters {
		c.filters[k].step()
	}
}

// place is the index of a job that has run. The first time it takes a new place, or that of the job that ran longest ago.
func (c *Corrections) place(r Ran) int {
	i := slices.IndexFunc(c.jobs, func(j correctedJob) bool { return j.name == r.Job })
	if i >= 0 {
		return i
	}
	job := correctedJob{r.Job, r.Before, c.cells}
	if i = len(c.jobs); i < mostCorrected {
		c.jobs = append(c.jobs, job)
		for k := range c.filters {
			c.filters[k].grow()
		}
		return i
	}
	oldest := slices.MinFunc(c.jobs, func(a, b correctedJob) int { return a.last - b.last })
	i = slices.Index(c.jobs, oldest)
	c.jobs[i] = job
	for k := range c.filters {
		c.filters[k].renew(i)
	}
	return i
}

// Next predicts the next run of a job at a level. before is as in Ran, of a job that has not run.
func (c *Corrections) Next(job string, before, level float64) Correction {
	if c.runs == 0 {
		return Correction{Factor: 1}
	}
	i := slices.IndexFunc(c.jobs, func(j correctedJob) bool { return j.name == job })
	if i >= 0 {
		before = c.jobs[i].before
	}
	best := math.Inf(-1)
	for k := range c.filters {
		best = max(best, c.filters[k].likelihood)
	}
	var next []normal
	mean, sum := 0.0, 0.0
	for k := range c.filters {
		f := &c.filters[k]
		if weight := math.Exp(f.likelihood - best); weight > leastWeight {
			n := f.next(f.looks(before, i), weight)
			next = append(next, n)
			mean, sum = mean+weight*n.mean, sum+weight
		}
	}
	for k := range next {
		next[k].weight /= sum
	}
	return Correction{
		Factor: math.Exp(mean / sum),
		Low:    math.Exp(quantile(next, (1-level)/2)), High: math.Exp(quantile(next, (1+level)/2)),
		Runs: c.runs,
	}
}

// The values that the unknowns of a machine may have: how much of its state lasts from one group of runs to the next,
// and the standard deviations of the state and of what is a run's own, as logarithms. Before any run has finished those
// around usualSD are the likeliest.
var (
	lastings = []float64{0, 0.4, 0.7, 0.9}
	usualSDs = []float64{0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32}
)

// missedBy is how many times as far off as their interval says samples may be, and how likely that is.
var missedBy = []struct{ times, chance float64 }{{1, 0.75}, {3, 0.25}}

const (
	usualSD  = 0.05
	usualLog = 1.2 // the standard deviation of the logarithm of these standard deviations
	// sharedPart is how much of the variance of the constants all jobs share.
	sharedPart = 0.5
	// leastWeight is that of what counts, against the likeliest.
	leastWeight = 1e-5
)

// machineState is a Kalman filter. What it filters are, in this order, what all constants share and the state of the
// machine, and for each job the rest of its constant; the constants as multiples of their standard deviations.
type machineState struct {
	missed, last, state, own float64
	mean                     []float64
	cov                      [][]float64
	likelihood               float64 // its logarithm
}

// Where the first two of what a filter filters are, and those of jobs begin.
const (
	atShared = iota
	atState
	atJobs
)

// machineStates are filters for all values that the unknowns may have.
func machineStates() []machineState {
	rare := func(sd float64) float64 { return -square(math.Log(sd/usualSD)/usualLog) / 2 }
	var all []machineState
	for _, missed := range missedBy {
		for _, last := range lastings {
			for _, state := range usualSDs {
				for _, own := range usualSDs {
					all = append(all, machineState{
						missed: missed.times, last: last, state: state, own: own,
						mean: make([]float64, atJobs), cov: [][]float64{{1, 0}, {0, square(state)}},
						likelihood: math.Log(missed.chance) + rare(state) + rare(own),
					})
				}
			}
		}
	}
	return all
}

// grow adds a job.
func (f *machineState) grow() {
	for i := range f.cov {
		f.cov[i] = append(f.cov[i], 0)
	}
	f.mean = append(f.mean, 0)
	f.cov = append(f.cov, make([]float64, len(f.mean)))
	f.cov[len(f.cov)-1][len(f.cov)-1] = 1
}

// renew forgets the job at a place, where another one begins.
func (f *machineState) renew(job int) {
	at := atJobs + job
	for i := range f.cov {
		f.cov[i][at], f.cov[at][i] = 0, 0
	}
	f.mean[at], f.cov[at][at] = 0, 1
}

// look is what a run shows: a sum of what a filter filters, each times a factor. A job that has not run has no place,
// and so its own part of the constant is added to the variance.
type look struct {
	at      []int
	times   []float64
	unknown float64 // the variance
}

// looks is what a run of a job shows, whose place is below 0 if it has not run.
func (f *machineState) looks(before float64, job int) look {
	shared, rest := f.missed*before*math.Sqrt(sharedPart), f.missed*before*math.Sqrt(1-sharedPart)
	if job < 0 {
		return look{[]int{atShared, atState}, []float64{shared, 1}, square(rest)}
	}
	return look{[]int{atShared, atState, atJobs + job}, []float64{shared, 1, rest}, 0}
}

// expect is the mean and the variance of what a run shows, without what is its own, and its covariance with what is
// filtered.
func (f *machineState) expect(l look) (mean, variance float64, across []float64) {
	across = make([]float64, len(f.mean))
	for k, i := range l.at {
		mean += l.times[k] * f.mean[i]
		for r := range across {
			across[r] += l.times[k] * f.cov[i][r]
		}
	}
	variance = l.unknown
	for k, i := range l.at {
		variance += l.times[k] * across[i]
	}
	return mean, variance, across
}

// atOnce are n runs of a job at about the same time: their mean, and the sum of the squares around it.
type atOnce struct{ n, mean, squares float64 }

// add learns from runs of a job.
func (f *machineState) add(l look, runs atOnce) {
	// Around their mean the runs say how large their own part is.
	f.likelihood -= (runs.n-1)*math.Log(f.own) + runs.squares/(2*square(f.own))
	mean, variance, across := f.expect(l)
	variance += square(f.own) / runs.n
	off := runs.mean - mean
	f.likelihood -= (math.Log(variance) + off*off/variance) / 2
	for r, a := range across {
		f.mean[r] += a / variance * off
		for c, b := range across {
			f.cov[r][c] -= a * b / variance
		}
	}
}

// step goes on to the next cell.
func (f *machineState) step() {
	f.mean[atState] *= f.last
	for i := range f.cov {
		f.cov[i][atState] *= f.last
		f.cov[atState][i] *= f.last
	}
	f.cov[atState][atState] += (1 - square(f.last)) * square(f.state)
}

// next is the distribution of the next run.
func (f *machineState) next(l look, weight float64) normal {
	mean, variance, _ := f.expect(l)
	return normal{mean, math.Sqrt(max(0, variance) + square(f.own)), weight}
}

// normal is a normal distribution in a mixture.
type normal struct{ mean, sd, weight float64 }

// quantile is the value below which a mixture is with probability p.
func quantile(of []normal, p float64) float64 {
	low := slices.MinFunc(of, func(a, b normal) int { return compareAt(a, b, -10) }).at(-10)
	high := slices.MaxFunc(of, func(a, b normal) int { return compareAt(a, b, 10) }).at(10)
	for range 40 {
		middle, below := (low+high)/2, 0.0
		for _, n := range of {
			below += n.weight * distuv.UnitNormal.CDF((middle-n.mean)/n.sd)
		}
		if below < p {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2
}

// at is the value so many standard deviations from the mean.
func (n normal) at(deviations float64) float64 { return n.mean + deviations*n.sd }

func compareAt(a, b normal, deviations float64) int {
	switch x, y := a.at(deviations), b.at(deviations); {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}
