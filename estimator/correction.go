package estimator

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Correction is what finished runs of a job say of the next one, against what was predicted before any of them.
type Correction struct {
	// Factor is how many times as long as predicted the next run takes; Low and High bound it at a level.
	Factor, Low, High float64
	// Runs is how many runs it was learned from.
	Runs int
}

// Correct predicts the next run of a job from those that have finished, in groups of runs at about the same time (a
// cell each), in their order: the logarithms of how many times as long as predicted each took. before is the
// standard deviation of that logarithm before any run had finished.
//
// The logarithm of a run is a constant, which the samples missed; the state of the machine at the time of its group,
// which lasts from one group to the next in part (an AR(1) process); and what is the run's own. How large the last two
// are is not known: each of some values counts as much as it explains the runs so far (a mixture of Kalman filters),
// so that intervals are wide after the first runs, and as wide as runs really differ after many.
func Correct(groups [][]float64, before, level float64) Correction {
	c := Correction{Factor: 1}
	var filters []machineState
	best := math.Inf(-1)
	var seen []atOnce
	for _, g := range groups {
		if c.Runs += len(g); len(g) > 0 {
			mean, _ := meanSD(g)
			seen = append(seen, atOnce{float64(len(g)), mean, squares(g)})
		}
	}
	if c.Runs == 0 {
		return c
	}
	for _, missed := range missedBy {
		for _, last := range lastings {
			for _, state := range usualSDs {
				for _, own := range usualSDs {
					f := newMachineState(missed.times*before, last, state, own)
					f.likelihood += math.Log(missed.chance)
					for _, g := range seen {
						f.add(g)
					}
					best = max(best, f.likelihood)
					filters = append(filters, f)
				}
			}
		}
	}
	var next []normal
	mean, sum := 0.0, 0.0
	for _, f := range filters {
		if weight := math.Exp(f.likelihood - best); weight > leastWeight {
			n := f.next(weight)
			next = append(next, n)
			mean, sum = mean+weight*n.mean, sum+weight
		}
	}
	for i := range next {
		next[i].weight /= sum
	}
	c.Factor = math.Exp(mean / sum)
	c.Low, c.High = math.Exp(quantile(next, (1-level)/2)), math.Exp(quantile(next, (1+level)/2))
	return c
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
	// leastWeight is that of what counts, against the likeliest.
	leastWeight = 1e-5
)

// machineState is a Kalman filter of the constant and of the state of the machine, in this order.
type machineState struct {
	last, state, own float64
	mean             [2]float64
	cov              [3]float64 // of the constant, of both, of the state
	likelihood       float64    // its logarithm
}

func newMachineState(before, last, state, own float64) machineState {
	rare := func(sd float64) float64 { return -square(math.Log(sd/usualSD)/usualLog) / 2 }
	return machineState{
		last: last, state: state, own: own,
		cov:        [3]float64{square(before), 0, square(state)},
		likelihood: rare(state) + rare(own),
	}
}

// atOnce are n runs at about the same time: their mean, and the sum of the squares around it.
type atOnce struct{ n, mean, squares float64 }

// add learns from runs at about the same time, and goes on to the next group.
func (f *machineState) add(runs atOnce) {
	// Around their mean the runs say how large their own part is.
	f.likelihood -= (runs.n-1)*math.Log(f.own) + runs.squares/(2*square(f.own))
	variance := f.cov[0] + 2*f.cov[1] + f.cov[2] + square(f.own)/runs.n
	off := runs.mean - f.mean[0] - f.mean[1]
	f.likelihood -= (math.Log(variance) + off*off/variance) / 2
	gain := [2]float64{(f.cov[0] + f.cov[1]) / variance, (f.cov[1] + f.cov[2]) / variance}
	f.mean[0], f.mean[1] = f.mean[0]+gain[0]*off, f.last*(f.mean[1]+gain[1]*off)
	f.cov = [3]float64{
		f.cov[0] - gain[0]*gain[0]*variance,
		f.last * (f.cov[1] - gain[0]*gain[1]*variance),
		square(f.last)*(f.cov[2]-gain[1]*gain[1]*variance) + (1-square(f.last))*square(f.state),
	}
}

// next is the distribution of the next run.
func (f *machineState) next(weight float64) normal {
	return normal{f.mean[0] + f.mean[1], math.Sqrt(max(0, f.cov[0]+2*f.cov[1]+f.cov[2]) + square(f.own)), weight}
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
