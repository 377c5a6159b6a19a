package record

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A file that a command has written gets a new sum. A file that it has not written keeps its sum, whatever the content
// is now. After a killed command, its files are accepted as they are.
func TestSums(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, age time.Duration) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if at := time.Now().Add(-age); age > 0 {
			if err := os.Chtimes(path, at, at); err != nil {
				t.Fatal(err)
			}
		}
	}
	begin := func() *Sums {
		t.Helper()
		s, err := BeginSums(dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, SumsFile)); err == nil {
			t.Error("the sums are there while a command writes")
		}
		return s
	}
	sums := func(s *Sums) map[string]string {
		t.Helper()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(filepath.Join(dir, SumsFile))
		if err != nil {
			t.Fatal(err)
		}
		return ParseSums(raw)
	}
	for _, name := range []string{CacheFile, LockFile, ".hidden", "cells/.events.jsonl.tmp"} {
		write(name, "not listed", 0)
	}
	write("a.csv", "1", time.Hour)
	write("cells/x/b.csv", "2", time.Hour)
	if err := os.Link(filepath.Join(dir, "a.csv"), filepath.Join(dir, "link.csv")); err != nil {
		t.Fatal(err)
	}
	first := sums(begin())
	if len(first) != 3 || first["link.csv"] != first["a.csv"] ||
		first["a.csv"] != "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b" {
		t.Fatalf("%v", first)
	}

	write("a.csv", "changed by somebody", time.Minute)
	s := begin()
	write("cells/x/b.csv", "3", 0)
	second := sums(s)
	if second["a.csv"] != first["a.csv"] || second["cells/x/b.csv"] == first["cells/x/b.csv"] {
		t.Errorf("%v, before %v", second, first)
	}

	begin() // and killed
	write("cells/x/b.csv", "4", 0)
	third := sums(begin())
	if third["a.csv"] != first["a.csv"] || third["cells/x/b.csv"] == second["cells/x/b.csv"] {
		t.Errorf("after a command that was killed: %v, before %v", third, second)
	}
	if err := os.Remove(filepath.Join(dir, "a.csv")); err != nil {
		t.Fatal(err)
	}
	if last := sums(begin()); len(last) != 2 {
		t.Errorf("%v", last)
	}
}
