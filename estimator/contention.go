package estimator

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/optimize"
)

// Contention is how jobs slow each other down by sharing a machine's memory,
// caches and cores.
//
// A job on n cores keeps n/(1+Serial·(n−1)) of them busy (Amdahl's law: in its
// serial part it needs one). All jobs together offer the load L, busy cores. A
// machine of N cores that serves at most C = Capacity·N of them would slow no
// job down below C, and all in proportion beyond: max(1, L/C). Real machines
// bend before that, so the two lines are joined by a soft maximum,
//
//	s(L) = (1 + (L/C)^Sharpness)^(1/Sharpness),
//
// and the slowdown against running alone is s(all)/s(own). The capacity may be
// less than the cores, where two of them are threads of one, or more than one
// job waits for the memory.
// The zero value is no contention.
type Contention struct {
	Serial    float64 `json:"serial"`
	Capacity  float64 `json:"capacity"`
	Sharpness float64 `json:"sharpness"`
}

// Slowdown returns the factor on a job's run time on own cores while its
// neighbors hold others of the machine's total; at least 1, the time of a job alone
// where no other programs run. The neighbors are assumed to be jobs of the same size.
func (c Contention) Slowdown(own, others, total float64) float64 {
	if c.Capacity <= 0 || c.Sharpness <= 0 || own <= 0 || others <= 0 || total <= 0 {
		return 1
	}
	capacity := c.Capacity * total
	busy := Curve{Sigma: c.Serial}.Speedup(own)
	alone, all := busy/capacity, busy*(1+others/own)/capacity
	return math.Exp((softplus(c.Sharpness*math.Log(all)) - softplus(c.Sharpness*math.Log(alone))) / c.Sharpness)
}

// softplus is log(1 + e^x), which does not overflow.
func softplus(x float64) float64 { return math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

// Crowd is a measured run time on a shared machine: Seconds on Own cores, with
// neighbors that held Others of Total.
type Crowd struct {
	Own, Others, Total float64
	Seconds            float64
}

// FitContention fits run times of one job by least squares of the logarithms.
// Times on the same number of own cores are compared with each other, so each
// number of own cores needs two numbers of neighbors; it is an error when
// none has.
func FitContention(crowds []Crowd) (Contention, error) {
	groups := map[float64]int{}
	var of [][]Crowd
	for _, c := range crowds {
		if !(c.Own > 0 && c.Others >= 0 && c.Total > 0 && c.Seconds > 0) {
			return Contention{}, fmt.Errorf("fit contention: %+v: cores and seconds must be above 0", c)
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
		return Contention{}, errors.New("fit contention: there are too few measurements with different numbers of " +
			"neighbors for three parameters")
	}
	loss := func(x []float64) float64 {
		c := contention(x)
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
	best, least := Contention{}, math.Inf(1)
	// The surface has several valleys: start in each.
	for _, start := range [][]float64{{-5, 0, 1}, {-3, -1, 1}, {-1, -1, 0}, {-8, 1, 1}} {
		r, err := optimize.Minimize(optimize.Problem{Func: loss}, start, nil, &optimize.NelderMead{})
		if err != nil && r == nil {
			return Contention{}, fmt.Errorf("fit contention: %w", err)
		}
		if r.F < least {
			best, least = contention(r.X), r.F
		}
	}
	return best, nil
}

// contention maps any three numbers to parameters that make sense: a serial
// part of 0 to 1, a capacity above 0, a sharpness of 0.2 to 20.
func contention(x []float64) Contention {
	return Contention{
		Serial: 1 / (1 + math.Exp(-x[0])), Capacity: math.Exp(x[1]),
		Sharpness: math.Min(20, math.Max(0.2, math.Exp(x[2]))),
	}
}
