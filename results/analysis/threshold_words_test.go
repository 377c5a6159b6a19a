package analysis

import (
	"math"
	"testing"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
)

// A value is written with its bounds.
func TestBounded(t *testing.T) {
	f := func(x float64) *float64 { return &x }
	for _, c := range []struct {
		value     float64
		unit      string
		low, high *float64
		text      string
	}{
		{11.2, "s", nil, f(12), "it is 11.2 s (at most 12 s)"},
		{12, "s", f(12), f(12), "it is 12 s (at least 12 s, at most 12 s)"},
		{12.5, "s", nil, f(12), "it is 12.5 s (at most 12 s)"},
		{0.5, "", f(0.8), nil, "it is 0.500 (at least 0.800)"},
		{7.5, "%", nil, f(8), "it is 7.50% (at most 8%)"},
		{math.NaN(), "s", nil, f(8), "it is not known (at most 8 s)"},
	} {
		v := Verdict{Min: c.low, Max: c.high}
		if !math.IsNaN(c.value) {
			v.Value = &c.value
		}
		if text := "it" + bounded(v, c.unit); text != c.text {
			t.Errorf("%s, want %s", text, c.text)
		}
	}
}

// Thresholds are judged for each variant that they are about; errors of
// simulations and estimates, over all of them.
func TestThresholds(t *testing.T) {
	f := func(x float64) *float64 { return &x }
	cell := func(policy string, jct float64) record.Cell {
		ref := record.CellRef{Cell: "w-h-" + policy + "-r1", Workload: "w", Hardware: "h", Policy: policy, Replicate: 1,
			Engine: "simulated", Simulated: true}
		return record.Cell{CellRef: ref, State: record.CellFinished,
			Metrics: measure.Of(map[string]float64{"mean_jct_s": jct})}
	}
	e := &record.Experiment{Dir: t.TempDir(), Cells: []record.Cell{cell("fcfs", 10), cell("rr", 13)}}
	e.Plan = record.Plan{
		Replicates: 1, Cells: []record.CellRef{e.Cells[0].CellRef, e.Cells[1].CellRef},
		Thresholds: []record.Threshold{
			{Metric: "mean_jct_s", Max: f(12)},
			{Metric: "mean_jct_s", Policy: "rr", Min: f(5)},
			{Metric: "mean_jct_s", FidelityPct: f(10)},
			{Metric: record.EstimateError, Max: f(8)},
		},
	}
	err := record.WriteEstimates(e.Dir, []record.EstimateRow{
		{Job: "a", Predicted: 11, Actual: 10, Low: -1, High: -1}, {Job: "b", Predicted: 9.6, Actual: 10, Low: -1, High: -1},
		{Job: "b", Model: "fraction", Role: record.EstimateCompared, Predicted: 30, Actual: 10, Low: -1, High: -1},
	})
	if err != nil {
		t.Fatal(err)
	}
	verdicts, err := Thresholds(e)
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		text string
		met  bool
	}{
		{"mean JCT of fcfs is 10 s (at most 12 s)", true},
		{"mean JCT of rr is 13 s (at most 12 s)", false},
		{"mean JCT of rr is 13 s (at least 5 s)", true},
		{"the error of the simulated mean JCT is not known (at most 10%)", false},
		{"the mean absolute error of the estimates is 7% (at most 8%)", true},
	}
	if len(verdicts) != len(want) {
		t.Fatalf("%+v", verdicts)
	}
	for i, w := range want {
		if v := verdicts[i]; v.Text != w.text || v.Met != w.met {
			t.Errorf("%v %s, want %v %s", v.Met, v.Text, w.met, w.text)
		}
	}
}
