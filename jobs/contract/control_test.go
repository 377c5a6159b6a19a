package contract

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

func TestControlTellsOfChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "control")
	c := NewControl(path)
	if _, _, err := c.Read(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: error %v", err)
	}
	for _, a := range []Allotment{{1, 4}, {1, 2}, {2, 2}, {1, 16}} {
		if err := WriteControl(path, a); err != nil {
			t.Fatal(err)
		}
		// The second read finds nothing new, however young the file is.
		for i, want := range []bool{true, false, false} {
			got, changed, err := c.Read()
			if err != nil || got != a || changed != want {
				t.Errorf("read %d of %v: %v, changed %v, %v", i, a, got, changed, err)
			}
		}
	}
}

// A file that has settled is not opened again.
func TestControlReadsASettledFileOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "control")
	if err := os.WriteFile(path, []byte("1 4"), 0o600); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	c := NewControl(path)
	if a, changed, err := c.Read(); err != nil || !changed || a != (Allotment{1, 4}) {
		t.Fatalf("%v, %v, %v", a, changed, err)
	}
	// The same file, size and time with other content: only an open would tell.
	if err := os.WriteFile(path, []byte("1 3"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	if a, changed, err := c.Read(); err != nil || changed || a != (Allotment{1, 4}) {
		t.Errorf("an unchanged file was read again: %v, %v, %v", a, changed, err)
	}
}

func TestControlKeepsTheAllotmentOfABrokenFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "control")
	c := NewControl(path)
	if err := WriteControl(path, Allotment{1, 4}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Read(); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "4", "1 2 3", "0 4", "1 -1", "one two", "1 2x"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if a, changed, err := c.Read(); err == nil || changed || a != (Allotment{1, 4}) {
			t.Errorf("%q: %v, changed %v, error %v", text, a, changed, err)
		}
	}
	if err := WriteControl(path, Allotment{1, 2}); err != nil {
		t.Fatal(err)
	}
	if a, changed, err := c.Read(); err != nil || !changed || a != (Allotment{1, 2}) {
		t.Errorf("mended: %v, changed %v, %v", a, changed, err)
	}
}

// Readers never see a part of the file, and writers leave nothing beside it.
func TestWriteControlIsAtomic(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "control")
	if err := WriteControl(path, Allotment{1, 1}); err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	writers.Go(func() {
		for i := range 300 {
			if err := WriteControl(path, Allotment{1 + i%7, 100 + i}); err != nil {
				t.Error(err)
			}
		}
	})
	c := NewControl(path)
	for range 300 {
		if _, _, err := c.Read(); err != nil {
			t.Error(err)
		}
	}
	writers.Wait()
	if a, _, err := c.Read(); err != nil || a != (Allotment{1 + 299%7, 399}) {
		t.Errorf("last: %v, %v", a, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if err := WriteControl(filepath.Join(dir, "no", "control"), Allotment{1, 1}); err == nil {
		t.Error("no error for a folder that does not exist")
	}
}
