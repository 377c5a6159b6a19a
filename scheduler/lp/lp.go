// Package lp solves the linear programs of schedulers that divide the time of devices
// among jobs: each job has a few variables and rows, and all jobs share one more
// variable and the rows of the device types. The solver is a primal-dual interior
// point method whose linear systems are taken apart by job, so that its cost grows in
// proportion to the number of jobs.
//
// Where several solutions are optimal, it returns one in the middle of them, near their
// analytic center: equal jobs get equal shares. LeastRatio does the same for ratios of
// times, whose program is convex and not linear.
package lp

import (
	"errors"
	"fmt"
	"math"
)

// Row is a condition on the variables of one block and the shared variable:
//
//	Σ_j X[j]·x_j + Z·z ≤ Most
type Row struct {
	X    []float64
	Z    float64
	Most float64
}

// Block is the part of a program that belongs to one job. All variables are at least 0.
type Block struct {
	// Gain is the coefficient of each variable in the objective.
	Gain []float64
	// Uses has for each variable its use of each limit, or only of those in Limits.
	Uses [][]float64
	// Limits are the limits that the block uses, for blocks that use only a few; nil means all of
	// them.
	Limits []int32
	// Rows are conditions on these variables alone, and on the shared one.
	Rows []Row
}

// Problem is a program to be maximized:
//
//	max  Σ_i Σ_j Gain_ij·x_ij + Gain·z   with
//	     the rows of each block, Σ_i Σ_j Uses_ij·x_ij + Uses·z ≤ Limits, x ≥ 0, z ≥ 0.
type Problem struct {
	Blocks []Block
	// Limits are the limits of the rows that all blocks share.
	Limits []float64
	// Gain is the coefficient of the shared variable z in the objective, and Uses its use of
	// each limit; nil for nothing.
	Gain float64
	Uses []float64
}

// Solution is an optimum.
type Solution struct {
	// X has the variables of each block.
	X [][]float64
	// Z is the shared variable.
	Z float64
	// Objective is the optimum.
	Objective float64
	// Prices are the dual values of the limits: how much the optimum grows with each.
	Prices []float64
	// Slack and Price are the slack and the dual value of each row of each block.
	Slack, Price [][]float64
}

// ErrNoOptimum is returned when no optimum was found: the program has no solution, or no
// finite one.
var ErrNoOptimum = errors.New("lp: the program has no solution, or no finite one")

const (
	// mostSteps is the greatest number of steps. Whatever ends the steps, a point that is not good is an error.
	mostSteps = 200
	// patience is the number of steps that may pass without a better point.
	patience = 20
	// tolerance is the tolerance of the residuals and of the gap, relative to the data.
	tolerance = 1e-10
)

// Solve returns an optimum. The error wraps ErrNoOptimum if there is no optimum. It describes
// the mistake in a problem whose parts do not fit together.
func Solve(p Problem) (Solution, error) {
	if err := p.check(); err != nil {
		return Solution{}, err
	}
	s := newSolver(&p)
	return s.solve()
}

func (p *Problem) check() error {
	finite := func(list ...float64) bool {
		for _, v := range list {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return false
			}
		}
		return true
	}
	if p.Uses != nil && len(p.Uses) != len(p.Limits) {
		return fmt.Errorf("lp: the shared variable uses %d of %d limits", len(p.Uses), len(p.Limits))
	}
	ok := finite(p.Limits...) && finite(p.Gain) && finite(p.Uses...)
	for i := range p.Blocks {
		b := &p.Blocks[i]
		if len(b.Uses) != len(b.Gain) {
			return fmt.Errorf("lp: block %d has %d variables, but what %d use", i, len(b.Gain), len(b.Uses))
		}
		ok = ok && finite(b.Gain...)
		limits := len(p.Limits)
		if b.Limits != nil {
			limits = len(b.Limits)
		}
		for _, l := range b.Limits {
			if l < 0 || int(l) >= len(p.Limits) {
				return fmt.Errorf("lp: block %d has to do with limit %d of %d", i, l, len(p.Limits))
			}
		}
		for _, u := range b.Uses {
			if len(u) != limits {
				return fmt.Errorf("lp: a variable of block %d uses %d of %d limits", i, len(u), limits)
			}
			ok = ok && finite(u...)
		}
		for _, r := range b.Rows {
			if len(r.X) != len(b.Gain) {
				return fmt.Errorf("lp: a row of block %d has %d of %d variables", i, len(r.X), len(b.Gain))
			}
			ok = ok && finite(r.X...) && finite(r.Z, r.Most)
		}
	}
	if !ok {
		return errors.New("lp: a number is not finite")
	}
	return nil
}
