package pipeline

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/pipeline/decode"
	"github.com/tfexp/tfexp/pipeline/history"
	"github.com/tfexp/tfexp/results/record"
)

// explain shows why a cell last ran, how that run ended, and which values the cell depends on.
func TestExplain(t *testing.T) {
	out := t.TempDir()
	dir := filepath.Join(out, "small")
	explained := func(cell string) history.Explanation {
		t.Helper()
		x, err := history.Explain(dir, cell)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	const fcfs, rr = "mixed-sim-fcfs-r2", "mixed-sim-rr-r2"
	runs(t, simulatedFile, out, 8)
	p := plan(t, simulatedFile, out)
	at := slices.IndexFunc(p.Cells, func(c record.CellRef) bool { return c.Cell == rr })
	x := explained(rr)
	if x.Cell != rr || x.State != record.CellFinished || x.Reason != "new" || len(x.Changes) != 0 || x.Error != "" ||
		x.Seconds <= 0 || x.Ran.IsZero() || x.Key != p.Cells[at].Key ||
		strings.Join(x.Lines, "\n") != strings.TrimSpace(p.keys[at].Description()) {
		t.Errorf("a first run is explained by %+v", x)
	}
	runs(t, strings.Replace(simulatedFile, `"500ms"`, `"250ms"`, 1), out, 4)
	again := explained(rr)
	if again.Reason != "policy.quantum changed" || len(again.Changes) != 1 || again.Key == x.Key || !again.Ran.After(x.Ran) {
		t.Errorf("after an edit: %+v", again)
	}
	if other := explained(fcfs); other.Reason != "new" || other.State != record.CellFinished {
		t.Errorf("a cell that the edit leaves alone: %+v", other)
	}
	if x := explained("none"); x.State != "not run" || x.Key != "" || len(x.Lines) != 0 || !x.Ran.IsZero() {
		t.Errorf("a cell that is none: %+v", x)
	}
	if err := os.Remove(filepath.Join(dir, record.CellsDir, fcfs, "cell.json")); err != nil {
		t.Fatal(err)
	}
	if x := explained(fcfs); x.State != "interrupted" || x.Reason != "new" {
		t.Errorf("a cell that was broken off: %+v", x)
	}
}

// When a job of a cell fails (though its samples did not), the run has failed. The next run runs only that cell
// again.
func TestFailedCellsRunAgain(t *testing.T) {
	const file = `
experiment "mixed" { replicates = 1 }
job "good" {
  command = ["true"]
  epochs  = 1
}
job "bad" {
  command = ["sh", "-c", "[ $TFEXP_EPOCHS -lt 100 ] || exit 3"]
  epochs  = 100
}
workload "one" {
  submit { job = job.good }
}
workload "two" {
  submit { job = job.bad }
}
hardware "h" {
  engine  = "process"
  threads = 1
}
policy "fcfs" { order = "fcfs" }
`
	out := t.TempDir()
	for round, why := range []string{"new", "failed before"} {
		reused := round
		p := plan(t, file, out)
		o, err := p.Run(t.Context())
		if err != nil || o.Ran != 2-reused || o.Reused != reused || o.Failed != 1 {
			t.Fatalf("round %d: %+v, %v", round, o, err)
		}
		if r := readRecord(t, p.Dir); r.State != "failed" {
			t.Errorf("round %d: the run is %s", round, r.State)
		}
		x, err := history.Explain(p.Dir, "two-h-fcfs-r1")
		if err != nil || x.State != record.CellFailed || x.Reason != why {
			t.Errorf("round %d: %+v, %v", round, x, err)
		}
		if x, err := history.Explain(p.Dir, "one-h-fcfs-r1"); err != nil || x.State != record.CellFinished || x.Error != "" {
			t.Errorf("round %d: %+v, %v", round, x, err)
		}
	}
}

// lastEnds returns how each stage with files ended in the last run, by the name of the stage.
func lastEnds(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := history.ReadJournal(dir)
	if err != nil {
		t.Fatal(err)
	}
	ended := map[string]string{}
	for _, e := range entries {
		switch e.Event {
		case "run_start":
			clear(ended)
		case "stage_end":
			ended[e.Unit] = e.State
		}
	}
	return ended
}

// The output of a stage is reused if it is complete and the stage's inputs are unchanged. If a file is missing or
// truncated, the stage makes its output again.
func TestStagesAreReused(t *testing.T) {
	out := t.TempDir()
	dir := filepath.Join(out, "small")
	last := func() map[string]string { return lastEnds(t, dir) }
	runs(t, simulatedFile, out, 8)
	for name, state := range last() {
		if state != "finished" {
			t.Errorf("at first %s is %s", name, state)
		}
	}
	runs(t, simulatedFile, out, 0)
	if all := last(); len(all) < 3 || all["report"] != "reused" || all["plot"] != "reused" {
		t.Errorf("a second run: %v", all)
	}
	report := filepath.Join(dir, record.ReportFile)
	whole, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]func() error{
		"gone": func() error { return os.Remove(report) },
		"cut":  func() error { return os.WriteFile(report, whole[:len(whole)/2], 0o644) },
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		runs(t, simulatedFile, out, 0)
		if all := last(); all["report"] != "finished" || all["plot"] != "reused" {
			t.Errorf("%s: %v", name, all)
		}
		if info, err := os.Stat(report); err != nil || info.Size() < int64(len(whole))/2+1 {
			t.Errorf("%s: the report was not made anew", name)
		}
	}
	for _, name := range []string{record.Metrics.File, record.Comparisons.File} { // one stage writes all tables
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		runs(t, simulatedFile, out, 0)
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s was not made anew: %v", name, err)
		}
	}
}

// The results of another file with an experiment of the same name are replaced. While that file exists, a warning
// says so.
func TestResultsOfAnotherFile(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	run := func(name string) record.Run {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(simulatedFile), 0o644); err != nil {
			t.Fatal(err)
		}
		spec, diags := decode.Source(file, []byte(simulatedFile), decode.Options{Host: experiments.HostFacts{Threads: 2, Cores: 2}})
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		p, err := New(spec, Options{Out: out})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		r := readRecord(t, p.Dir)
		if r.File != file {
			t.Errorf("the run is of %s, want %s", r.File, file)
		}
		return r
	}
	said := func(r record.Run) string {
		for _, w := range r.Warnings {
			if w.Code == "other_file" {
				return w.Text
			}
		}
		return ""
	}
	if text := said(run("a.hcl")); text != "" {
		t.Errorf("in an empty folder: %s", text)
	}
	if text := said(run("a.hcl")); text != "" {
		t.Errorf("the same file: %s", text)
	}
	if text := said(run("b.hcl")); !strings.Contains(text, filepath.Join(dir, "a.hcl")+":") {
		t.Errorf("another file: %q", text)
	}
	if err := os.Rename(filepath.Join(dir, "b.hcl"), filepath.Join(dir, "c.hcl")); err != nil {
		t.Fatal(err)
	}
	if text := said(run("c.hcl")); text != "" {
		t.Errorf("a file that was moved: %s", text)
	}
}
