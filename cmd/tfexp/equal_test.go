package main

import (
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/tfexp/tfexp/stages/execute"
)

var equalRuns = flag.Int("equal-runs", 0, "how many real experiments TestEqualPoliciesForReal runs")

// equal is an experiment with two equal policies, so no metric differs.
const equal = `
experiment "equal" {
  seed       = %d
  replicates = 4
}
job "short" {
  builtin "softmax" { passes = 6 }
  epochs  = 3
  threads = 1
}
workload "w" {
  submit {
    job          = job.short
    count        = 4
    interarrival = exponential("80ms")
  }
}
hardware "h" {
  engine  = "process"
  threads = 2
}
policy "a" { order = "fcfs" }
policy "b" { order = "priority" }
matrix {
  workload = [workload.w]
  hardware = [hardware.h]
  policy   = [policy.a, policy.b]
}
compare "mean_jct" {
  baseline = policy.a
  metrics  = ["makespan", "mean_waiting"]
}
`

// Real experiments with equal policies run on an idle machine or next to other programs. No more of them may claim a
// difference than 95% intervals allow.
func TestEqualPoliciesForReal(t *testing.T) {
	if *equalRuns == 0 {
		t.Skip("minutes: make equal RUNS=200")
	}
	claims := map[string]int{}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	program, err := os.ReadFile(self) // a copy of this program is both the command and the training program
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "tfexp"), program, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	for seed := 1; seed <= *equalRuns; seed++ {
		file, out := filepath.Join(dir, "equal.hcl"), filepath.Join(dir, "results")
		write(t, file, fmt.Sprintf(equal, seed))
		cmd := exec.Command(filepath.Join(dir, "tfexp"), "run", file, "--out", out)
		cmd.Env = append(os.Environ(), noRaceSleep, execute.KeepDisturbed+"=")
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		for _, row := range paperTable(t, filepath.Join(out, "equal", "comparisons.csv")) {
			if row["verdict"] != "no difference detected" {
				claims[row["metric"]]++
				t.Logf("seed %d: %s of %s, p = %s", seed, row["verdict"], row["metric"], row["p_value"])
			}
		}
		if err := os.RemoveAll(out); err != nil {
			t.Fatal(err)
		}
	}
	most := mostClaims(*equalRuns)
	for metric, n := range claims {
		if n > most {
			t.Errorf("%d of %d experiments claim a difference of %s, at most %d may", n, *equalRuns, metric, most)
		}
	}
	t.Logf("%d experiments, claims %v, at most %d each (%.3g%% on average)", *equalRuns, claims, most, 100*mean(claims)/math.Max(1, float64(*equalRuns)))
}

func mean(claims map[string]int) float64 {
	sum := 0.0
	for _, n := range claims {
		sum += float64(n) / 3
	}
	return sum
}

// mostClaims returns how many of the runs may claim a difference at the level of 5%. More claims have a probability of
// 0.001.
func mostClaims(runs int) (most int) {
	for b := (distuv.Binomial{N: float64(runs), P: 0.05}); b.CDF(float64(most)) < 0.999; most++ {
	}
	return most
}
