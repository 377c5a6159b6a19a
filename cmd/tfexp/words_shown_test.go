package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/resultstest"
)

// The reports of a real experiment with two policies and of the replay of a log show few words before anything is opened.
func TestWordsShown(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a real experiment for some seconds")
	}
	source, err := os.ReadFile("../../experiments/fcfs_vs_rr.hcl")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	shorter := strings.NewReplacer("epochs  = 50", "epochs = 8", "epochs  = 8", "epochs = 2", "replicates  = 12", "replicates = 3").Replace(string(source))
	if err := os.WriteFile("fcfs_vs_rr.hcl", []byte(shorter), 0o644); err != nil {
		t.Fatal(err)
	}
	tfexp := func(args ...string) {
		t.Helper()
		var out, errs bytes.Buffer
		if status := Main(args, &out, &errs); status != 0 {
			t.Fatalf("%q: status %d, %s", args, status, errs.String())
		}
	}
	tfexp("init", "log", "--template", "log-replay")
	for _, c := range []struct {
		file, name string
		most       int
	}{{"fcfs_vs_rr.hcl", "fcfs_vs_rr", 600}, {"log.hcl", "log", 900}} {
		tfexp("run", "--quiet", c.file)
		page, err := os.ReadFile(filepath.Join("results", c.name, record.ReportFile))
		if err != nil {
			t.Fatal(err)
		}
		words := resultstest.ShownWords(string(page))
		t.Logf("%s: %d words are shown", c.name, words)
		if words > c.most || words < 50 {
			t.Errorf("the report of %s shows %d words, want at most %d", c.name, words, c.most)
		}
	}
}
