package eventfile_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/jobs/eventfile"
)

// TestWriterAgainstBytes compares an event with the bytes that tensorboard.summary.writer.record_writer wrote of the
// same.
func TestWriterAgainstBytes(t *testing.T) {
	var b bytes.Buffer
	w := eventfile.NewWriter(&b, 1)
	if err := w.Scalar(eventfile.Scalar{Tag: "loss", Step: 3, Value: 0.5, Wall: 2}); err != nil {
		t.Fatal(err)
	}
	const want = "1800000000000000a37f4b2209000000000000f03f1a0d627261696e2e4576656e743a3286bf577a1a00000000000000" +
		"129bd82d09000000000000004010032a0d0a0b0a046c6f7373150000003fbac36b94"
	if got := hex.EncodeToString(b.Bytes()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestWriterIsRead reads the written events back; values that are not scalars are skipped.
func TestWriterIsRead(t *testing.T) {
	var b bytes.Buffer
	w := eventfile.NewWriter(&b, 1)
	want := []eventfile.Scalar{{Tag: "loss", Step: 1, Value: 0.5, Wall: 2}, {Tag: "accuracy", Step: 2, Value: -3, Wall: 4}}
	for _, err := range []error{
		w.Scalar(want[0]), w.Image("picture", 0, 1, []byte("png"), 2, 3), w.Plugin("tag", "hparams", 1,
			[]byte("x")), w.Scalar(want[1]),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	got, n, err := eventfile.Read(bytes.NewReader(b.Bytes()))
	if err != nil || n != int64(b.Len()) || len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("read %v, %d of %d bytes, %v; want %v", got, n, b.Len(), err, want)
	}
}

// A step that no program reaches ends the reading of a file.
func TestStepsAreBounded(t *testing.T) {
	dir := t.TempDir()
	for step, want := range map[int64]int{contract.MostCount: 1, 1 << 62: 0} {
		var b bytes.Buffer
		if err := eventfile.NewWriter(&b, 1).Scalar(eventfile.Scalar{Tag: "loss", Step: step, Value: 1}); err != nil {
			t.Fatal(err)
		}
		sub := filepath.Join(dir, fmt.Sprint(step))
		if err := errors.Join(os.Mkdir(sub, 0o755),
			os.WriteFile(filepath.Join(sub, "events.out.tfevents.1"), b.Bytes(), 0o644)); err != nil {
			t.Fatal(err)
		}
		got, err := eventfile.Follow(sub).Next()
		if len(got) != want || (err != nil) != (want == 0) {
			t.Errorf("step %d: %v, %v", step, got, err)
		}
	}
}
