package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A missing set has no cells, and a folder without shards has no sets.
func TestNothing(t *testing.T) {
	var none *Shards
	if _, ok := none.Find("a", "k"); ok {
		t.Error("found")
	}
	if _, ok := none.Last("a"); ok {
		t.Error("found")
	}
	if err := errors.Join(none.WriteIndex(), (*ShardWriter)(nil).Close()); err != nil {
		t.Error(err)
	}
	dir := t.TempDir()
	for _, at := range []string{"none", "file"} {
		if at == "file" {
			if err := os.WriteFile(filepath.Join(dir, at), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		s, err := OpenShards(filepath.Join(dir, at), "")
		if err != nil || len(s.cells) != 0 {
			t.Errorf("%s: %v, %v", at, s, err)
		}
	}
	s := openSet(t, dir)
	if _, ok := s.Last("a"); ok {
		t.Error("found")
	}
	if err := s.WriteIndex(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, CellsDir)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an index of nothing: %v", err)
	}
	if _, err := CreateShard(filepath.Join(dir, "file"), "run"); err == nil {
		t.Error("a shard below a file")
	}
}

// Only complete cells are added and found: a complete cell has a name, a key and a state.
func TestLines(t *testing.T) {
	dir := t.TempDir()
	w := create(t, dir, "run")
	for _, l := range []ShardLine{line("", "k", "s"), line("a", "", "s"), line("a", "k", "")} {
		if at, err := w.Add(l); err == nil {
			t.Errorf("%+v is a cell at %+v", l, at)
		}
	}
	for _, raw := range []string{`{`, `[]`, `{"cell":"a","result":{}}`, `{"cell":"a","result":{"key":"k"}}`, `{"result":{"key":"k","state":"s"}}`} {
		if e, err := entryOf([]byte(raw)); err == nil {
			t.Errorf("%s is a cell at %+v", raw, e)
		}
	}
	var at []ShardEntry
	for _, l := range []ShardLine{line("a", "k", "failed"), line("a", "l", "finished"), line("a", "k", "failed"), line("b", "k", "finished")} {
		e, err := w.Add(l)
		if err != nil {
			t.Fatal(err)
		}
		at = append(at, e)
	}
	s := openSet(t, dir)
	if e, _ := s.Last("a"); e != at[2] {
		t.Errorf("the last is %+v, want %+v", e, at[2])
	}
	if e, _ := s.Find("a", "k"); e != at[2] {
		t.Errorf("of two that failed the last counts, not %+v", e)
	}
	var got []string
	if err := s.Each([]ShardEntry{at[3], at[0]}, func(i int, l ShardLine) { got = append(got, fmt.Sprint(i, l.Cell)) }); err != nil ||
		strings.Join(got, " ") != "1a 0b" {
		t.Errorf("%q, %v", got, err)
	}
	got = nil
	err := s.All(3, func(i int) (string, string) { return []string{"none", "b", "a"}[i], "k" }, func(i int, l ShardLine) {
		got = append(got, fmt.Sprint(i, l.Cell))
	})
	if err != nil || strings.Join(got, " ") != "2a 1b" {
		t.Errorf("%q, %v", got, err)
	}
	for _, e := range []ShardEntry{{Cell: "b", Shard: "none.jsonl"}, {Cell: "b", Shard: at[0].Shard, At: at[0].At, Size: at[0].Size}} {
		if l, err := s.Line(e); err == nil {
			t.Errorf("%+v is %+v", e, l)
		}
	}
}

// TestAdded: a writer does not read its own additions again, unless another writer has added cells in between.
func TestAdded(t *testing.T) {
	dir := t.TempDir()
	w := create(t, dir, "run")
	s := openSet(t, dir)
	first, err := w.Add(line("a", "k", "finished"))
	if err != nil {
		t.Fatal(err)
	}
	s.Added(first)
	if s.read[first.Shard] != int64(first.Size)+1 {
		t.Errorf("%d bytes are known of %+v", s.read[first.Shard], first)
	}
	if _, err := w.Add(line("between", "k", "finished")); err != nil {
		t.Fatal(err)
	}
	third, err := w.Add(line("c", "k", "finished"))
	if err != nil {
		t.Fatal(err)
	}
	s.Added(third)
	for range 2 {
		if err := s.Update(); err != nil {
			t.Fatal(err)
		}
	}
	for _, cell := range []string{"a", "between", "c"} {
		if len(s.cells[cell]) != 1 {
			t.Errorf("%s is there %d times", cell, len(s.cells[cell]))
		}
	}
	info, err := os.Stat(filepath.Join(dir, CellsDir, first.Shard))
	if err != nil || s.read[first.Shard] != info.Size() {
		t.Errorf("%d of %d bytes are read: %v", s.read[first.Shard], info.Size(), err)
	}
}

// Impossible rows of an index are ignored. Cells with a prefix have no rows.
func TestDamagedIndex(t *testing.T) {
	dir := t.TempDir()
	w := create(t, dir, "run", line("a", "k", "finished"), line("b", "k", "finished"))
	at, _ := openSet(t, dir).Find("b", "k")
	path := filepath.Join(dir, CellsDir, ShardIndex)
	row := func(values ...any) string {
		return strings.Join(shardColumns, ",") + "\n" + strings.Join(strings.Fields(fmt.Sprintln(values...)), ",") + "\n"
	}
	for text, known := range map[string]bool{
		row("x", "k", "finished", w.name, 0, 5):         true,
		row("x", "k", "finished", w.name, -1, 5):        false,
		row("x", "k", "finished", w.name, 0, -5):        false,
		row("x", "k", "finished", w.name, 0, 0):         false,
		row("x", "k", "finished", w.name, "y", 5):       false,
		row("x", "k", "finished", w.name, 0, "y"):       false,
		row("x", "k", "finished", w.name, 0, maxLine+1): false,
		row("x", "k", "finished", "./"+w.name, 0, 5):    false,
		row("x", "k", "finished", "other.jsonl", 0, 5):  false,
		row("x", "k", "finished", w.name, at.At, 1<<20): false,
		row("x", "k", "finished", w.name, 0, 5, "more"): false,
		"other,columns\n": false,
		row("x", "k", strings.Repeat("s", 2<<20), w.name, 0, 5): false,
		row("x", "k", "finished", w.name, at.At, at.Size):       true,
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		s := openSet(t, dir)
		if _, ok := s.Find("x", "k"); ok != known {
			t.Errorf("%s: known %v", text, ok)
		}
		if _, ok := s.Find("b", "k"); !ok && !strings.Contains(text, fmt.Sprint(at.Size)) {
			t.Errorf("%s: the shard is not read through", text)
		}
		if s, err := OpenShards(dir, "run"); err != nil || len(s.cells) != 2 || s.WriteIndex() != nil {
			t.Errorf("%s: by a prefix: %v, %v", text, s.cells, err)
		}
		if raw, err := os.ReadFile(path); err != nil || string(raw) != text {
			t.Errorf("the index was written: %s, %v", raw, err)
		}
	}
	// A shard indexed to its last byte is not read again.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	s := openSet(t, dir)
	if err := s.WriteIndex(); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	s = openSet(t, dir)
	if s.changed || len(s.cells["a"]) != 1 {
		t.Errorf("%v, changed %v", s.cells, s.changed)
	}
	if err := s.WriteIndex(); err != nil {
		t.Fatal(err)
	}
	if after, err := os.Stat(path); err != nil || !os.SameFile(before, after) {
		t.Errorf("an index that lacks nothing is written again: %v", err)
	}
}

// Verify checks both ends of a line, and its key.
func TestVerify(t *testing.T) {
	dir := t.TempDir()
	w := create(t, dir, "run", line("a", "the-key", "finished"))
	path := filepath.Join(dir, CellsDir, w.name)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		text string
		good bool
	}{
		"whole":       {string(whole), true},
		"another end": {strings.Replace(string(whole), "}}\n", "}]\n", 1), false},
		"another key": {strings.Replace(string(whole), "the-key", "not-key", 1), false},
		"no cell":     {strings.Replace(string(whole), `{"cell":`, `{"Cell":`, 1), false},
	} {
		s := openSet(t, dir)
		at := s.cells["a"][0]
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := s.Verify([]ShardEntry{at}); err != nil || (len(s.cells["a"]) == 1) != c.good {
			t.Errorf("%s: %v, %v", name, s.cells, err)
		}
		if err := os.WriteFile(path, whole, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
