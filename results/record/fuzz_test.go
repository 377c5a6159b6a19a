package record_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/resultstest"
)

// fuzzed lists the result files whose content FuzzResults replaces.
var fuzzed = []string{record.PlanFile, record.RunFile, "plots/pictures.json", "estimates.csv", "cells/CELL/cell.json",
	"cells/CELL/events.jsonl", "cells/CELL/decisions.jsonl", "cells/CELL/jobs.csv", "cells/CELL/occupancy.csv"}

// Whatever a result file contains, it is read or refused. No name in it leads to a file outside the folder.
func FuzzResults(f *testing.F) {
	cfg := resultstest.Small()
	cfg.Long, cfg.Short, cfg.Replicates = 1, 2, 1
	dir := cfg.Write(f)
	e, err := record.Open(dir)
	if err != nil {
		f.Fatal(err)
	}
	var paths []string
	whole := map[string][]byte{}
	for i, name := range fuzzed {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if below, ok := strings.CutPrefix(name, "cells/CELL/"); ok {
			path = filepath.Join(dir, record.CellsDir, e.Cells[0].Cell, below)
		}
		raw, err := os.ReadFile(path)
		if err != nil { // no pictures were drawn
			raw = []byte(`[{"kind": "jct", "svg": "jct.svg", "png": "jct.png", "cell": "x"}]`)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				f.Fatal(err)
			}
		}
		paths, whole[path] = append(paths, path), raw
		for _, text := range []string{string(raw), "", "null", "{}", "[[[[[[", "\xff\x00", "[null]\n{}\n",
			`{"experiment": "e", "cells": [{"cell": "../../x"}, null, {"cell": "a", "axes": null}]}`,
			`[{"svg": "../../../secret", "png": "/etc/passwd"}]`} {
			f.Add(byte(i), []byte(text))
		}
	}
	f.Fuzz(func(t *testing.T, which byte, text []byte) {
		path := paths[int(which)%len(paths)]
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := os.WriteFile(path, whole[path], 0o644); err != nil {
				t.Error(err)
			}
		}()
		e, err := record.Open(dir)
		if err != nil {
			return
		}
		if len(e.Cells)+len(e.Beyond)+len(e.Missing) < len(e.Plan.Cells) {
			t.Errorf("%d cells and %d missing of %d", len(e.Cells), len(e.Missing), len(e.Plan.Cells))
		}
		for _, c := range e.Plan.Cells {
			if !filepath.IsLocal(c.Cell) {
				t.Fatalf("the cell %q is outside the folder", c.Cell)
			}
			for range e.Events(c) {
			}
			for range e.Decisions(c) {
			}
			_, _ = e.Jobs(c)
			_, _ = e.Occupancy(c)
			_, _ = e.Simulation(c)
			_, _ = e.Description(c)
		}
		_, _ = record.Estimates.Read(e.Dir)
		e.Warnings()
		_, _ = e.Pictures() // their readers look below the folder alone
	})
}
