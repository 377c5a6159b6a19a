package measure

import (
	"math"
	"math/bits"

	"github.com/tfexp/tfexp/results/table"
)

// How much of the hardware was held by running jobs.
var (
	Utilization = Register(Metric{
		Rank: 60, Name: "utilization", Title: "utilization", HigherBetter: true, Most: 1,
		Shown:   Shown{Cells: 7, Summary: 5, Spare: 4, Fidelity: 4, Panels: 4, Series: 4},
		Doc:     "core-seconds held by running jobs / (cores × makespan)",
		Compute: func(t *Totals) float64 { return share(t.CoreTime.value(), t.Cores, t.span) },
	})
	GPUUtilization = Register(Metric{
		Rank: 190, Name: "gpu_utilization", Title: "GPU utilization", HigherBetter: true, Most: 1,
		Shown:   Shown{Cells: 7, Summary: 5, Spare: 6},
		Doc:     "GPU-seconds held by running jobs / (GPUs × makespan); empty without GPUs",
		Compute: func(t *Totals) float64 { return share(t.GPUTime.value(), t.GPUs, t.span) },
	})
)

// share returns the fraction of a capacity that was held over a span; NaN if the capacity or the span is 0.
func share(held float64, capacity int, span table.Micros) float64 {
	if capacity == 0 || span == 0 {
		return math.NaN()
	}
	return held / (float64(capacity) * float64(span))
}

// ResourceTime is a sum of core-microseconds or GPU-microseconds. It is exact below 2^63, which a million cores reach
// in 107 days.
type ResourceTime struct {
	exact int64
	more  float64 // the part that does not fit into exact
}

func (r *ResourceTime) add(t int64) {
	if r.exact > 0 && t > math.MaxInt64-r.exact {
		r.more, r.exact = r.more+float64(r.exact), 0
	}
	r.exact += t
}

func (r ResourceTime) value() float64 { return r.more + float64(r.exact) }

// times returns n·span in microseconds; plus returns the sum of two such times. On overflow they return the largest
// number. Arguments must not be negative.
func times(span, n int64) int64 {
	if high, low := bits.Mul64(uint64(span), uint64(n)); high == 0 && low <= math.MaxInt64 {
		return int64(low)
	}
	return math.MaxInt64
}

func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
