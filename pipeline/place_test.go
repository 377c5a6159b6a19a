package pipeline

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
)

// A folder is a run's if it has a plan or a journal, or nothing that a run writes.
func TestFoldersOfRuns(t *testing.T) {
	type folder struct {
		has     []string
		foreign string
	}
	folders := []folder{
		{has: nil},
		{has: []string{"notes.txt"}},
		{has: []string{record.PlanFile, record.CellsDir, record.RunFile}},
		{has: []string{record.JournalFile, record.CellsDir, record.RunFile}},
		{has: []string{record.CellsDir}, foreign: record.CellsDir},
		{has: []string{record.ExperimentFile}, foreign: record.ExperimentFile},
		{has: []string{"notes.txt", record.RunFile}, foreign: record.RunFile},
		{has: []string{"metrics.csv"}, foreign: "metrics.csv"},
	}
	if drawn {
		folders = append(folders, folder{has: []string{"report.html"}, foreign: "report.html"})
	}
	for _, c := range folders {
		out := t.TempDir()
		p := plan(t, simulatedFile, out)
		for _, name := range c.has {
			path := filepath.Join(p.Dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if name == record.CellsDir {
				if err := os.Mkdir(path, 0o755); err != nil {
					t.Fatal(err)
				}
			} else if err := os.WriteFile(path, nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		switch err := p.checkFolder(); {
		case c.foreign == "" && err != nil:
			t.Errorf("%q: %v", c.has, err)
		case c.foreign != "" && (!errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), "such as "+c.foreign+",")):
			t.Errorf("%q: %v", c.has, err)
		}
	}
}

// A folder that is moved away during a run is said in one sentence, whether another has its place or not; a run of the
// moved one goes on with what had finished.
func TestFolderMovedDuringARun(t *testing.T) {
	for _, replaced := range []bool{false, true} {
		out, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "moved")
		var dir string
		var moved error
		p, err := New(loadSmall(t, simulatedFile), Options{Out: out, Parallel: 1, Observe: func(p Progress) {
			if p.Kind == stages.UnitEnd && p.Stage == "execute" && p.Done == 3 {
				moved = os.Rename(dir, elsewhere)
				if replaced {
					moved = errors.Join(moved, os.Mkdir(dir, 0o755))
				}
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		dir = p.Dir
		_, err = p.Run(t.Context())
		if moved != nil || !errors.Is(err, ErrGone) || strings.Contains(err.Error(), "\n") ||
			!strings.Contains(err.Error(), dir) {
			t.Fatalf("moved (%v), another in its place: %t: %v", moved, replaced, err)
		}
		again, diags, err := Resume(elsewhere, Options{}, experiments.HostFacts{Threads: 2, Cores: 2})
		if err != nil || diags.HasErrors() {
			t.Fatal(err, diags)
		}
		if o, err := again.Run(t.Context()); err != nil || o.Ran+o.Reused != 8 || o.Reused == 0 {
			t.Errorf("the moved folder: %+v, %v", o, err)
		}
	}
}

// Cells that an edit takes out of the plan lose their folders, and the journal says so; the others keep theirs.
func TestCellsNoLongerPlannedAreRemoved(t *testing.T) {
	out := t.TempDir()
	runs(t, simulatedFile, out, 8)
	before, _ := filepath.Glob(filepath.Join(out, "small", record.CellsDir, "*-rr-*"))
	if len(before) != 4 {
		t.Fatalf("%d folders of rr: %q", len(before), before)
	}
	without := simulatedFile[:strings.Index(simulatedFile, `policy "rr"`)]
	runs(t, without, out, 0)
	after, _ := filepath.Glob(filepath.Join(out, "small", record.CellsDir, "*"))
	if len(after) != 4 || strings.Contains(strings.Join(after, " "), "-rr-") {
		t.Errorf("left are %q", after)
	}
	removed := map[string]int{}
	entries, err := store.ReadJournal(filepath.Join(out, "small"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Event == "cell_removed" {
			removed[e.Unit]++
		}
	}
	for _, path := range before {
		if removed[filepath.Base(path)] != 1 {
			t.Errorf("the journal tells the removal of %s %d times", filepath.Base(path), removed[filepath.Base(path)])
		}
	}
	if len(removed) != 4 {
		t.Errorf("the journal tells the removal of %v", removed)
	}
}

// Too few replicates are warned of where a comparison has to be made of draws: not where nothing is compared, nothing
// is drawn, or there are enough.
func TestFewReplicatesAreWarnedOf(t *testing.T) {
	fixed := strings.Replace(simulatedFile, `exponential("400ms")`, `"400ms"`, 1)
	alone := simulatedFile[:strings.Index(simulatedFile, `compare "`)]
	for _, c := range []struct {
		name, file, replicates string
		warned                 bool
	}{
		{"one", simulatedFile, "1", true},
		{"two", simulatedFile, "2", true},
		{"three", simulatedFile, "3", false},
		{"nothing drawn", fixed, "1", false},
		{"one policy", alone[:strings.Index(alone, `policy "rr"`)], "2", false},
	} {
		out := t.TempDir()
		p := plan(t, strings.Replace(c.file, "replicates = 4", "replicates = "+c.replicates, 1), out)
		if _, err := p.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		warned := false
		for _, w := range readRecord(t, p.Dir).Warnings {
			warned = warned || w.Code == record.FewReplicates
		}
		if warned != c.warned {
			t.Errorf("%s: warned %v, want %v: %+v", c.name, warned, c.warned, readRecord(t, p.Dir).Warnings)
		}
	}
}

// A link in the place of the folder of cells or samples is no way out of the results: nothing is written or removed where
// it leads, neither by a run nor by what the cache brings back.
func TestLinksOutOfTheResults(t *testing.T) {
	for _, name := range []string{record.CellsDir, record.SamplesDir} {
		out, elsewhere := t.TempDir(), t.TempDir()
		runs(t, simulatedFile, out, 8)
		p := plan(t, simulatedFile, out)
		path := filepath.Join(p.Dir, name)
		cell := p.Cells[0].Cell
		kept := filepath.Join(elsewhere, cell, "kept")
		if err := errors.Join(os.RemoveAll(path), os.Mkdir(filepath.Dir(kept), 0o755), os.WriteFile(kept, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(elsewhere, path); err != nil {
			t.Skip(err) // a system without links
		}
		if err := p.checkFolder(); err == nil || !strings.Contains(err.Error(), name+" is a link") {
			t.Errorf("%s: %v", name, err)
		}
		if name != record.CellsDir {
			continue
		}
		r := &run{Plan: p} // the link may come after the check
		if _, err := r.Prepare(cell, "description"); err == nil || !strings.Contains(err.Error(), "leads out of its folder") {
			t.Errorf("prepare a cell: %v", err)
		}
		left, err := os.ReadDir(filepath.Dir(kept))
		if err != nil || len(left) != 1 {
			t.Errorf("where the link leads there are %v, %v", left, err)
		}
	}
}
