package pipeline

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/pipeline/history"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
)

// Results are written to a folder only if it has a plan or a journal, or no file with a name that a run writes.
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
		{has: []string{"metrics.csv"}, foreign: "metrics.csv"}, {has: []string{"report.html"}, foreign: "report.html"},
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

// Names that differ only in capital letters are an error before anything runs, where they would share a folder. A
// link to the lock makes the file system look as if it ignored capitals.
func TestNamesThatDifferInCapitalsAlone(t *testing.T) {
	const second = "\npolicy \"RR\" { order = \"fcfs\" }\n"
	metrics := strings.Replace(simulatedFile, "seed       = 3", "seed = 3\n  records = \"metrics\"", 1)
	for _, c := range []struct {
		file  string
		folds bool
		wrong bool
	}{
		{simulatedFile, true, false},
		{simulatedFile + second, false, false},
		{simulatedFile + second, true, true},
		{metrics + second, true, false}, // these cells have no folders
	} {
		p := plan(t, c.file, t.TempDir())
		if err := os.MkdirAll(p.Dir, 0o755); err != nil {
			t.Fatal(err)
		}
		lock := filepath.Join(p.Dir, record.LockFile)
		if err := os.WriteFile(lock, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if upper := filepath.Join(p.Dir, strings.ToUpper(record.LockFile)); c.folds {
			if err := os.Symlink(record.LockFile, upper); err != nil && !errors.Is(err, os.ErrExist) {
				t.Skip("no link to a file: ", err)
			}
		} else if _, err := os.Stat(upper); err == nil {
			continue // the file system of the test ignores capitals itself
		}
		_, err := p.Run(t.Context())
		if c.wrong != errors.Is(err, ErrAlike) || !c.wrong && err != nil {
			t.Errorf("folds %t: %v", c.folds, err)
		}
		if _, made := os.Stat(filepath.Join(p.Dir, record.CellsDir)); c.wrong && made == nil {
			t.Error("cells were made")
		}
		if !c.folds {
			continue
		}
		stage := &stages.Stage{Name: "profile"}
		p.Cells = nil
		for i, pieces := range [][2]string{{"a", "b"}, {"a", "A"}} {
			p.Pieces = []PieceWork{{Stage: stage, Piece: stages.Piece{Name: pieces[0]}},
				{Stage: stage, Piece: stages.Piece{Name: pieces[1]}}}
			if err := p.alike(p.names()); errors.Is(err, ErrAlike) != (i == 1) {
				t.Errorf("pieces %q: %v", pieces, err)
			}
		}
	}
}

// A run that ended before it wrote run.json cannot be resumed. The error differs from the error for a damaged
// run.json.
func TestResumeOfWhatHadNotBegun(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, record.PlanFile), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Resume(dir, Options{}, experiments.HostFacts{Threads: 2, Cores: 2}); !errors.Is(err, ErrNotBegun) {
		t.Errorf("without %s: %v", record.RunFile, err)
	}
	if err := os.WriteFile(filepath.Join(dir, record.RunFile), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Resume(dir, Options{}, experiments.HostFacts{Threads: 2, Cores: 2}); err == nil ||
		errors.Is(err, ErrNotBegun) {
		t.Errorf("with a damaged %s: %v", record.RunFile, err)
	}
}

// When the folder of results is moved away during a run, the error is one sentence, whether another folder has taken
// its place or not. The run can be resumed in the moved folder.
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

// When an edit removes cells from the plan, their folders are removed and the journal says so. Other folders stay.
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
	entries, err := history.ReadJournal(filepath.Join(out, "small"))
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

// There is a warning about too few replicates if a comparison depends on random draws. There is no warning if nothing is
// compared, if nothing is drawn, or if there are enough.
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

// A link in the place of the folder of cells or of samples leads outside the results. Neither a run nor restoring
// from the cache writes or removes files at its target.
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
			t.Skip(err) // the system has no symbolic links
		}
		if err := p.checkFolder(); err == nil || !strings.Contains(err.Error(), name+" is a link") {
			t.Errorf("%s: %v", name, err)
		}
		if name != record.CellsDir {
			continue
		}
		r := &run{Plan: p} // skips the check in Run, since a link may appear after it
		if _, err := r.Prepare(cell, "description"); err == nil || !strings.Contains(err.Error(), "leads outside its folder") {
			t.Errorf("prepare a cell: %v", err)
		}
		left, err := os.ReadDir(filepath.Dir(kept))
		if err != nil || len(left) != 1 {
			t.Errorf("where the link leads there are %v, %v", left, err)
		}
	}
}
