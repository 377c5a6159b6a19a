package store

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/tfexp/tfexp/results/record"
)

// Outputs are recorded together when 200 of them wait, or when they reach 16 MiB.
func TestLaterRecordsManyAtOnce(t *testing.T) {
	c, _, err := Open(t.TempDir(), record.CacheFile)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var want []string
	later := func(name string, output []byte) (recorded []string) {
		t.Helper()
		k := key("cell", name)
		if err := c.Later(k, Entry{Unit: name}, output); err != nil {
			t.Fatal(err)
		}
		want = append(want, k.Hash())
		c.View(func(v View) { v.Each(func(hash string, _ Entry) { recorded = append(recorded, hash) }) })
		return recorded
	}
	for i := range 199 {
		if got := later(fmt.Sprint(i), nil); len(got) != 0 {
			t.Fatalf("%d recorded after %d", len(got), i+1)
		}
	}
	got := later("199", nil)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Fatalf("%d recorded after 200, or in another order", len(got))
	}
	if got := later("small", make([]byte, 8<<20)); len(got) != 200 {
		t.Errorf("%d recorded with 8 MiB that wait, want 200", len(got))
	}
	if got := later("large", make([]byte, 8<<20)); len(got) != 202 {
		t.Errorf("%d recorded with 16 MiB that wait, want 202", len(got))
	}
}

// If there is no cache, opening it read-only creates none and finds nothing.
func TestOpenReadOnlyWithoutCache(t *testing.T) {
	dir := t.TempDir()
	c := OpenReadOnly(dir, record.CacheFile)
	if c != nil {
		t.Fatal("a cache was opened")
	}
	c.View(func(v View) {
		if v.Has("a") {
			t.Error("something was found")
		}
		v.Each(func(hash string, _ Entry) { t.Errorf("%s was found", hash) })
	})
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("%v was made, %v", entries, err)
	}
}
