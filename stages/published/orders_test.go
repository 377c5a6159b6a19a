package published

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// The inverse of the index is a minimum over all amounts of service: the expected service divided by the probability
// that the job ends within this amount.
func TestGittinsByItsDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		jobs := make([]scheduler.Job, 1+rng.IntN(12))
		for i := range jobs {
			jobs[i] = scheduler.Job{Threads: 1 + rng.IntN(3), Predicted: time.Duration(rng.IntN(30)) * 1000}
			if rng.IntN(3) == 0 {
				jobs[i].GPUs = 1 + rng.IntN(2)
			}
		}
		g := newGittins(jobs)
		for a := 0.0; a < 100_000; a += 1500 {
			best := math.Inf(1)
			for stretch := 500.0; stretch <= 100_000; stretch += 500 {
				given, ended := 0.0, 0.0
				for _, j := range jobs {
					devices := j.Threads
					if j.GPUs > 0 {
						devices = j.GPUs
					}
					left := float64(j.Predicted)*float64(devices) - a
					if j.Predicted == 0 || left <= 0 {
						continue
					}
					given += min(left, stretch)
					if left <= stretch {
						ended++
					}
				}
				if ended > 0 {
					best = min(best, given/ended)
				}
			}
			want := int64(math.MaxInt64)
			if !math.IsInf(best, 1) {
				want = int64(math.Round(best))
			}
			if got := g.after(a); got != want {
				t.Fatalf("after %g of %v: %d, want %d", a, g.service, got, want)
			}
		}
	}
}
