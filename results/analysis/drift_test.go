package analysis

import (
	"math"
	"testing"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
)

// The moments are from samples and cells, on each number of cores by itself.
func TestDrift(t *testing.T) {
	e := &record.Experiment{Dir: t.TempDir()}
	if _, err := record.Samples.Write(e.Dir, []record.SampleRow{{Probe: 1, ProbeCores: 2}, {Probe: math.E, ProbeCores: 2},
		{Probe: 1, ProbeCores: 1}, {Probe: -1}}); err != nil {
		t.Fatal(err)
	}
	e.Cells = []record.Cell{{Speeds: []record.MachineSpeed{{Cores: 4, Seconds: 1}, {Cores: 2, Seconds: math.Sqrt(math.E)}}}}
	got, err := Drift(e)
	if err != nil || len(got) != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	if d := got[0]; d.Cores != 2 || d.Moments != 3 || math.Abs(d.SD-0.5) > 1e-6 || math.Abs(d.Range-math.E) > 1e-6 {
		t.Errorf("%+v", d)
	}
}

func TestDecisionsAreComparedUpToTheFirstOther(t *testing.T) {
	row := func(at float64, kind scheduler.EventKind, job string, core int32) record.DecisionRow {
		d := record.DecisionRow{At: at, Decision: kind, Job: job}
		if core >= 0 {
			d.Cores = scheduler.CoreSet{{Lo: core, Hi: core + 1}}
		}
		return d
	}
	start, pause := row(0, scheduler.Start, "a", 0), row(2.5, scheduler.Pause, "a", -1)
	late := row(0.1, scheduler.Start, "a", 0)
	elsewhere := row(0, scheduler.Start, "a", 1)
	for _, c := range []struct {
		name       string
		real, twin []record.DecisionRow
		want       record.FidelityDecisionRow
	}{
		{"instants do not count", []record.DecisionRow{late, pause}, []record.DecisionRow{start, pause},
			record.FidelityDecisionRow{Decisions: 2, Simulated: 2, Same: 2, DiffersAt: -1}},
		{"another core", []record.DecisionRow{late, pause}, []record.DecisionRow{elsewhere, pause},
			record.FidelityDecisionRow{Decisions: 2, Simulated: 2, DiffersAt: 0.1, Real: "start a on 0",
				Instead: "start a on 1"}},
		{"one decision less", []record.DecisionRow{late}, []record.DecisionRow{start, pause},
			record.FidelityDecisionRow{Decisions: 1, Simulated: 2, Same: 1, DiffersAt: 2.5, Instead: "pause a"}},
	} {
		c.want.Cell = c.name
		if got := compareDecisions(c.name, c.real, c.twin); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}
