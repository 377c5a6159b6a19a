package pipeline

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/hardware/need"
	"github.com/tfexp/tfexp/results/measure"
)

// TestEndOfTime simulates jobs whose durations, alone or together, reach the limit of time.Duration, 292 years. A
// cell either ends with finite numbers of the right sign, or fails with an error that names the limit.
func TestEndOfTime(t *testing.T) {
	draws := rand.New(rand.NewPCG(292, 1))
	hours := func() string {
		const most = float64(math.MaxInt64/2) / 3.6e12 // hours; the longest duration that an argument accepts
		return fmt.Sprintf("%.0fh", most*math.Pow(2, -0.001-8*draws.Float64()))
	}
	for range need.Cases(15, 100) {
		file := fmt.Sprintf(`
experiment "long" { replicates = 1 }
job "a" {
  command = ["train"]
  epochs  = %d
  threads = %d
  runtime { epoch = %q }
}
job "b" {
  command = ["train"]
  epochs  = 1
  runtime {
    startup = %q
    epoch   = %q
  }
}
workload "w" {
  submit {
    job   = job.a
    count = %d
  }
  submit {
    job = job.b
    at  = %q
  }
}
hardware "h" {
  engine  = "simulated"
  threads = 2
}
policy "fcfs" { order = "fcfs" }
policy "turns" {
  order   = "round_robin"
  quantum = %q
}
`, 1+draws.IntN(3), 1+draws.IntN(2), hours(), hours(),
			hours(), 1+draws.IntN(4), hours(), hours())
		e := ran(t, file)
		for _, c := range e.Cells {
			if c.Error != "" {
				if !strings.Contains(c.Error, "292 years") {
					t.Fatalf("%s: %s\n%s", c.Cell, c.Error, file)
				}
				continue
			}
			for _, m := range measure.AllMetrics() {
				if v := m.Of(&c.Metrics); v < 0 || math.IsInf(v, 0) {
					t.Fatalf("%s: %s is %g\n%s", c.Cell, m.Name, v, file)
				}
			}
		}
	}
}
