package estimator

import (
	"math"
)

// Contention is a law of how jobs on a machine slow each other down, because they share its memory, caches and cores.
//
// A job on n cores keeps n/(1+Serial·(n−1)) of them busy, since its serial part uses only one (Amdahl's law). The
// load L is the number of busy cores of all jobs. A machine of N cores can serve C = Capacity·N busy cores. Ideally
// it would slow no job down while L ≤ C, and every job by the factor L/C above that: max(1, L/C). Real machines
// become slower before, so the law is a smooth form of this maximum,
//
//	s(L) = (1 + (L/C)^Sharpness)^(1/Sharpness),
//
// and the slowdown relative to running alone is s(all)/s(own). The capacity can be below the number of cores, where
// two cores are hardware threads of one, or where jobs wait for memory. The zero value means no contention.
type Contention struct {
	Serial    float64 `json:"serial"`
	Capacity  float64 `json:"capacity"`
	Sharpness float64 `json:"sharpness"`
}

// Slowdown returns the factor, at least 1, by which a job's run time grows. The job runs on own cores, while other
// jobs hold `others` of the machine's total cores. A factor of 1 is the time when no other program runs. The other
// jobs are assumed to have the same size.
func (c Contention) Slowdown(own, others, total float64) float64 {
	if c.Capacity <= 0 || c.Sharpness <= 0 || own <= 0 || others <= 0 || total <= 0 {
		return 1
	}
	capacity := c.Capacity * total
	busy := Curve{Sigma: c.Serial}.Speedup(own)
	alone, all := busy/capacity, busy*(1+others/own)/capacity
	return math.Exp((softplus(c.Sharpness*math.Log(all)) - softplus(c.Sharpness*math.Log(alone))) / c.Sharpness)
}

// softplus returns log(1 + e^x) without overflow.
func softplus(x float64) float64 { return math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

// ContentionOf maps any three numbers to valid parameters: a serial part from 0 to 1, a capacity above 0, and a
// sharpness from 0.2 to 20. A fit can thus search without bounds.
func ContentionOf(x []float64) Contention {
	return Contention{
		Serial: 1 / (1 + math.Exp(-x[0])), Capacity: math.Exp(x[1]),
		Sharpness: math.Min(20, math.Max(0.2, math.Exp(x[2]))),
	}
}
