package eventfile_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/stages/progress/eventfile"
)

// The file was written by tensorboardX 2. It has five steps of two scalars, a text and a histogram.
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

// TestEveryCut reads files that are cut at any byte. There must be no panic, no error, and no scalar that the file
// lacks.
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
	if s, err := next(f); err != nil || len(s) != 0 {
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
		s, err := next(f)
		if err != nil {
			t.Fatal(err)
		}
		total += len(s)
	}
	if total != 10 {
		t.Errorf("%d scalars were seen while the file grew, want 10", total)
	}
}

// record is one record of a file, with its checksums.
func record(data []byte) []byte {
	masked := func(b []byte) []byte {
		c := crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))
		return binary.LittleEndian.AppendUint32(nil, (c>>15|c<<17)+0xa282ead8)
	}
	length := binary.LittleEndian.AppendUint64(nil, uint64(len(data)))
	return slices.Concat(length, masked(length), data, masked(data))
}

// TestTensors reads scalars that are stored as tensors, as TensorFlow 2 does: in a list, a packed list or bytes. A
// tensor with a dimension, or without a number, is not a scalar.
func TestTensors(t *testing.T) {
	kind := func(k uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), k)
	}
	single := protowire.AppendFixed32(nil, math.Float32bits(2.5))
	double := protowire.AppendFixed64(nil, math.Float64bits(0.1))
	one := func(n protowire.Number, b []byte) []byte { // a single number
		return append(protowire.AppendTag(nil, n, map[int]protowire.Type{4: protowire.Fixed32Type,
			8: protowire.Fixed64Type}[len(b)]), b...)
	}
	noDimension := bytesOf(2, nil)
	unknown := bytesOf(2, protowire.AppendVarint(protowire.AppendTag(nil, 3, protowire.VarintType), 1)) // unknown_rank
	dimension := bytesOf(2, bytesOf(2, nil))
	for name, c := range map[string]struct {
		tensor []byte
		value  float64 // NaN: no value
	}{
		"float":              {slices.Concat(kind(1), noDimension, one(5, single)), 2.5},
		"packed float":       {slices.Concat(kind(1), bytesOf(5, single)), 2.5},
		"float as bytes":     {slices.Concat(kind(1), bytesOf(4, single)), 2.5},
		"double":             {slices.Concat(kind(2), one(6, double)), 0.1},
		"packed double":      {slices.Concat(kind(2), unknown, bytesOf(6, double)), 0.1},
		"double as bytes":    {slices.Concat(kind(2), bytesOf(4, double)), 0.1},
		"a vector":           {slices.Concat(kind(1), dimension, one(5, single)), math.NaN()},
		"two floats":         {slices.Concat(kind(1), bytesOf(5, append(single, single...))), math.NaN()},
		"two doubles":        {slices.Concat(kind(2), bytesOf(6, append(double, double...))), math.NaN()},
		"float of 8 bytes":   {slices.Concat(kind(1), bytesOf(4, double)), math.NaN()},
		"double of 4 bytes":  {slices.Concat(kind(2), bytesOf(4, single)), math.NaN()},
		"text":               {slices.Concat(kind(7), bytesOf(8, []byte("text"))), math.NaN()},
		"integer of 4 bytes": {slices.Concat(kind(3), bytesOf(4, single)), math.NaN()},
		"what is cut":        {append(slices.Concat(kind(1), one(5, single)), 0x0a, 9), math.NaN()},
		"nothing":            {nil, math.NaN()},
	} {
		value := bytesOf(1, slices.Concat(bytesOf(1, []byte("loss")), bytesOf(8, c.tensor)))
		scalars, _, err := eventfile.Read(bytes.NewReader(record(bytesOf(5, value))))
		switch {
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case math.IsNaN(c.value):
			if len(scalars) > 0 {
				t.Errorf("%s: %v", name, scalars)
			}
		case len(scalars) != 1 || scalars[0].Tag != "loss" || scalars[0].Value != c.value:
			t.Errorf("%s: %v, want %g", name, scalars, c.value)
		}
	}
}

