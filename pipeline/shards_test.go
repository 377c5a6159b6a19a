package pipeline

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/pipeline/history"
	"github.com/tfexp/tfexp/results/record"
)

// Cells that record only their metrics are stored as lines of a file. They are reused, replaced and explained like
// cells with a folder.
func TestShards(t *testing.T) {
	out := t.TempDir()
	source := strings.Replace(simulatedFile, "replicates = 4", "replicates = 4\n  records = \"metrics\"", 1)
	o := runs(t, source, out, 8)
	entries, err := os.ReadDir(filepath.Join(o.Dir, record.CellsDir))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got := strings.Join(names, " "); got != "index.csv run-1.jsonl" {
		t.Error(got)
	}
	metrics, err := os.ReadFile(filepath.Join(o.Dir, record.Metrics.File))
	if err != nil {
		t.Fatal(err)
	}
	runs(t, source, out, 0)
	e, err := record.Open(o.Dir)
	if err != nil || len(e.Cells) != 8 || len(e.Missing) > 0 {
		t.Fatal(len(e.Cells), e.Missing, err)
	}
	if text, err := e.Description(e.Cells[0].CellRef); err != nil || !strings.Contains(text, "\nrecords metrics\n") {
		t.Error(text, err)
	}
	x, err := history.Explain(o.Dir, "mixed-sim-rr-r1")
	if err != nil || x.State != record.CellFinished || x.Key != e.Cells[4].Key && len(x.Lines) == 0 {
		t.Error(x, err)
	}

	edited := strings.Replace(source, `"500ms"`, `"250ms"`, 1)
	p := plan(t, edited, out)
	for i, w := range p.Work {
		if p.Cells[i].Policy == "rr" && w.Reason != "policy.quantum changed" {
			t.Error(w)
		}
	}
	runs(t, edited, out, 4)
	runs(t, source, out, 0) // the results of the first file are still in the shard
	if again, err := os.ReadFile(filepath.Join(o.Dir, record.Metrics.File)); err != nil || string(again) != string(metrics) {
		t.Errorf("the metrics are others: %v", err)
	}

	// A cell whose line is damaged runs again, and a fresh run runs all cells again.
	path := filepath.Join(o.Dir, record.CellsDir, "run-1.jsonl")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	end := strings.IndexByte(string(raw), '\n')
	clear(raw[:end])
	if err := os.WriteFile(path, raw, 0o644); err != nil {
		t.Fatal(err)
	}
	runs(t, source, out, 1)
	fresh, err := New(loadSmall(t, source), Options{Out: out, Fresh: true})
	if err != nil {
		t.Fatal(err)
	}
	if o, err := fresh.Run(t.Context()); err != nil || o.Ran != 8 {
		t.Error(o, err)
	}
	if s, err := record.OpenShards(o.Dir, ""); err != nil {
		t.Error(err)
	} else if at, ok := s.Last("mixed-sim-rr-r1"); !ok || at.Shard != "run-1.jsonl" {
		t.Error(at)
	}
}
