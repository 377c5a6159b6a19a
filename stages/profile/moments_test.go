//go:build unix

package profile

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/stages"
)

// sampledExperiment is an experiment with a unit to sample, which receives moments.
type sampledExperiment struct {
	stages.Experiment
	stages.Sampling
	stages.PastRuns
	moments []estimator.Moment
}

func (*sampledExperiment) SampledUnits() []*stages.Unit      { return []*stages.Unit{{}} }
func (*sampledExperiment) HostPrint() string                 { return "here" }
func (x *sampledExperiment) SetMoments(m []estimator.Moment) { x.moments = m }

// This machine's speeds at the samples of the experiments next to this one are known. Speeds of other machines and
// of this experiment's own samples are left out, and so are broken files.
func TestMomentsOfEarlierRuns(t *testing.T) {
	out := t.TempDir()
	write := func(experiment, file string, v any) {
		t.Helper()
		dir := filepath.Join(out, experiment, samplesDir)
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, file), raw, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	samples := func(host string, probe float64) saved {
		return saved{Samples: []estimator.Sample{{Host: host, SpeedProbe: estimator.SpeedProbe{Probe: probe, ProbeCores: 2}}, {Host: host}}}
	}
	write("own", "a.json", samples("here", 1))
	write("other", "a.json", samples("here", 2))
	write("other", "b.json", samples("elsewhere", 3))
	write("other", "c.json", "broken")
	write("other", "d.log", samples("here", 4))
	write("third", "a.json", samples("here", 5))
	x := &sampledExperiment{}
	loadPast(stages.Planning{Dir: filepath.Join(out, "own"), Experiment: x, Sampling: x, PastRuns: x})
	if len(x.moments) != 2 || x.moments[0] != (estimator.Moment{Cores: 2, Seconds: 2}) || x.moments[1].Seconds != 5 {
		t.Errorf("%+v", x.moments)
	}
}
