package record

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/scheduler"
)

// TestCopyJobs: copied lines equal written lines, even if fields hold quotes and line breaks, and if cells read
// different axes.
func TestCopyJobs(t *testing.T) {
	dir := t.TempDir()
	e := &Experiment{Dir: dir, Plan: Plan{Axes: []string{"gap", "quantum"}}}
	for i, axes := range [][]Setting{nil, {{Name: "quantum", Value: `"1s", or 2`}},
		{{Name: "gap", Value: "5"}, {Name: "quantum", Value: "1s"}}} {
		ref := CellRef{Cell: []string{"a", "b", "c"}[i], Workload: "w\n1", Policy: `p"q`, Engine: "simulated",
			Simulated: true, Axes: axes}
		jobs := []scheduler.Job{{Number: 0, Name: "x-1", Class: "x,\ny", Threads: 1},
			{Number: 1, Name: "x-2", Class: "x", Threads: 2}}
		s := Setup{Cell: ref, Setup: measure.Setup{Jobs: jobs}}
		if _, err := WriteCell(filepath.Join(dir, CellsDir, ref.Cell), s, AllRecords, nil, nil, Cell{}); err != nil {
			t.Fatal(err)
		}
		write := func(name string, add func(*table.File[JobRow]) error) string {
			path := filepath.Join(dir, name)
			out, err := table.NewSchema[JobRow](name, nil).Create(dir, false, e.Plan.Axes)
			if err != nil {
				t.Fatal(err)
			}
			if err := add(out); err != nil {
				t.Fatal(err)
			}
			if _, err := out.Replace(); err != nil {
				t.Fatal(err)
			}
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			return string(raw)
		}
		copied := write("copied.csv", func(out *table.File[JobRow]) error {
			done, err := e.copyJobs(out, ref)
			if !done {
				t.Errorf("cell %s: its columns are not those of today", ref.Cell)
			}
			return err
		})
		written := write("written.csv", func(out *table.File[JobRow]) error {
			return e.eachJob(ref, Jobs, 1, func(r *JobRow) bool {
				return out.Add(r, axisValues(e.Plan.Axes, axes)) == nil
			})
		})
		if copied != written || !strings.Contains(copied, `"x,`) {
			t.Errorf("cell %s: copied\n%s\nwritten\n%s", ref.Cell, copied, written)
		}
	}
}

// TestTornCell: a cell is incomplete if a file does not have its recorded length.
func TestTornCell(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, CellsDir, "a")
	s := Setup{Cell: CellRef{Cell: "a", Engine: "simulated", Simulated: true},
		Setup: measure.Setup{Jobs: []scheduler.Job{{Name: "x-1", Threads: 1}}}}
	cell, err := WriteCell(dir, s, AllRecords, nil, nil, Cell{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range cell.Files {
		names = append(names, f.Name)
	}
	slices.Sort(names)
	if got := strings.Join(names, " "); got != "decisions.jsonl events.jsonl jobs.csv occupancy.csv" {
		t.Errorf("files: %s", got)
	}
	if !Intact(dir) {
		t.Error("the cell is not complete")
	}
	if err := os.Truncate(filepath.Join(dir, Jobs.File), 10); err != nil {
		t.Fatal(err)
	}
	if Intact(dir) {
		t.Error("a cell with half of its jobs is complete")
	}
	if _, err := readCell(top, s.Cell.Cell, s.Cell); !errors.Is(err, errTorn) {
		t.Errorf("reading it: %v", err)
	}
}

// TestForeignPlan: a plan is refused if the folder of a cell would be outside the folder of cells. This also holds for
// commands that would write there.
func TestForeignPlan(t *testing.T) {
	for _, cell := range []string{"X/../../../../pkg/out", "/etc", "..", ""} {
		dir := t.TempDir()
		raw, err := json.Marshal(Plan{Cells: []CellRef{{Cell: cell}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, PlanFile), raw, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "plan.json") {
			t.Errorf("cell %q: %v", cell, err)
		}
	}
}
