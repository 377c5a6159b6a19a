package measure

import (
	"math"

	"github.com/tfexp/tfexp/results/table"
)

// How much of the hardware was held by running jobs.
var (
	Utilization = Register(Metric{
		Rank: 60, Name: "utilization", Title: "utilization", HigherBetter: true, Most: 1,
		Shown:   Shown{Cells: 7, Summary: 5, Spare: 4, Fidelity: 4, Panels: 4, Series: 4},
		Doc:     "core-seconds held by running jobs / (cores × makespan)",
		Compute: func(t *Totals) float64 { return share(t.CoreTime, t.Cores, t.span) },
	})
	GPUUtilization = Register(Metric{
		Rank: 190, Name: "gpu_utilization", Title: "GPU utilization", HigherBetter: true, Most: 1,
		Shown:   Shown{Cells: 7, Summary: 5, Spare: 6},
		Doc:     "GPU-seconds held by running jobs / (GPUs × makespan); empty without GPUs",
		Compute: func(t *Totals) float64 { return share(t.GPUTime, t.GPUs, t.span) },
	})
)

// share is the part of a capacity that was held over a span; NaN without either.
func share(held int64, capacity int, span table.Micros) float64 {
	if capacity == 0 || span == 0 {
		return math.NaN()
	}
	return float64(held) / (float64(capacity) * float64(span))
}
