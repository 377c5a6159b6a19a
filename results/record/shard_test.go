package record

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// line is a cell as a run leaves it.
func line(cell, key, state string) ShardLine {
	return ShardLine{Cell: cell, DependsOn: "schema 1\n", Result: Cell{CellRef: CellRef{Key: key}, State: state}}
}

func create(t *testing.T, dir, prefix string, lines ...ShardLine) *ShardWriter {
	t.Helper()
	w, err := CreateShard(dir, prefix)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		if _, err := w.Add(l); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func openSet(t *testing.T, dir string) *Shards {
	t.Helper()
	s, err := OpenShards(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Two writers with the same name have separate files. Several goroutines may add cells at once. Each cell is found by
// its name and key.
func TestWriters(t *testing.T) {
	dir := t.TempDir()
	one, other := create(t, dir, "task-0", line("a", "k1", "failed")), create(t, dir, "task-0", line("a", "k2", "finished"))
	if one.name == other.name {
		t.Fatal(one.name)
	}
	var g sync.WaitGroup
	for n := range 50 {
		g.Go(func() {
			if _, err := one.Add(line(fmt.Sprint("b", n), "k", "finished")); err != nil {
				t.Error(err)
			}
		})
	}
	g.Wait()
	s := openSet(t, dir)
	for n := range 50 {
		at, ok := s.Find(fmt.Sprint("b", n), "k")
		l, err := s.Line(at)
		if !ok || err != nil || l.Cell != fmt.Sprint("b", n) {
			t.Error(at, l, err)
		}
	}
	if at, ok := s.Find("a", "k1"); !ok || at.State != "failed" {
		t.Error(at)
	}
	if _, ok := s.Find("a", "k3"); ok {
		t.Error("found under another key")
	}
	var both []ShardEntry
	for _, key := range []string{"k2", "k1"} {
		at, _ := s.Find("a", key)
		both = append(both, at)
	}
	states := []string{"finished", "failed"}
	read := 0
	err := s.Each(both, func(i int, l ShardLine) {
		read++
		if l.Result.Key != both[i].Key || l.Result.State != states[i] {
			t.Errorf("%s is %+v", both[i].Key, l.Result)
		}
	})
	if err != nil || read != 2 {
		t.Errorf("of two shards: %d cells, %v", read, err)
	}
	// If a cell was added twice, later readers see the newer one, but a finished cell counts more than a failed one.
	if _, err := one.Add(line("a", "k1", "finished")); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Add(line("a", "k1", "failed")); err != nil {
		t.Fatal(err)
	}
	if err := s.Update(); err != nil {
		t.Fatal(err)
	}
	if at, _ := s.Find("a", "k1"); at.State != "finished" || at.Shard != one.name {
		t.Error(at)
	}
	if some, err := OpenShards(dir, "task-1-"); err != nil || len(some.cells) > 0 {
		t.Error(some.cells, err)
	}
}

// If a writer was killed, the incomplete end of its shard is ignored. Later additions to another shard are found.
func TestTorn(t *testing.T) {
	dir := t.TempDir()
	w := create(t, dir, "run", line("a", "k", "finished"), line("b", "k", "finished"))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, CellsDir, w.name)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, info.Size()-3); err != nil {
		t.Fatal(err)
	}
	create(t, dir, "run", line("c", "k", "finished"))
	s := openSet(t, dir)
	for cell, want := range map[string]bool{"a": true, "b": false, "c": true} {
		if _, ok := s.Find(cell, "k"); ok != want {
			t.Errorf("%s is there: %v", cell, ok)
		}
	}
}

// The index has the same cells as the shards and is read in their place. It does not have cells that were added after
// it was written.
func TestIndex(t *testing.T) {
	dir := t.TempDir()
	w := create(t, dir, "run", line("a", "k", "finished"), line("b, c", "k", "failed"))
	s := openSet(t, dir)
	if err := s.WriteIndex(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Add(line("d", "k", "finished")); err != nil {
		t.Fatal(err)
	}
	again := openSet(t, dir)
	for _, cell := range []string{"a", "b, c", "d"} {
		if l, err := again.Line(again.cells[cell][0]); err != nil || l.Cell != cell || len(again.cells[cell]) != 1 {
			t.Error(l, err)
		}
	}
	// A cell is forgotten if it is not at the place in the index.
	path := filepath.Join(dir, CellsDir, w.name)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := again.cells["a"][0]
	clear(raw[at.At : at.At+int64(at.Size)])
	if err := os.WriteFile(path, raw, 0o644); err != nil {
		t.Fatal(err)
	}
	s = openSet(t, dir)
	if _, ok := s.Find("a", "k"); !ok {
		t.Error("the index was not read")
	}
	if err := s.Verify([]ShardEntry{at, again.cells["d"][0]}); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.Find("a", "k"); ok {
		t.Error("a damaged cell is there")
	}
	if _, ok := s.Find("d", "k"); !ok {
		t.Error("a cell that is whole was forgotten")
	}
	// A shard that is shorter than before is read again.
	if err := os.WriteFile(path, []byte(`{"cell":"e","depends_on":"","result":{"key":"k","state":"finished"}}`+"\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	s = openSet(t, dir)
	if _, ok := s.Find("e", "k"); !ok || len(s.cells["d"]) > 0 {
		t.Error(s.cells)
	}
}

// Names in a foreign index or shard do not lead out of the folder.
func TestForeign(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(t.TempDir(), "secret"+ShardEnding)
	if err := os.WriteFile(secret, []byte(`{"cell":"a","depends_on":"","result":{"key":"k","state":"finished"}}`+"\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	create(t, dir, "run", line("b", "k", "finished"))
	if err := os.Symlink(secret, filepath.Join(dir, CellsDir, "x"+ShardEnding)); err != nil {
		t.Fatal(err)
	}
	index := strings.Join(shardColumns, ",") + "\na,k,finished,../../secret.jsonl,0,50\na,k,finished,x.jsonl,0,70\n"
	if err := os.WriteFile(filepath.Join(dir, CellsDir, ShardIndex), []byte(index), 0o644); err != nil {
		t.Fatal(err)
	}
	s := openSet(t, dir)
	if len(s.cells["a"]) > 0 || len(s.cells["b"]) != 1 {
		t.Error(s.cells)
	}
}
