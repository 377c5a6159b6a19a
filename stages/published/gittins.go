package published

import (
	"math"
	"slices"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
)

// Gittins sorts jobs by the Gittins index of their attained service (J. C. Gittins, 1979; "2D-Gittins" in J. Gu and
// others, "Tiresias", NSDI 2019). The index uses the distribution of service over the workload's jobs, but not the
// service that a particular job needs. It implies preemption, and ranks jobs again at the end of each quantum of a
// running job.
const Gittins policy.Order = "gittins"

var _ = policy.RegisterOrder(policy.OrderChoice{
	Choice: policy.Choice{
		Name: Gittins, Title: "Gittins index", Place: 11, Estimates: true,
		Doc:      "the greatest chance to end soon, relative to the service that it takes",
		Settings: []schema.Arg{policy.Quantum}, Wants: []policy.Want{impliesPause(Gittins)},
	},
	New: func(s policy.Setup) scheduler.Ranker { return newGittins(s.Run.Jobs) },
})

// gittins has the distribution of service: sorted values with equal probability. The least quotient of the index is the
// slope of the tangent from a point to the lower convex hull of the points (k, height of k), for all k from a value on.
type gittins struct {
	service []float64
	before  []float64 // before[k] is the sum of service[:k]
	height  []float64 // height[k] is the sum of min(S, service[k]) over all values S
	next    []int     // next[k] is the second point of the hull that begins at k
}

func newGittins(jobs []scheduler.Job) *gittins {
	g := &gittins{}
	for i := range jobs {
		if j := &jobs[i]; j.Predicted > 0 {
			g.service = append(g.service, float64(j.Predicted)*float64(deviceCount(j)))
		}
	}
	slices.Sort(g.service)
	n, sum := len(g.service), 0.0
	g.before, g.height, g.next = make([]float64, n), make([]float64, n), make([]int, n)
	for k, s := range g.service {
		g.before[k], g.height[k] = sum, sum+s*float64(n-k)
		sum += s
	}
	for k := n - 1; k >= 0; k-- {
		to := k + 1
		for to < n && g.next[to] < n && g.slope(k, g.height[k], g.next[to]) <= g.slope(k, g.height[k], to) {
			to = g.next[to]
		}
		g.next[k] = to
	}
	return g
}

// slope returns the slope of the line from the point (x, y) to the hull's point k.
func (g *gittins) slope(x int, y float64, k int) float64 { return (g.height[k] - y) / float64(k-x) }

// Rank returns the inverse of the Gittins index at the job's attained service, in nanoseconds.
func (g *gittins) Rank(j scheduler.JobView) int64 {
	return g.after(float64(scheduler.CoreTime(j.Times().Service, deviceCount(j.Job()))))
}

// after returns the inverse of the index after the attained service a. It is the minimum over Δ of E[min(S−a, Δ)] /
// P(S−a ≤ Δ), given S > a. The minimum is at a value of the distribution. A job with more attained service than every
// value is last.
func (g *gittins) after(a float64) int64 {
	first, _ := slices.BinarySearch(g.service, math.Nextafter(a, math.Inf(1)))
	n := len(g.service)
	if first == n {
		return math.MaxInt64
	}
	// The sum of min(S−a, service[k]−a) is height[k] minus attained.
	attained := g.before[first] + a*float64(n-first)
	best := g.slope(first-1, attained, first)
	for k := g.next[first]; k < n; k = g.next[k] {
		quotient := g.slope(first-1, attained, k)
		if quotient > best {
			break
		}
		best = quotient
	}
	return int64(math.Round(best))
}

// deviceCount returns the number of devices that a job requests: GPUs, or cores if it requests no GPU.
func deviceCount(j *scheduler.Job) int {
	if j.GPUs > 0 {
		return j.GPUs
	}
	return j.Threads
}
