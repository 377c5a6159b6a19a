package measure

import "math"

// Free GPUs that are of no use to the jobs of the workload.
var (
	Fragments = Register(Metric{
		Rank: 191, Name: "gpu_fragments", Title: "GPU fragments", Most: 1,
		Doc: "GPU-seconds free on nodes where no job of the workload fits, by its cores and GPUs / (GPUs × makespan); " +
			"empty " +
			"where no job asks for GPUs, or nodes come and go",
		Compute: func(t *Totals) float64 { return t.ofGPUs(func(g *gpus) float64 { return float64(g.lostTime) }) },
	})
	Fragmentation = Register(Metric{
		Rank: 192, Name: "gpu_fragmentation", Title: "GPU fragmentation", Most: 1,
		Doc: "the same for the mean job of the workload that asks for GPUs: GPU-seconds free on nodes where that job " +
			"does not " +
			"fit, as Q. Weng and others measure it (USENIX ATC 2023)",
		Compute: func(t *Totals) float64 {
			return t.ofGPUs(func(g *gpus) float64 { return float64(g.missedTime) / float64(g.jobs) })
		},
	})
)

// ofGPUs returns a part of the GPU time of the cluster; NaN without GPUs.
func (t *Totals) ofGPUs(of func(*gpus) float64) float64 {
	g := t.collector.gpus
	if g == nil || t.GPUs == 0 || t.span == 0 {
		return math.NaN()
	}
	return of(g) / (float64(t.GPUs) * float64(t.span))
}
