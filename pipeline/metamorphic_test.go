package pipeline

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
)

// logged is a job of a log of jobs.
type logged struct {
	name         string
	arrival, run float64 // seconds
	threads      int
}

// drawLog draws jobs that request at least 2 cores. No two jobs arrive at the same time.
func drawLog(n int) (jobs []logged) {
	rng := rand.New(rand.NewPCG(28, 3))
	at := 0.0
	for i := range n {
		at += math.Ceil(1000*rng.ExpFloat64()*4+1) / 1000
		jobs = append(jobs, logged{fmt.Sprintf("job%03d", i), at, math.Ceil(1000*rng.ExpFloat64()*12+1) / 1000, 2 + rng.IntN(5)})
	}
	return jobs
}

// replayed runs the jobs of a log under several policies. quantum is the quantum of round robin; nodes are the node
// blocks of the hardware.
func replayed(t *testing.T, jobs []logged, quantum, nodes string) *record.Experiment {
	t.Helper()
	var csv strings.Builder
	csv.WriteString("job,arrival_s,threads,run_time_s\n")
	for _, j := range jobs {
		fmt.Fprintf(&csv, "%s,%.3f,%d,%.3f\n", j.name, j.arrival, j.threads, j.run)
	}
	file := filepath.Join(t.TempDir(), "log.csv")
	if err := os.WriteFile(file, []byte(csv.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return ran(t, fmt.Sprintf(`
experiment "log" { replicates = 1 }
workload "log" {
  trace {
    file    = %q
    format  = "table"
    columns = { job = "job", arrival = "arrival_s", threads = "threads", run_time = "run_time_s" }
  }
}
hardware "machine" {
  engine = "simulated"
  %s
}
policy "fcfs" { order = "fcfs" }
policy "sjf_easy" {
  order    = "sjf"
  backfill = "easy"
}
policy "conservative" {
  order    = "fcfs"
  backfill = "conservative"
}
policy "srtf" { order = "srtf" }
policy "rr" {
  order   = "round_robin"
  quantum = "%s"
}
compare "mean_jct" { baseline = policy.fcfs }
`, file, nodes, quantum))
}

// times returns the times and durations of each job, divided by scale, by the names of cell and job.
func times(t *testing.T, e *record.Experiment, scale float64) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, c := range e.Cells {
		rows, err := e.Jobs(c.CellRef)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			all[c.Policy+" "+r.Job] = fmt.Sprintf("%.6f %.6f %.6f %.6f %.6f %d", r.Arrival/scale, r.FirstStart/scale, r.Finish/scale,
				r.Waiting/scale, r.Service/scale, r.Preemptions)
		}
	}
	return all
}

func same(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	if len(got) != len(want) || len(want) == 0 {
		t.Fatalf("%s: %d jobs, want %d", what, len(got), len(want))
	}
	for job, w := range want {
		if got[job] != w {
			t.Errorf("%s: %s: %s, want %s", what, job, got[job], w)
		}
	}
}

// TestMetamorphic changes a log so that the results must stay the same: all times are ten times as long, the lines
// are in another order, the jobs have other names, or the hardware has one more node on which no job fits.
func TestMetamorphic(t *testing.T) {
	if testing.Short() {
		t.Skip("one thing after another, and long under the race detector")
	}
	const machine = "threads = 8"
	jobs := drawLog(60)
	base := replayed(t, jobs, "2s", machine)
	want := times(t, base, 1)

	longer := slices.Clone(jobs)
	for i := range longer {
		longer[i].arrival, longer[i].run = 10*longer[i].arrival, 10*longer[i].run
	}
	scaled := replayed(t, longer, "20s", machine)
	same(t, "times × 10", times(t, scaled, 10), want)
	for i := range base.Cells {
		a, b := &base.Cells[i].Metrics, &scaled.Cells[i].Metrics
		for _, m := range measure.AllMetrics() {
			factor := 1.0
			switch {
			case m.Unit == "s":
				factor = 10
			case m.Unit == "jobs/h":
				factor = 0.1
			case m.Name == measure.MeanBoundedSlowdown.Name:
				continue // a bounded slowdown depends on a fixed time of 10 s
			}
			if x, y := factor*m.Of(a), m.Of(b); math.Abs(x-y) > 2e-5*max(1, math.Abs(x)) {
				t.Errorf("times × 10: %s of %s: %g, want %g", m.Name, base.Cells[i].Cell, y, x)
			}
		}
	}

	shuffled := slices.Clone(jobs)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	// When quanta of several jobs end at the same time, the jobs are ordered by their lines.
	inTurn := func(job string, _ string) bool { return strings.HasPrefix(job, "rr ") }
	got, others := times(t, replayed(t, shuffled, "2s", machine), 1), maps.Clone(want)
	maps.DeleteFunc(got, inTurn)
	maps.DeleteFunc(others, inTurn)
	same(t, "lines in another order", got, others)

	renamed := slices.Clone(jobs)
	for i := range renamed {
		renamed[i].name = fmt.Sprintf("x%03d", len(jobs)-i)
	}
	got = map[string]string{}
	for job, life := range times(t, replayed(t, renamed, "2s", machine), 1) {
		policy, name, _ := strings.Cut(job, " x")
		var n int
		if _, err := fmt.Sscan(strings.TrimLeft(name, "0"), &n); err != nil {
			t.Fatal(err)
		}
		got[policy+" "+jobs[len(jobs)-n].name] = life
	}
	same(t, "other names", got, want)

	const twoNodes = `
  node "a" { threads = 8 }
  node "b" { threads = 1 }
`
	idle := replayed(t, jobs, "2s", twoNodes)
	same(t, "a node that no job fits on", times(t, idle, 1), want)
	for i := range base.Cells {
		x, y := measure.Utilization.Of(&base.Cells[i].Metrics), measure.Utilization.Of(&idle.Cells[i].Metrics)
		if math.Abs(8*x-9*y) > 1e-5 {
			t.Errorf("a node that no job fits on: utilization %g of 9 cores, %g of 8", y, x)
		}
	}

	same(t, "2000ms", times(t, replayed(t, jobs, "2000ms", machine), 1), want)
	if a, b := base.Cells[0].Key, replayed(t, jobs, "2000ms", machine).Cells[0].Key; a != b {
		t.Errorf("keys %s and %s of the same cell", a, b)
	}
}
