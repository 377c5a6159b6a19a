package pipeline

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tfexp/tfexp/stages"
)

// clearScratch removes the leftovers of a killed run and nothing else. It removes nothing while cells run elsewhere.
func TestClearScratch(t *testing.T) {
	dir := t.TempDir()
	gone := []string{"..SHA256SUMS.tmp8129", ".SHA256SUMS77", ".scratch-w-h-p-r1/job.checkpoint/n", ".scratch-123/a.control", ".report.html482", ".plan.json7",
		".events.jsonl.tmp", "plots/.gantt.svg99",
		"agents/1/.training.json99", "agents/1/.checkpoint5310370920988963825"}
	stays := []string{".SHA256SUMS.tmp", "report.html", ".lock", ".scratch-file", ".notes.txt", "plots/gantt.svg", "cells/c/.scratch-x/y", "notes/.own.json1", "notes/.own5310370920988963825",
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
	folders := []string{"plots", "agents", "report.html", "absent"}
	missing := func(names []string) (n int) {
		for _, name := range names {
			if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
				n++
			}
		}
		return n
	}
	if err := clearScratch(dir, folders, busy{}); err != nil || missing(gone) > 0 {
		t.Fatalf("%d files of cells elsewhere were removed, %v", missing(gone), err)
	}
	if err := clearScratch(dir, folders, nil); err != nil || missing(gone) != len(gone) || missing(stays) != 0 {
		t.Errorf("%d of %d leftovers are gone, and %d others, %v", missing(gone), len(gone), missing(stays), err)
	}
}

// busy is a place on which cells still run.
type busy struct{ stages.Place }

func (busy) Working(string) (bool, error) { return true, nil }
