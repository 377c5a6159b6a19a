//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/cmd/tfexp/states"
	"github.com/tfexp/tfexp/cmd/tfexp/watch"
	"github.com/tfexp/tfexp/hardware/need"
	"github.com/tfexp/tfexp/pipeline/history"
	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/stages/execute"
)

// looked is an experiment whose comparisons are decided at different checks, except one that stays undecided.
const looked = `
experiment "looked" {
  seed       = 5
  replicates = 12
  CERTAIN
}
job "long" {
  command = ["true"]
  epochs  = 10
  runtime { epoch = "20s" }
}
job "short" {
  command = ["true"]
  epochs  = 3
  runtime { epoch = "5s" }
}
workload "w" {
  submit {
    job          = job.long
    count        = 6
    interarrival = exponential("230s")
  }
  submit {
    job          = job.short
    count        = 18
    interarrival = exponential("60s")
  }
}
hardware "h" {
  engine  = "simulated"
  threads = 1
}
policy "fcfs" { order = "fcfs" }
policy "sjf" { order = "sjf" }
policy "rr" {
  order   = "round_robin"
  quantum = "10s"
}
compare "mean_waiting" {
  baseline = policy.fcfs
  metrics  = ["makespan", "p95_jct"]
}
`

// lookedAt writes the experiment into a new folder, with the given certain block or without one.
func lookedAt(t *testing.T, certain string) (dir, results string) {
	t.Helper()
	dir = t.TempDir()
	write(t, filepath.Join(dir, "looked.hcl"), strings.Replace(looked, "CERTAIN", certain, 1))
	return dir, filepath.Join(dir, "results", "looked")
}

// until runs the experiment until some of its cells have finished, and halts it at its next change of results. Calling
// end kills it. end is nil if the run ended before.
func until(t *testing.T, dir, results string, cells int) (end func()) {
	t.Helper()
	s := tfexp(dir, "run", "--quiet", "--parallel", "1", "looked.hcl")
	f := fault{"halt", 1, filepath.Join(dir, "halted")}
	_ = os.Remove(f.file)
	s.Env = append(os.Environ(), f.String())
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = s.Wait(); close(ended) }()
	for f.awaitHalt(ended) {
		if len(finishedCells(results)) >= cells {
			return func() { _ = s.Process.Kill(); <-ended }
		}
		f.release(t, false)
	}
	return nil
}

// finishedCells returns the finished cells according to the journal.
func finishedCells(results string) map[string]bool {
	cells := map[string]bool{}
	entries, _ := history.ReadJournal(results)
	for _, e := range entries {
		if e.Event == "cell_end" && e.State == record.CellFinished {
			cells[e.Unit] = true
		}
	}
	return cells
}

// sameTables reads the result tables that have no times of this machine.
func sameTables(t *testing.T, results string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, name := range []string{"jobs.csv", "metrics.csv", "comparisons.csv"} {
		raw, err := os.ReadFile(filepath.Join(results, name))
		if err != nil {
			t.Fatal(err)
		}
		all[name] = string(raw)
	}
	return all
}

// A run that is killed after or during each check and then resumed has the same cells and identical tables as an
// uninterrupted run.
func TestKilledAtEachLook(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the program again and again")
	}
	t.Parallel()
	const block = "certain { within = \"2%\" }"
	dir, results := lookedAt(t, block)
	if code := tfexp(dir, "run", "--quiet", "looked.hcl").status(t); code != command.ExitOK {
		t.Fatalf("the unbroken run ended with %d", code)
	}
	want := sameTables(t, results)
	e, err := record.Open(results)
	if err != nil {
		t.Fatal(err)
	}
	var at []int // number of cells before each check
	for _, look := range stats.Looks(e.Plan.Replicates) {
		n := 0
		for _, c := range e.Plan.Cells {
			if c.Replicate <= look {
				n++
			}
		}
		if len(at) == 0 || n > at[len(at)-1] {
			at = append(at, n)
		}
	}
	if len(at) < 5 || at[len(at)-1] == 3*e.Plan.Replicates {
		t.Fatalf("the experiment has too few looks, or decides nothing early: %v cells", at)
	}
	dir, results = lookedAt(t, block)
	kills := 0
	for _, n := range at {
		for _, cells := range []int{n, n + 1} {
			if end := until(t, dir, results, cells); end != nil {
				end()
				kills++
			}
		}
	}
	if kills < len(at) {
		t.Errorf("%d kills at %d looks", kills, len(at))
	}
	if code := tfexp(dir, "resume", "--quiet", "results/looked").status(t); code != command.ExitOK {
		t.Fatalf("the last part ended with %d", code)
	}
	for name, got := range sameTables(t, results) {
		if got != want[name] {
			t.Errorf("%s differs after %d kills:\n%s\nwant\n%s", name, kills, got, want[name])
		}
	}
	if got := len(finishedCells(results)); got != len(e.Plan.Cells) {
		t.Errorf("%d cells have run, want %d", got, len(e.Plan.Cells))
	}
}

// Comparisons that are printed during a run have the same level in all commands, with and without a certain block. The
// level is the level of the last planned check, or of an unplanned check.
func TestPrintedWhileARunGoesOn(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the program again and again")
	}
	t.Parallel()
	for _, block := range []string{"", "certain { within = \"2%\" }"} {
		dir, results := lookedAt(t, block)
		for _, cells := range []int{9, 11, 12, 16, 20} {
			end := until(t, dir, results, cells)
			if end == nil {
				t.Fatalf("%q: the run ended before %d cells", block, cells)
			}
			printed(t, results, block != "")
			end()
		}
	}
}

