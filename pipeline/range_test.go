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

// TestEndsOfRanges simulates jobs on rented servers whose prices, memory, cores, priorities and durations are drawn up
// to the ends of their ranges. All metrics are finite and have the right sign.
func TestEndsOfRanges(t *testing.T) {
	draws := rand.New(rand.NewPCG(63, 1))
	finished := 0
	power := func(most float64) float64 { return most * math.Pow(2, -60*draws.Float64()*draws.Float64()) }
	whole := func(most int64) int64 {
		return max(1, int64(min(power(float64(most)), math.Nextafter(float64(most), 0))))
	}
	for range need.Cases(15, 100) {
		cores, memory := whole(1<<20), whole(math.MaxInt64)
		file := fmt.Sprintf(`
experiment "wide" { replicates = 2 }
job "a" {
  command  = ["train"]
  epochs   = %d
  threads  = %d
  memory   = "%dB"
  priority = %d
  deadline = "%ds"
  retries  = %d
  runtime { epoch = "%dns" }
  checkpoint {
    every = "%ds"
    cost  = "%ds"
  }
}
workload "w" {
  submit {
    job      = job.a
    count    = %d
    priority = %d
    at       = "%ds"
  }
}
hardware "h" {
  engine = "simulated"
  node "s" {
    count           = %d
    threads         = %d
    memory          = "%dB"
    acquire         = "on_request"
    startup         = "%ds"
    max_lifetime    = "%ds"
    idle            = "%ds"
    price           = %g
    on_demand_price = %g
    replace         = "on_demand"
    replace_limit   = 3
  }
  billing { minimum = "%ds" }
}
policy "fcfs" { order = "fcfs" }
policy "levels" { order = "priority" }
compare "cost_usd" { baseline = policy.fcfs }
`, whole(1e9), whole(cores), whole(memory), whole(1e6), whole(1<<32), whole(20),
			whole(1<<(30+draws.IntN(32))), whole(1<<32), whole(1<<(8+draws.IntN(24))), 1+draws.IntN(5), whole(1e6), whole(1<<32),
			1+draws.IntN(5), cores, memory, whole(1<<32), whole(1<<32), whole(1<<32), power(1e8), power(1e8), whole(1<<32))
		e := ran(t, file)
		for _, c := range e.Cells {
			finished += measure.Finished.CountOf(&c.Metrics)
			for _, m := range measure.AllMetrics() {
				if v := m.Of(&c.Metrics); v < 0 || math.IsInf(v, 0) {
					t.Fatalf("%s: %s is %g\n%s", c.Cell, m.Name, v, file)
				}
			}
		}
	}
	if finished == 0 {
		t.Error("no job has finished")
	}
}
