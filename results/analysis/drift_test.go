package analysis

import (
	"math"
	"testing"

	"github.com/tfexp/tfexp/results/record"
)

// The moments are those of samples and of cells, on each number of cores by itself.
func TestDrift(t *testing.T) {
	e := &record.Experiment{Dir: t.TempDir()}
	if _, err := record.Samples.Write(e.Dir, []record.SampleRow{{Probe: 1, ProbeCores: 2}, {Probe: math.E, ProbeCores: 2},
		{Probe: 1, ProbeCores: 1}, {Probe: -1}}); err != nil {
		t.Fatal(err)
	}
	e.Cells = []record.Cell{{Speeds: []record.Speed{{Cores: 4, Seconds: 1}, {Cores: 2, Seconds: math.Sqrt(math.E)}}}}
	got, err := Drift(e)
	if err != nil || len(got) != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	if d := got[0]; d.Cores != 2 || d.Moments != 3 || math.Abs(d.SD-0.5) > 1e-6 || math.Abs(d.Range-math.E) > 1e-6 {
		t.Errorf("%+v", d)
	}
}
