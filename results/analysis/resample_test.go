package analysis_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/resultstest"
)

// TestBlocksOfALog: if the same jobs ran under two policies without randomness, the jobs of each 100 ms are a block.
// The comparison is of the means over jobs that finished under both policies.
func TestBlocksOfALog(t *testing.T) {
	cfg := resultstest.Small()
	cfg.Replicates, cfg.Short, cfg.FailJob = 1, 30, 7
	dir := cfg.Write(t)
	e := open(t, dir)
	for i := range e.Cells {
		e.Cells[i].Fixed = true
	}
	one := func(metric, class string, length float64) (row record.ComparisonRow) {
		t.Helper()
		c := record.Compare{Metric: metric, Baseline: "fcfs", Level: 0.9, Block: length}
		if class != "" {
			c.By = "class"
		}
		e.Plan.Compares = []record.Compare{c}
		for _, r := range comparisons(t, e) {
			if r.Group == class {
				row = r
			}
		}
		return row
	}
	// The number of blocks and the means are over the finished jobs, of a class or of all classes.
	expect := func(class string) (blocks int, mean [2]float64) {
		seen := map[float64]bool{}
		for i, c := range e.Cells {
			jobs, err := e.Jobs(c.CellRef)
			if err != nil {
				t.Fatal(err)
			}
			n := 0.0
			for _, j := range jobs {
				if j.State == "finished" && (class == "" || j.Class == class) {
					seen[math.Floor(j.Arrival/0.1)] = true
					mean[i] += j.JCT
					n++
				}
			}
			mean[i] /= n
		}
		return len(seen), mean
	}
	for _, class := range []string{"", "short"} {
		r := one("mean_jct_s", class, 0.1)
		blocks, mean := expect(class)
		if blocks < 10 || r.Blocks != blocks || r.Method != "block bootstrap" || r.Group != class {
			t.Errorf("%q: %d blocks by %q, want %d", class, r.Blocks, r.Method, blocks)
		}
		if math.Abs(r.BaselineMean-mean[0]) > 1e-9 || math.Abs(r.CandidateMean-mean[1]) > 1e-9 {
			t.Errorf("%q: means %g and %g, want %g", class, r.BaselineMean, r.CandidateMean, mean)
		}
		if !(r.CILow <= r.Ratio && r.Ratio <= r.CIHigh) || math.IsNaN(r.PValue) {
			t.Errorf("%q: %+v", class, r)
		}
	}
	for _, c := range []struct {
		what, metric string
		length       float64
		blocks       int
	}{
		{"too few stretches", "mean_jct_s", 1000, 1}, {"no mean over jobs", "makespan_s", 0.1, 0},
		{"none asked for", "mean_jct_s", 0, 0},
	} {
		if r := one(c.metric, "", c.length); r.Blocks != c.blocks || r.Method != record.OneRun {
			t.Errorf("%s: %d blocks by %q", c.what, r.Blocks, r.Method)
		}
	}
	jobs := filepath.Join(dir, record.CellsDir, e.Cells[0].Cell, record.Jobs.File)
	if err := os.WriteFile(jobs, []byte("job,class\n\"a"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := analysis.Comparisons(e); err != nil {
		t.Errorf("no blocks are asked for: %v", err)
	}
	e.Plan.Compares[0].Block = 0.1
	if _, err := analysis.Comparisons(e); err == nil {
		t.Error("a damaged table of jobs is no error")
	}
	if err := os.Remove(jobs); err != nil {
		t.Fatal(err)
	}
	if r := one("mean_jct_s", "", 0.1); r.Blocks != 0 || r.Method != record.OneRun {
		t.Errorf("jobs were not recorded: %d blocks by %q", r.Blocks, r.Method)
	}
}
