package eventfile_test

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/tfexp/tfexp/jobs/eventfile"
)

// The file was written by tensorboardX 2: five steps of two scalars, a text and a
// histogram.
const written = "testdata/events.out.tfevents.1000.host"

func TestScalarsOfAFile(t *testing.T) {
	raw, err := os.ReadFile(written)
	if err != nil {
		t.Fatal(err)
	}
	scalars, offset, err := eventfile.Read(bytes.NewReader(raw))
	if err != nil || offset != int64(len(raw)) {
		t.Fatalf("offset %d of %d, error %v", offset, len(raw), err)
	}
	if len(scalars) != 10 {
		t.Fatalf("%d scalars, want 10: %v", len(scalars), scalars)
	}
	for i, s := range scalars {
		step := i / 2
		want := eventfile.Scalar{Tag: "train/loss", Step: int64(10 * step), Value: 1 / float64(step+1),
			Wall: 1000 + float64(step)}
		if i%2 == 1 {
			want.Tag, want.Value, want.Wall = "accuracy", 0.5+0.1*float64(step), want.Wall+0.5
		}
		if s.Tag != want.Tag || s.Step != want.Step || s.Wall != want.Wall || math.Abs(s.Value-want.Value) > 1e-6 {
			t.Errorf("scalar %d is %+v, want %+v", i, s, want)
		}
	}
}

// TestEveryCut reads files that are cut at any byte: no panic, no error, and no scalar
// that is not there.
func TestEveryCut(t *testing.T) {
	raw, err := os.ReadFile(written)
	if err != nil {
		t.Fatal(err)
	}
	before := 0
	for n := range raw {
		scalars, offset, err := eventfile.Read(bytes.NewReader(raw[:n]))
		if err != nil || offset > int64(n) || len(scalars) < before {
			t.Fatalf("cut at %d: %d scalars, offset %d, error %v", n, len(scalars), offset, err)
		}
		before = len(scalars)
	}
}

func TestDamage(t *testing.T) {
	raw, err := os.ReadFile(written)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{0, 9, 20, len(raw) - 2} {
		damaged := bytes.Clone(raw)
		damaged[at] ^= 0x40
		if _, _, err := eventfile.Read(bytes.NewReader(damaged)); !errors.Is(err, eventfile.ErrDamaged) {
			t.Errorf("byte %d changed: error %v", at, err)
		}
	}
}

func TestFollow(t *testing.T) {
	raw, err := os.ReadFile(written)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "logs")
	f := eventfile.Follow(dir)
	if s, err := f.Next(); err != nil || len(s) != 0 {
		t.Fatalf("before there is a folder: %v, %v", s, err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "train"), 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "train", "events.out.tfevents.1.x")
	total := 0
	for _, n := range []int{len(raw) / 3, len(raw) / 2, len(raw)} {
		if err := os.WriteFile(path, raw[:n], 0o644); err != nil {
			t.Fatal(err)
		}
		s, err := f.Next()
		if err != nil {
			t.Fatal(err)
		}
		total += len(s)
	}
	if total != 10 {
		t.Errorf("%d scalars were seen while the file grew, want 10", total)
	}
}

func FuzzRead(f *testing.F) {
	raw, err := os.ReadFile(written)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Fuzz(func(t *testing.T, b []byte) { _, _, _ = eventfile.Read(bytes.NewReader(b)) })
}
