package estimator

import (
	"math"
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

// ContentionOf maps any three numbers to parameters that make sense: a serial
// part of 0 to 1, a capacity above 0, a sharpness of 0.2 to 20.
func ContentionOf(x []float64) Contention {
	return Contention{
		Serial: 1 / (1 + math.Exp(-x[0])), Capacity: math.Exp(x[1]),
		Sharpness: math.Min(20, math.Max(0.2, math.Exp(x[2]))),
	}
}
