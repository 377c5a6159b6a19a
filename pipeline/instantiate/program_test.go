package instantiate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/stages/experiment"
)

// A change of a file, of its name or of a link's target changes the description of a folder; files compiled by Python
// do not.
func TestFoldersAreTracked(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "data")
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(base, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	lines := func() string {
		t.Helper()
		x, err := New(&experiment.Spec{File: filepath.Join(base, "e.hcl")}, hardware.Machine{})
		do(err)
		j := &experiment.Job{Name: "j", Command: []string{"nothing"}, Dir: base, Files: []string{dir}}
		var k store.Key
		x.source(&k, j)
		return k.Description()
	}
	write("data/a.txt", "one")
	write("data/sub/b.txt", "two")
	write("other.txt", "three")
	last := lines()
	if !strings.Contains(last, "job.j.file.data data 2 files, 6 bytes, sha256:") {
		t.Errorf("the key is\n%s", last)
	}
	for _, step := range []struct {
		name    string
		do      func()
		changes bool
	}{
		{"nothing", func() {}, false},
		{"the same content again", func() { write("data/a.txt", "one") }, false},
		{"content", func() { write("data/sub/b.txt", "TWO") }, true},
		{"name", func() { do(os.Rename(filepath.Join(dir, "a.txt"), filepath.Join(dir, "c.txt"))) }, true},
		{"new file", func() { write("data/sub/d.txt", "") }, true},
		{"link", func() { do(os.Symlink("../other.txt", filepath.Join(dir, "link"))) }, true},
		{"what the link leads to", func() { write("other.txt", "four!") }, true},
		{"compiled Python", func() { write("data/__pycache__/x.pyc", "x") }, false},
		{"empty folder", func() { do(os.Mkdir(filepath.Join(dir, "empty"), 0o755)) }, false},
	} {
		step.do()
		now := lines()
		if (now != last) != step.changes {
			t.Errorf("%s: changed is %t, want %t", step.name, now != last, step.changes)
		}
		last = now
	}
}
