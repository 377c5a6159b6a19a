package policy

import (
	"math"
	"slices"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
)

// Gittins orders jobs by the Gittins index of the service that they have attained (J. C.
// Gittins, 1979; as "2D-Gittins" in J. Gu and others, "Tiresias", NSDI 2019): it knows how
// the service of the workload's jobs is distributed, and not which job takes how much. It
// implies preemption, and is looked at again at the end of each quantum of a running job.
const Gittins Order = "gittins"

var _ = RegisterOrder(OrderChoice{
	Choice: Choice{
		Name: Gittins, Title: "Gittins index", Place: 11, Estimates: true,
		Doc: "the job that is the likeliest to end for the service that it takes, by what it has attained and how " +
			"the predicted service of all jobs of the workload is distributed",
		Settings: []schema.Arg{quantum}, Wants: []Want{impliesPause(Gittins)},
	},
	New: func(s Setup) scheduler.Ranker { return newGittins(s.Run.Jobs) },
})

// gittins has the distribution of service: ascending, all equally likely.
type gittins struct{ service []float64 }

// mostPoints bounds the distribution: larger workloads are represented by as many quantiles.
const mostPoints = 256

func newGittins(jobs []scheduler.Job) *gittins {
	var all []float64
	for i := range jobs {
		if j := &jobs[i]; j.Predicted > 0 {
			all = append(all, float64(j.Predicted)*float64(deviceCount(j)))
		}
	}
	slices.Sort(all)
	if n := len(all); n > mostPoints {
		for i := range mostPoints {
			all[i] = all[(2*i+1)*n/(2*mostPoints)]
		}
		all = all[:mostPoints]
	}
	return &gittins{all}
}

// Rank returns the inverse of the Gittins index after what the job has attained, in nanoseconds.
func (g *gittins) Rank(j scheduler.JobView) int64 {
	return g.after(float64(scheduler.CoreTime(j.Times().Service, deviceCount(j.Job()))))
}

// after returns the inverse of the index after the attained service a: the least over all Δ of
// E[min(S−a, Δ)] / P(S−a ≤ Δ), given S > a. The least is at a point of the distribution. A job
// that has attained more than all others come to is last.
func (g *gittins) after(a float64) int64 {
	first, _ := slices.BinarySearch(g.service, math.Nextafter(a, math.Inf(1)))
	best, sum := float64(math.MaxInt64), 0.0
	for k := first; k < len(g.service); k++ {
		rest := g.service[k] - a
		sum += rest
		ended, going := float64(k-first+1), float64(len(g.service)-k-1)
		best = min(best, (sum+rest*going)/ended)
	}
	if best >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(math.Round(best))
}

// deviceCount returns how many devices a job asks for: GPUs, or cores if it asks for no
// GPU.
func deviceCount(j *scheduler.Job) int {
	if j.GPUs > 0 {
		return j.GPUs
	}
	return j.Threads
}
