package pipeline

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tfexp/tfexp/results/record"
)

// Leftovers of a killed run are removed, and nothing else. Nothing is removed while a batch system may be using it.
func TestClearScratch(t *testing.T) {
	dir := t.TempDir()
	gone := []string{".scratch-w-h-p-r1/job.checkpoint/n", ".scratch-123/a.control", ".report.html482", ".plan.json7",
		".events.jsonl.tmp", "plots/.gantt.svg99"}
	stays := []string{"report.html", ".lock", ".scratch-file", ".notes.txt", "plots/gantt.svg", "cells/c/.scratch-x/y",
		"a.svg99"}
	for _, name := range append(slices.Clone(gone), stays...) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	missing := func(names []string) (n int) {
		for _, name := range names {
			if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
				n++
			}
		}
		return n
	}
	array := filepath.Join(dir, record.ArrayDir)
	if err := os.MkdirAll(array, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(array, "array.json"), []byte(`{"on":"slurm","tasks":[]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := clearScratch(dir); err != nil || missing(gone) > 0 {
		t.Fatalf("%d files of tasks were removed, %v", missing(gone), err)
	}
	if err := os.RemoveAll(array); err != nil {
		t.Fatal(err)
	}
	if err := clearScratch(dir); err != nil || missing(gone) != len(gone) || missing(stays) != 0 {
		t.Errorf("%d of %d leftovers are gone, and %d others, %v", missing(gone), len(gone), missing(stays), err)
	}
}
