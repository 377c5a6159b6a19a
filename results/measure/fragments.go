package measure

import "math"

// Metrics of free GPUs that jobs of the workload cannot use.
var (
	Fragments = Register(Metric{
		Rank: 191, Name: "gpu_fragments", Title: "GPU fragments", Most: 1,
		Doc:     "part of the GPU time that is free on nodes where no job of the workload fits; empty if no job requests GPUs, or nodes come and go",
		Compute: func(t *Totals) float64 { return t.ofGPUs(func(g *gpus) float64 { return float64(g.lostTime) }) },
	})
	Fragmentation = Register(Metric{
		Rank: 192, Name: "gpu_fragmentation", Title: "GPU fragmentation", Most: 1,
		Doc: "part of the GPU time that is free on nodes where a job of the workload does not fit, as a mean over jobs with GPUs (Q. Weng and others, USENIX ATC 2023)",
		Compute: func(t *Totals) float64 {
			return t.ofGPUs(func(g *gpus) float64 { return float64(g.missedTime) / float64(g.jobs) })
		},
	})
)

// ofGPUs returns a sum as a fraction of the cluster's GPU time; NaN without GPUs.
func (t *Totals) ofGPUs(of func(*gpus) float64) float64 {
	g := t.collector.gpus
	if g == nil || t.GPUs == 0 || t.span == 0 {
		return math.NaN()
	}
	return of(g) / (float64(t.GPUs) * float64(t.span))
}
