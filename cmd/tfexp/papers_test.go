package main

import (
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/hardware/need"
	"github.com/tfexp/tfexp/pipeline/decode"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/reference"
)

// papers returns the shipped experiments on data of papers.
func papers(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(filepath.Join("..", "..", "experiments", "papers"), func(path string, e fs.DirEntry,
		err error) error {
		if err == nil && filepath.Ext(path) == ".hcl" {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) < 3 {
		t.Fatalf("the experiments on papers are %q, %v", files, err)
	}
	return files
}

// TestPapersRun checks that all cells of each shipped experiment on data of a paper finish. TestTransient and
// references.csv compare the numbers with the papers.
func TestPapersRun(t *testing.T) {
	if !need.Long() {
		t.Skip("it runs whole experiments: make long")
	}
	for _, file := range papers(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			e := runPaper(t, shorter(t, file))
			for _, c := range e.Cells {
				if c.State != record.CellFinished {
					t.Errorf("%s: %s %s", c.Cell, c.State, c.Error)
				}
			}
			if len(e.Cells) != len(e.Plan.Cells) {
				t.Errorf("%d of %d cells are complete", len(e.Cells), len(e.Plan.Cells))
			}
			if filepath.Base(file) == "transient.hcl" {
				transient(t, e)
			}
		})
	}
}

// shorter returns a copy of pollux.hcl with one of its five workloads, because pollux.hcl takes as long as all other
// experiments together. It returns other experiments unchanged.
func shorter(t *testing.T, file string) string {
	t.Helper()
	if filepath.Base(file) != "pollux.hcl" {
		return file
	}
	dir := t.TempDir()
	from := filepath.Join(filepath.Dir(file), "pollux")
	if err := os.CopyFS(filepath.Join(dir, "pollux"), os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	rewrite := func(from, to string, change func(string) string) {
		raw, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		text := change(string(raw))
		if text == string(raw) {
			t.Fatalf("%s is not as it was", from)
		}
		if err := os.WriteFile(to, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	rewrite(file, filepath.Join(dir, "pollux.hcl"), func(s string) string {
		return strings.Replace(s, "[1, 2, 3, 4, 5]", "[1]", 1)
	})
	rewrite(filepath.Join(from, "expected.csv"), filepath.Join(dir, "pollux", "expected.csv"), func(s string) string {
		var kept []string
		for i, line := range strings.SplitAfter(s, "\n") {
			if i == 0 || strings.HasPrefix(line, "1,") {
				kept = append(kept, line)
			}
		}
		return strings.Join(kept, "")
	})
	return filepath.Join(dir, "pollux.hcl")
}

// runPaper runs an experiment whose cells are all simulated or recorded, in a folder of the test.
func runPaper(t *testing.T, file string) *record.Experiment {
	t.Helper()
	spec, diags := decode.File(file, decode.Options{Host: experiments.HostFacts{Threads: 2, Cores: 2,
		MemoryBytes: 1 << 33}})
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	for _, c := range spec.Cells {
		if c.Hardware.Real() {
			t.Skipf("%s runs programs for real", spec.Name)
		}
	}
	out := t.TempDir()
	if code := Main([]string{"run", file, "--out", out}, os.Stdout, os.Stderr); code != 0 {
		t.Fatalf("exit status %d", code)
	}
	e, err := record.Open(filepath.Join(out, spec.Name))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// transient compares results with the paper. Recorded runs have the same cost as in the paper; simulated runs agree in
// time and cost within some percent.
func transient(t *testing.T, e *record.Experiment) {
	t.Helper()
	rows, err := reference.References.Read(e.Dir)
	if err != nil || len(rows) < 40 {
		t.Fatalf("%d rows of references, %v", len(rows), err)
	}
	sum, n := 0.0, 0
	for _, r := range rows {
		if r.Cells == 0 || math.Abs(r.ErrorPct) > 9 {
			t.Errorf("%s of %s: %+v", r.Metric, r.Place, r)
		}
		sum += math.Abs(r.ErrorPct)
		n++
	}
	if mean := sum / float64(n); mean > 2.5 {
		t.Errorf("ours is %.2f%% off on average", mean)
	}
	servers, err := record.Servers.Read(e.Dir)
	if err != nil {
		t.Fatal(err)
	}
	revoked, recorded := 0, 0
	roles := map[string]bool{}
	for _, s := range servers {
		revoked += s.Revoked
		roles[s.Role] = true
		if s.Market == "" {
			recorded++
		}
	}
	if revoked == 0 || recorded == 0 || !roles["chief"] || !roles["worker"] || !roles["ps"] {
		t.Errorf("%d revoked, %d recorded, roles %v", revoked, recorded, roles)
	}
}