// printed checks what commands print about unfinished results.
func printed(t *testing.T, results string, certain bool) {
	t.Helper()
	e, err := record.Open(results)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := analysis.Comparisons(e)
	if err != nil || len(rows) != 6 {
		t.Fatal(len(rows), err)
	}
	waits := map[string]map[int]float64{} // by policy and replicate
	for _, c := range e.Cells {
		if waits[c.Policy] == nil {
			waits[c.Policy] = map[int]float64{}
		}
		waits[c.Policy][c.Replicate] = measure.MeanWaiting.Of(&c.Metrics)
	}
	table := outputOf(t, "export", "table", "comparisons", "--dir", results, "--format", "markdown")
	for _, r := range rows {
		change := analysis.ChangeOf(&r)
		if !strings.Contains(table, change.Word()) || stats.Finite(change.Low) && !strings.Contains(table, change.Signed()) {
			t.Errorf("export prints\n%s\nwithout %q", table, change.Signed())
		}
		if r.Metric != "mean_waiting_s" {
			continue
		}
		var base, other []float64
		for replicate := 1; replicate <= e.Plan.Replicates; replicate++ {
			b, one := waits[r.BaselinePolicy][replicate]
			c, two := waits[r.CandidatePolicy][replicate]
			if one && two {
				base, other = append(base, b), append(other, c)
			}
		}
		level := 0.95
		if !certain || r.Missing > 0 {
			level = 1 - 0.05/10 // the level of unplanned checks
		}
		want := stats.ComparePairs(base, other, stats.LookAt(stats.Looks(12), 12, len(base), 0.95).Level(level))
		if r.Pairs != len(base) || r.DifferenceLow > want.DifferenceLow+1e-9 || r.DifferenceHigh < want.DifferenceHigh-1e-9 {
			t.Errorf("%d pairs: %g to %g is narrower than %g to %g", r.Pairs, r.DifferenceLow, r.DifferenceHigh,
				want.DifferenceLow, want.DifferenceHigh)
		}
	}
	headline, err := states.Headline(e)
	if err != nil || !strings.HasPrefix(headline.Sentence, "So far, with ") && !e.Complete() {
		t.Errorf("%v: the headline is %q", err, headline.Sentence)
	}
	// serve and top show the headline; status and an interrupted run print no comparison.
	folder := watch.NewFolder(results)
	page := watch.WebHandler(folder, watch.WebOptions{})
	sentence, _ := json.Marshal(headline.Sentence)
	waitFor(t, "the headline", func() bool {
		answer := httptest.NewRecorder()
		page.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "http://localhost/api/experiments/looked", nil))
		return strings.Contains(answer.Body.String(), string(sentence))
	})
	if text := outputOf(t, "status", results); strings.ContainsAny(text, "%±") {
		t.Errorf("status prints\n%s", text)
	}
}

// tiny is an experiment with two equal policies and jobs of some milliseconds.
const tiny = `
experiment "tiny" {
  seed       = %d
  replicates = 8
  certain { within = "0.5%%" }
}
job "count" {
  command = ["sh", "-c", "i=0; while [ $i -lt 4000 ]; do i=$((i+1)); done"]
  epochs  = 1
  threads = 1
}
workload "w" {
  submit {
    job          = job.count
    count        = 3
    interarrival = exponential("5ms")
  }
}
hardware "h" {
  engine  = "process"
  threads = 2
}
policy "a" { order = "fcfs" }
policy "b" { order = "priority" }
compare "mean_jct" {
  baseline = policy.a
  metrics  = ["makespan"]
}
`

// Real experiments compare two equal policies until the comparison is decided. In every second one, other programs use
// the machine. The number that claims a difference may not exceed the level.
func TestEqualPoliciesUntilCertain(t *testing.T) {
	if !need.Long() {
		t.Skip("real experiments for some minutes: make long")
	}
	const runs = 50
	claims, pairs := map[string]int{}, 0
	dir := t.TempDir()
	file, out := filepath.Join(dir, "tiny.hcl"), filepath.Join(dir, "results")
	for seed := 1; seed <= runs; seed++ {
		write(t, file, fmt.Sprintf(tiny, seed))
		busy := exec.Command("sh", "-c", "while :; do :; done")
		if seed%2 == 0 {
			if err := busy.Start(); err != nil {
				t.Fatal(err)
			}
		}
		s := tfexp(dir, "run", "--quiet", "tiny.hcl")
		s.Env = append(os.Environ(), execute.KeepDisturbed+"=")
		code := s.status(t)
		if busy.Process != nil {
			_ = busy.Process.Kill()
			_ = busy.Wait()
		}
		if code != command.ExitOK {
			t.Fatalf("seed %d ended with %d: %s", seed, code, s.stderr.String())
		}
		for _, row := range readTable(t, filepath.Join(out, "tiny", "comparisons.csv")) {
			pairs += int(number(t, row["pairs"]))
			if row["verdict"] == record.Better || row["verdict"] == record.Worse {
				claims[row["metric"]]++
				t.Logf("seed %d: %s of %s after %s pairs, p = %s", seed, row["verdict"], row["metric"], row["pairs"], row["p_value"])
			}
		}
		if err := os.RemoveAll(out); err != nil {
			t.Fatal(err)
		}
	}
	most := mostClaims(runs)
	for metric, n := range claims {
		if n > most {
			t.Errorf("%d of %d experiments claim a difference of %s, at most %d may", n, runs, metric, most)
		}
	}
	t.Logf("%d experiments with %.1f pairs: claims %v, at most %d each", runs, float64(pairs)/2/runs, claims, most)
}
