package contention

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat"

	"github.com/tfexp/tfexp/estimator"
)

// crowd is a measured run time on a shared machine. Seconds is the run time of a job on Own cores of Total; neighbors
// held Others.
type crowd struct {
	Own, Others, Total float64
	Seconds            float64
}

// fitted fits run times of one job by least squares of their logarithms. Only times on the same number of own cores are
// compared. It is an error if no number of own cores has measurements with two different numbers of neighbors.
func fitted(crowds []crowd) (estimator.Contention, error) {
	groups := map[float64]int{}
	var of [][]crowd
	for _, c := range crowds {
		if !(c.Own > 0 && c.Others >= 0 && c.Total > 0 && c.Seconds > 0) {
			return estimator.Contention{}, fmt.Errorf("fit contention: %+v: cores and seconds must be above 0", c)
		}
		i, ok := groups[c.Own]
		if !ok {
			i = len(of)
			groups[c.Own], of = i, append(of, nil)
		}
		of[i] = append(of[i], c)
	}
	degrees := len(crowds) - len(of)
	if degrees < 3 {
		return estimator.Contention{}, errors.New("fit contention: there are too few measurements with different numbers of " +
			"neighbors for three parameters")
	}
	loss := func(x []float64) float64 {
		c := estimator.ContentionOf(x)
		var ss float64
		for _, g := range of {
			r := make([]float64, len(g))
			for i, m := range g {
				r[i] = math.Log(m.Seconds / c.Slowdown(m.Own, m.Others, m.Total))
			}
			ss += squares(r)
		}
		return ss
	}
	best, least := estimator.Contention{}, math.Inf(1)
	// The function has several local minima: start near each.
	for _, start := range [][]float64{{-5, 0, 1}, {-3, -1, 1}, {-1, -1, 0}, {-8, 1, 1}} {
		r, err := optimize.Minimize(optimize.Problem{Func: loss}, start, nil, &optimize.NelderMead{})
		if err != nil && r == nil {
			return estimator.Contention{}, fmt.Errorf("fit contention: %w", err)
		}
		if r.F < least {
			best, least = estimator.ContentionOf(r.X), r.F
		}
	}
	return best, nil
}

// squares returns the sum of squared deviations from the mean.
func squares(v []float64) float64 {
	if len(v) < 2 {
		return 0
	}
	return stat.Variance(v, nil) * float64(len(v)-1)
}
