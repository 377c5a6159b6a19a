package progress

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/stages/progress/eventfile"
)

// scalars writes an event file below a folder.
func scalars(t *testing.T, dir string, list ...eventfile.Scalar) {
	t.Helper()
	masked := func(b []byte) []byte {
		c := crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))
		return binary.LittleEndian.AppendUint32(nil, (c>>15|c<<17)+0xa282ead8)
	}
	var b bytes.Buffer
	for _, s := range list { // each record has its length and a tensorflow.Event, both with a checksum
		value := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), s.Tag)
		value = protowire.AppendTag(value, 2, protowire.Fixed32Type)
		value = protowire.AppendFixed32(value, math.Float32bits(float32(s.Value)))
		summary := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), value)
		event := protowire.AppendFixed64(protowire.AppendTag(nil, 1, protowire.Fixed64Type), math.Float64bits(s.Wall))
		event = protowire.AppendVarint(protowire.AppendTag(event, 2, protowire.VarintType), uint64(s.Step))
		event = protowire.AppendBytes(protowire.AppendTag(event, 5, protowire.BytesType), summary)
		length := binary.LittleEndian.AppendUint64(nil, uint64(len(event)))
		b.Write(slices.Concat(length, masked(length), event, masked(event)))
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "events.out.tfevents.1"), b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestEventFilesAreProgress checks that the scalars of a step are one report, at the time at which the first was
// written. Two values of a tag at a step are two reports.
func TestEventFilesAreProgress(t *testing.T) {
	for _, epochs := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			dir, zero := t.TempDir(), time.Now()
			var heard, warned []string
			b := launch.NewProgressBoard(func() time.Duration { return time.Since(zero) }, make(chan struct{}, 1),
				func(_ int, at time.Duration, p contract.Progress) {
					value := func(v *float64) string {
						if v == nil {
							return "-"
						}
						return fmt.Sprint(*v)
					}
					heard = append(heard, fmt.Sprintf("%s %d/%d %s %s", at, p.Epoch, p.Step, value(p.Loss), value(p.Accuracy)))
				}, func(_ int, code, text string) { warned = append(warned, code+": "+text) })
			a := b.Follow(0, &launch.Job{CheckpointDir: dir, Progress: source{Below: "logs", Loss: "loss", Accuracy: "acc",
				Epochs: epochs}})
			a.Begin()
			time.Sleep(time.Second)
			began := float64(zero.UnixNano()) / 1e9
			scalars(t, filepath.Join(dir, "logs", "train"),
				eventfile.Scalar{Tag: "loss", Step: 2, Value: .5, Wall: began + .75},
				eventfile.Scalar{Tag: "loss", Step: 1, Value: 1, Wall: began + .25},
				eventfile.Scalar{Tag: "acc", Step: 1, Value: .25, Wall: began + .25},
				eventfile.Scalar{Tag: "rate", Step: 1, Value: 9, Wall: began + .25},
				eventfile.Scalar{Tag: "loss", Step: -1, Value: 9, Wall: began + .25},
				eventfile.Scalar{Tag: "acc", Step: 2, Value: .5, Wall: began + .75},
				eventfile.Scalar{Tag: "acc", Step: 2, Value: .625, Wall: began + .75},
				eventfile.Scalar{Tag: "loss", Step: 2, Value: .25, Wall: began + .875},
				eventfile.Scalar{Tag: "loss", Step: 3, Value: .125, Wall: began - 5})
			a.End(true)
			want := []string{"0s 3 0.125 -", "250ms 1 1 0.25", "750ms 2 0.5 0.5", "750ms 2 0.25 0.625"}
			for i := range want {
				at, rest, _ := strings.Cut(want[i], " ")
				step, values, _ := strings.Cut(rest, " ")
				want[i] = fmt.Sprintf("%s %s %s", at, map[bool]string{false: "0/" + step, true: step + "/0"}[epochs], values)
			}
			if diff := cmp.Diff(want, heard); diff != "" {
				t.Errorf("epochs %v (-want +got):\n%s", epochs, diff)
			}
			if warned != nil {
				t.Errorf("warned of %q", warned)
			}
		})
	}
}

// TestEventFilesThatLack checks that missing or damaged files cause a warning. A program that failed need not have
// written files.
func TestEventFilesThatLack(t *testing.T) {
	for name, c := range map[string]struct {
		write    func(dir string)
		finished bool
		want     []string
	}{
		"nothing": {func(string) {}, true, []string{"no event file with scalars was found below " +
			"$TFEXP_CHECKPOINT_DIR/logs: let the program write them there"}},
		"nothing of one that failed": {func(string) {}, false, nil},
		"an accuracy in percent": {func(dir string) {
			scalars(t, filepath.Join(dir, "logs"), eventfile.Scalar{Tag: "loss"}, eventfile.Scalar{Tag: "acc", Value: 93.5},
				eventfile.Scalar{Tag: "acc", Value: math.NaN()})
		}, true, []string{`the scalar "acc" is NaN: an accuracy is a part of 1, 0.93 for 93%; such values are left out`}},
		"another tag": {func(dir string) {
			scalars(t, filepath.Join(dir, "logs"), eventfile.Scalar{Tag: "loss"}, eventfile.Scalar{Tag: "x"})
		}, true,
			[]string{`its event files have no scalars "acc"; they have loss, x`}},
		"damaged": {func(dir string) {
			scalars(t, filepath.Join(dir, "logs"), eventfile.Scalar{Tag: "loss"}, eventfile.Scalar{Tag: "acc"})
			for _, name := range []string{"a.tfevents", "b.tfevents"} {
				if err := os.WriteFile(filepath.Join(dir, "logs", name), make([]byte, 99), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}, true, []string{"the event file logs/a.tfevents: at byte 0: ", "the event file logs/b.tfevents: at byte 0: "}},
	} {
		var warned []string
		b := launch.NewProgressBoard(func() time.Duration { return 0 }, make(chan struct{}, 1), nil,
			func(_ int, code, text string) { warned = append(warned, text) })
		b.Watch([]int{4})
		dir := t.TempDir()
		a := b.Follow(0, &launch.Job{CheckpointDir: dir, Progress: source{Below: "logs", Loss: "loss", Accuracy: "acc"}})
		a.Begin()
		c.write(dir)
		a.End(c.finished)
		if !slices.EqualFunc(warned, c.want, strings.HasPrefix) {
			t.Errorf("%s: warned %q, want %q", name, warned, c.want)
		}
	}
}
