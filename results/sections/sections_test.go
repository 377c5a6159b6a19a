package sections

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Sections come back in the order of their names, until they are removed.
func TestSections(t *testing.T) {
	dir := t.TempDir()
	if all, err := All(dir); len(all) != 0 || err != nil {
		t.Errorf("%v, %v", all, err)
	}
	a := Section{Title: "A", Sentences: []string{"one", "two"}, Text: 1, Header: []string{"x", "y"}, Rows: [][]string{{"1", "2"}}}
	b := Section{Title: "B"}
	for _, s := range []struct {
		name string
		s    Section
	}{{"2-b", b}, {"1-a", b}, {"1-a", a}} {
		if err := Write(dir, s.name, s.s); err != nil {
			t.Fatal(err)
		}
	}
	a.Name, b.Name = "1-a", "2-b"
	if all, err := All(dir); err != nil || !cmp.Equal(all, []Section{a, b}) {
		t.Errorf("%+v, %v", all, err)
	}
	for range 2 { // also when it is gone already
		if err := Remove(dir, "1-a"); err != nil {
			t.Error(err)
		}
	}
	if all, err := All(dir); err != nil || !cmp.Equal(all, []Section{b}) {
		t.Errorf("%+v, %v", all, err)
	}
	if err := os.MkdirAll(filepath.Join(dir, File("full"), "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Remove(dir, "full"); err == nil {
		t.Error("a folder is removed in place of a section")
	}
	if err := Write(dir, "full", b); err == nil {
		t.Error("a section takes the place of a folder")
	}
	if _, err := All(dir); err == nil {
		t.Error("a folder is a section")
	}
	if err := os.RemoveAll(filepath.Join(dir, File("full"))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, File("3-c")), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := All(dir); err == nil {
		t.Error("half a section is one")
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Write(file, "a", b); err == nil {
		t.Error("a section below a file")
	}
}
