package program

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/tfexp/tfexp/jobs/contract"
)

func TestWrittenLinesAreRead(t *testing.T) {
	var out bytes.Buffer
	p := contract.Progress{Epoch: 3, Step: 120, Loss: pointer(0.41), Accuracy: pointer(0.9), Seconds: pointer(1.2)}
	if err := WriteProgress(&out, p); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), `{"tfexp":{"epoch":3,"step":120,"loss":0.41,"accuracy":0.9,"seconds":1.2}}`+
		"\n"; got != want {
		t.Errorf("progress line %q, want %q", got, want)
	}
	// A training that diverged has a loss that is not a number.
	if err := WriteProgress(&out, contract.Progress{Epoch: 4, Loss: pointer(math.NaN()), Seconds: pointer(1.0)}); err != nil {
		t.Fatal(err)
	}
	if err := WriteTimes(&out, 0.5, []float64{1, 2.25}, 0.125); err != nil {
		t.Fatal(err)
	}
	if want := "<TIME_WRITTER_OUTPUT>[0.500000, 1.000000, 2.250000, 0.125000]</TIME_WRITTER_OUTPUT>\n"; !strings.HasSuffix(out.String(), want) {
		t.Errorf("output %q does not end in %q", out.String(), want)
	}
	got, err := contract.Parse(&out, contract.Last)
	if err != nil {
		t.Fatal(err)
	}
	want := contract.Report{Startup: 0.5, Epochs: []float64{1, 2.25}, Save: 0.125, Loss: pointer(math.Inf(1)), Accuracy: pointer(0.9), Updates: 2,
		Progress: contract.Progress{Epoch: 4, Loss: pointer(math.Inf(1)), Seconds: pointer(1.0)}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
	full := iotest.ErrReader(io.ErrShortWrite)
	if err := WriteProgress(failing{full}, p); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("error %v, want that of the writer", err)
	}
}

// failing is a writer that fails as its reader does.
type failing struct{ io.Reader }

func (f failing) Write(p []byte) (int, error) { return f.Read(p) }
