package program

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/tfexp/tfexp/jobs/contract"

	"github.com/google/go-cmp/cmp"
)

// allots reports whether a message has these threads.
func allots(m contract.Message, inter, intra int) bool {
	a, ok := Threads(m)
	return ok && a == contract.Allotment{Inter: inter, Intra: intra}
}

func TestControlTellsOfChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "control")
	c := NewControl(path)
	if _, _, err := c.Read(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: error %v", err)
	}
	for _, pools := range [][2]int{{1, 4}, {1, 2}, {2, 2}, {1, 16}} {
		a := contract.Allotment{Inter: pools[0], Intra: pools[1]}
		if err := WriteControl(path, a); err != nil {
			t.Fatal(err)
		}
		// The second read finds nothing new, however young the file is.
		for i, want := range []bool{true, false, false} {
			got, changed, err := c.Read()
			if threads, _ := Threads(got); err != nil || threads != a || changed != want {
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
	if m, changed, err := c.Read(); err != nil || !changed || !allots(m, 1, 4) {
		t.Fatalf("%v, %v, %v", m, changed, err)
	}
	// The same file, size and time with other content: only an open would show it.
	if err := os.WriteFile(path, []byte("1 3"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	if a, changed, err := c.Read(); err != nil || changed || !allots(a, 1, 4) {
		t.Errorf("an unchanged file was read again: %v, %v, %v", a, changed, err)
	}
}

func TestControlKeepsTheAllotmentOfABrokenFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "control")
	c := NewControl(path)
	if err := WriteControl(path, contract.Allotment{Inter: 1, Intra: 4}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Read(); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "4", "1 2 3", "0 4", "1 -1", "one two", "1 2x", "{", `{"intra":-1}`,
		`{"time_left":-1}`,
		`{"change":"sideways"}`, `{"deepen":"all"}`, `{"serial":-2}`} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if a, changed, err := c.Read(); err == nil || changed || !allots(a, 1, 4) {
			t.Errorf("%q: %v, changed %v, error %v", text, a, changed, err)
		}
	}
	if err := WriteControl(path, contract.Allotment{Inter: 1, Intra: 2}); err != nil {
		t.Fatal(err)
	}
	if a, changed, err := c.Read(); err != nil || !changed || !allots(a, 1, 2) {
		t.Errorf("mended: %v, changed %v, %v", a, changed, err)
	}
}

// Readers never see a part of the file, and writers leave no other files.
func TestWriteControlIsAtomic(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "control")
	if err := WriteControl(path, contract.Allotment{Inter: 1, Intra: 1}); err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	writers.Go(func() {
		for i := range 300 {
			if err := WriteControl(path, contract.Allotment{Inter: 1 + i%7, Intra: 100 + i}); err != nil {
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
	if a, _, err := c.Read(); err != nil || !allots(a, 1+299%7, 399) {
		t.Errorf("last: %v, %v", a, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if err := WriteControl(filepath.Join(dir, "no", "control"), contract.Allotment{Inter: 1, Intra: 1}); err == nil {
		t.Error("no error for a folder that does not exist")
	}
}

func pointer[T any](v T) *T { return &v }

// A written message is read back, with any of its keys.
func TestMessages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "control")
	want := contract.Message{
		Inter: 1, Intra: 3, Allotment: 4, Change: "up", Budget: pointer(400.0), TimeLeft: pointer(72.5),
		Settings: map[string]json.RawMessage{"batch": []byte("64"), "optimizer": []byte(`"sgd"`)},
		Serial:   7, Checkpoint: true, Warning: pointer(30.0), Deepen: pointer(0),
	}
	if err := WriteMessage(path, want); err != nil {
		t.Fatal(err)
	}
	got, changed, err := NewControl(path).Read()
	if err != nil || !changed || time.Since(got.Written).Abs() > time.Minute {
		t.Fatalf("%+v, %v, %v", got, changed, err)
	}
	got.Written = time.Time{}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
	for name, want := range map[string]string{"batch": "64", "optimizer": "sgd"} {
		if s, ok := got.Setting(name); !ok || s != want {
			t.Errorf("setting %s is %q, %v", name, s, ok)
		}
	}
	if _, ok := got.Setting("seed"); ok {
		t.Error("a setting that is not there")
	}
}

// Requests with one serial are the same, however often they are written; a
// message without a serial has new requests.
func TestRequests(t *testing.T) {
	path := filepath.Join(t.TempDir(), "control")
	c := NewControl(path)
	var all []MessageID
	for i, m := range []contract.Message{{Serial: 1, Deepen: pointer(1)}, {Serial: 1, Deepen: pointer(1), Intra: 2},
		{Deepen: pointer(1)}, {Deepen: pointer(1)}} {
		if err := WriteMessage(path, m); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(time.Duration(i) * time.Second)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		got, changed, err := c.Read()
		if err != nil || !changed {
			t.Fatalf("message %d: changed %v, %v", i, changed, err)
		}
		all = append(all, IDOf(got))
	}
	if all[0] != all[1] || all[1] == all[2] || all[2] == all[3] {
		t.Errorf("requests %v", all)
	}
}