// TestDamagedEvents has records with right checksums that are not events. Empty fields and groups are not events
// either.
func TestDamagedEvents(t *testing.T) {
	for name, data := range map[string][]byte{
		"no tag":          {0x80},
		"a cut number":    {0x08, 0x80},
		"a cut text":      {0x2a, 5, 1},
		"a cut summary":   {0x2a, 2, 0x0a, 9},
		"a cut value":     {0x2a, 4, 0x0a, 2, 0x0a, 9},
		"an open group":   {0x33},
		"a cut fixed32":   {0x35, 1},
		"a cut fixed64":   {0x31, 1},
		"a closed group":  {0x34},
		"a number of 0":   {0x00, 0x00},
		"no kind of type": {0x0f},
	} {
		if _, _, err := eventfile.Read(bytes.NewReader(record(data))); !errors.Is(err, eventfile.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	whole := slices.Concat(record([]byte{0x33, 0x34}), record(nil), record([]byte{0x2a, 0}), record([]byte{0x2a, 2, 0x0a, 0}))
	if s, n, err := eventfile.Read(bytes.NewReader(whole)); len(s) > 0 || n != int64(len(whole)) || err != nil {
		t.Errorf("empty events: %v, %d of %d bytes, %v", s, n, len(whole), err)
	}
}

func TestNamesOfScalars(t *testing.T) {
	train := eventfile.Scalar{Tag: "loss", Run: "train"}
	for name, want := range map[string]bool{"loss": true, "train/loss": true, "": false, "/loss": false, "train": false,
		"test/loss": false} {
		if got := train.Is(name); got != want {
			t.Errorf("%q means train/loss: %v", name, got)
		}
	}
	if (eventfile.Scalar{Tag: "loss"}).Is("/loss") {
		t.Error("/loss means a scalar without a run")
	}
	if (eventfile.Scalar{}).Is("") {
		t.Error("no name means a scalar without a tag")
	}
}

// A follower lists the runs and tags that it has read. It reports a damaged file once, and continues with the others.
func TestFollowManyFiles(t *testing.T) {
	dir := t.TempDir()
	raw, err := os.ReadFile(written)
	if err != nil {
		t.Fatal(err)
	}
	for path, content := range map[string][]byte{
		"events.out.tfevents.1.x": raw, "train/events.out.tfevents.1.x": raw, "a.tfevents": append(bytes.Clone(raw), raw[1:]...),
		"notes.txt": raw,
	} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(path)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, path), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f := eventfile.Follow(dir)
	s, err := next(f)
	if len(s) != 30 || !errors.Is(err, eventfile.ErrDamaged) || !strings.Contains(err.Error(), "a.tfevents") {
		t.Errorf("%d scalars, %v", len(s), err)
	}
	if s[0].Run != "" || s[29].Run != "train" {
		t.Errorf("the runs are %q and %q", s[0].Run, s[29].Run)
	}
	if got, want := f.Tags(), []string{"accuracy", "train/accuracy", "train/loss", "train/train/loss"}; !slices.Equal(got,
		want) {
		t.Errorf("tags %q, want %q", got, want)
	}
	if s, err := next(f); len(s) > 0 || err != nil {
		t.Errorf("again: %v, %v", s, err)
	}
}

// bytesOf returns a field of a protocol buffer with bytes.
func bytesOf(n protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, n, protowire.BytesType), value)
}

// next returns all scalars that a follower has now.
func next(f *eventfile.Follower) (all []eventfile.Scalar, err error) {
	err = f.Next(func(s []eventfile.Scalar) { all = append(all, s...) })
	return all, err
}

// Files may be malicious: long records are not read into memory, many scalars come in batches, and a follower stores a
// limited number of tags.
func TestHostileFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "events.out.tfevents.1")
	scalar := func(tag string) []byte {
		value := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), tag)
		value = append(value, 0x15, 0, 0, 0x80, 0x3f)
		return bytesOf(5, bytesOf(1, value))
	}
	heldBy := func(f func()) uint64 { // the memory that a call allocates at once, approximately
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		return after.Sys - before.Sys
	}
	many := bytes.Repeat(record(scalar("loss")), 1<<18)
	for name, c := range map[string]struct {
		write   func(f *os.File) error
		scalars int
		damaged bool
	}{
		"a record of 1 GiB that is not there": {func(f *os.File) error {
			_, err := f.Write(record(make([]byte, 1<<30-1))[:12])
			return errors.Join(err, f.Truncate(1<<26))
		}, 0, false},
		"a long record": {func(f *os.File) error {
			long := record(bytesOf(3, make([]byte, 33<<20)))
			_, err := f.Write(slices.Concat(record(scalar("loss")), long, record(scalar("loss"))))
			return err
		}, 2, false},
		"many scalars":             {func(f *os.File) error { _, err := f.Write(many); return err }, 1 << 18, false},
		"many scalars in a record": {func(f *os.File) error { _, err := f.Write(record(bytes.Repeat(scalar("loss"), 1<<17))); return err }, 0, true},
		"many tags": {func(f *os.File) error {
			for i := range 5000 {
				if _, err := f.Write(record(scalar(fmt.Sprint(strings.Repeat("tag", 1000), i)))); err != nil {
					return err
				}
				if _, err := f.Write(record(scalar(fmt.Sprint("tag", i)))); err != nil {
					return err
				}
			}
			return nil
		}, 10000, false},
	} {
		os.Remove(path)
		f, err := os.Create(path)
		if err == nil {
			err = errors.Join(c.write(f), f.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		follower, found, most := eventfile.Follow(dir), 0, 0
		held := heldBy(func() {
			err = follower.Next(func(s []eventfile.Scalar) { found += len(s); most = max(most, len(s)) })
		})
		if found != c.scalars || errors.Is(err, eventfile.ErrDamaged) != c.damaged || !c.damaged && err != nil {
			t.Errorf("%s: %d scalars, want %d; %v", name, found, c.scalars, err)
		}
		if most > 150_000 || held > 150<<20 || len(follower.Tags()) > 1000 {
			t.Errorf("%s: %d scalars at once, %d MiB, %d tags", name, most, held>>20, len(follower.Tags()))
		}
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

// Reading a file ends at a step that no program reaches.
func TestStepsAreBounded(t *testing.T) {
	dir := t.TempDir()
	for step, want := range map[uint64]int{contract.MostCount: 1, 1 << 62: 0} {
		event := protowire.AppendVarint(protowire.AppendTag(nil, 2, protowire.VarintType), step)
		event = append(event, 0x2a, 13, 0x0a, 11, 0x0a, 4, 'l', 'o', 's', 's', 0x15, 0, 0, 0x80, 0x3f) // a loss of 1
		sub := filepath.Join(dir, fmt.Sprint(step))
		if err := errors.Join(os.Mkdir(sub, 0o755),
			os.WriteFile(filepath.Join(sub, "events.out.tfevents.1"), record(event), 0o644)); err != nil {
			t.Fatal(err)
		}
		got, err := next(eventfile.Follow(sub))
		if len(got) != want || (err != nil) != (want == 0) {
			t.Errorf("step %d: %v, %v", step, got, err)
		}
	}
}
