// Package lp solves the linear programs of policies that divide the time of devices among jobs. Each job has a few
// separate variables and rows. All jobs share one more variable, and the rows of the device types. The solver is a
// primal-dual interior point method. It solves its linear systems job by job, so the time is proportional to the
// number of jobs.
//
// If several solutions are optimal, Solve returns one in the middle of them, near their analytic center. So equal
// jobs get equal shares. LeastRatio does the same for ratios of times; its program is convex but not linear.
package lp

import (
	"errors"
	"fmt"
	"math"
)

// Row is a condition on the variables x of one block and the shared variable z:
//
//	Σ_j X[j]·x_j + Z·z ≤ Most
type Row struct {
	X    []float64
	Z    float64
	Most float64
}

// Block is the part of a program that belongs to one job. All variables are at least 0.
type Block struct {
	// Gain has the coefficient of each variable in the objective.
	Gain []float64
	// Uses has, for each variable, its coefficient in each limit. If Limits is not nil, it has only the coefficients
	// in these limits.
	Uses [][]float64
	// Limits are the indexes of the limits that the block uses; nil means all limits.
	Limits []int32
	// Rows are conditions on the variables of this block and the shared variable.
	Rows []Row
}

// Problem is a linear program to maximize:
//
//	max  Σ_i Σ_j Gain_ij·x_ij + Gain·z   with
//	     the rows of each block, Σ_i Σ_j Uses_ij·x_ij + Uses·z ≤ Limits, x ≥ 0, z ≥ 0.
type Problem struct {
	Blocks []Block
	// Limits are the right-hand sides of the rows that all blocks share.
	Limits []float64
	// Gain is the coefficient of the shared variable z in the objective. Uses has its coefficient in each limit; nil
	// means 0.
	Gain float64
	Uses []float64
}

// Solution is an optimal solution of a Problem.
type Solution struct {
	// X has the values of the variables of each block.
	X [][]float64
	// Z is the value of the shared variable.
	Z float64
	// Objective is the value of the objective.
	Objective float64
	// Prices are the dual values of the limits: the increase of the objective per unit of each limit.
	Prices []float64
	// Slack and Price are the slack and the dual value of each row, by block.
	Slack, Price [][]float64
}

// ErrNoOptimum is returned if the program has no solution, or its objective has no bound.
var ErrNoOptimum = errors.New("lp: the program has no solution, or its objective has no bound")

const (
	// mostSteps is the greatest number of steps. If the best point is not good after them, Solve returns an error.
	mostSteps = 200
	// patience is the greatest number of successive steps without a better point.
	patience = 20
	// tolerance is the bound of the residuals and of the gap at an optimum, relative to the data.
	tolerance = 1e-10
)

// Solve returns an optimal solution. The error wraps ErrNoOptimum if no solution is optimal. Another error describes
// a malformed problem.
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
		return fmt.Errorf("lp: the shared variable has %d coefficients for %d limits", len(p.Uses), len(p.Limits))
	}
	ok := finite(p.Limits...) && finite(p.Gain) && finite(p.Uses...)
	for i := range p.Blocks {
		b := &p.Blocks[i]
		if len(b.Uses) != len(b.Gain) {
			return fmt.Errorf("lp: block %d has %d variables, but Uses has %d", i, len(b.Gain), len(b.Uses))
		}
		ok = ok && finite(b.Gain...)
		limits := len(p.Limits)
		if b.Limits != nil {
			limits = len(b.Limits)
		}
		for _, l := range b.Limits {
			if l < 0 || int(l) >= len(p.Limits) {
				return fmt.Errorf("lp: block %d names limit %d, but there are %d limits", i, l, len(p.Limits))
			}
		}
		for _, u := range b.Uses {
			if len(u) != limits {
				return fmt.Errorf("lp: a variable of block %d has %d coefficients for %d limits", i, len(u), limits)
			}
			ok = ok && finite(u...)
		}
		for _, r := range b.Rows {
			if len(r.X) != len(b.Gain) {
				return fmt.Errorf("lp: a row of block %d has %d coefficients for %d variables", i, len(r.X), len(b.Gain))
			}
			ok = ok && finite(r.X...) && finite(r.Z, r.Most)
		}
	}
	if !ok {
		return errors.New("lp: a number is not finite")
	}
	return nil
}
