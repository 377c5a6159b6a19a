//go:build unix

package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
)

// The trials of this search are real and take some tenths of a second each; a model chooses the next trial. While the
// file "hold" exists, the sixth trial does not end.
const search = `
experiment "search" {
  seed       = 7
  replicates = 1
}

job "j" {
  command = ["sh", "-c", "sleep 0.1; while test -e hold && test $(ls results/search/cells/*/cell.json | wc -l) -ge 5; do sleep 0.02; done; echo '{\"tfexp\": {\"epoch\": 1, \"loss\": '$LOSS', \"seconds\": 0.1}}'"]
  epochs  = 1
  env     = { LOSS = each.loss }
}

hardware "here" { engine = "process" }

tune "t" {
  job       = job.j
  objective = "loss"
  trials    = 12

  setting "loss" { values = [%s] }
}
`

// searched makes a folder with the experiment search.
func searched(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	var values []string
	for i := range 40 {
		values = append(values, fmt.Sprint(1+math.Pow(float64(i)-23, 2)))
	}
	// All values must be different.
	for i := range values {
		values[i] = fmt.Sprintf("%s.%02d", values[i], i)
	}
	text := fmt.Sprintf(search, strings.Join(values, ", "))
	if err := os.WriteFile(filepath.Join(dir, "search.hcl"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// cellsIn returns the folders of complete cells.
func cellsIn(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "results", "search", "cells", "*", "cell.json"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// settingsOf returns the lines of trials.csv up to the settings, without times.
func settingsOf(t *testing.T, dir string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "results", "search", "trials.csv"))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for line := range strings.Lines(string(raw)) {
		out.WriteString(strings.Join(strings.Split(line, ",")[:8], ",") + "\n")
	}
	return out.String()
}

// A search whose tfexp is killed (SIGKILL) continues with the same trials as an uninterrupted search, and repeats no
// finished trial.
func TestKilledSearchGoesOnWithTheSameTrials(t *testing.T) {
	if testing.Short() {
		t.Skip("runs programs for some seconds")
	}
	t.Parallel()
	whole, broken := searched(t), searched(t)
	if c := tfexp(whole, "run", "search.hcl"); c.status(t) != command.ExitOK {
		t.Fatal(c.stderr.String())
	}
	hold := filepath.Join(broken, "hold")
	if err := os.WriteFile(hold, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	c := tfexp(broken, "run", "search.hcl")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	waitFor(t, "five trials", func() bool { return len(cellsIn(t, broken)) >= 5 })
	if err := c.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	c.status(t)
	before := cellsIn(t, broken)
	if err := os.Remove(hold); err != nil {
		t.Fatal(err)
	}
	at := map[string]int64{}
	for _, path := range before {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		at[path] = info.ModTime().UnixNano()
	}
	if c := tfexp(broken, "resume"); c.status(t) != command.ExitOK {
		t.Fatal(c.stderr.String())
	}
	for path, was := range at {
		if info, err := os.Stat(path); err != nil || info.ModTime().UnixNano() != was {
			t.Errorf("%s was run again (%v)", path, err)
		}
	}
	if want, got := settingsOf(t, whole), settingsOf(t, broken); want != got || strings.Count(got, "\n") != 13 {
		t.Errorf("killed after %d trials it tried\n%s\nand else\n%s", len(before), got, want)
	}
}
