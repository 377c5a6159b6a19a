package analysis

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
)

func TestFidelityOfDecisions(t *testing.T) {
	rows := []record.FidelityDecisionRow{
		{Cell: "x", Decisions: 1, Simulated: 1, Same: 1, DiffersAt: -1},
		{Cell: "y", Decisions: 1, Simulated: 2, Same: 1, DiffersAt: 2.5, Instead: "pause a"},
	}
	want := "The simulation took the same decisions as the real run in 1 of 2 cells. In y the first other one came " +
		"after " +
		"1 of 1 decision, at 2.50 s: for real no more decisions, in simulation pause a."
	if s := fidelityOfDecisions(rows); s != want {
		t.Errorf("%q, want %q", s, want)
	}
	if s := fidelityOfDecisions(nil); s != "" {
		t.Errorf("%q of nothing", s)
	}
}

func TestAccuracyInWords(t *testing.T) {
	got := AccuracySentence(record.AccuracyRow{Model: "linear", Runs: 3, MeanAbs: 15, SD: 13.2, Bias: 15, Coverage: 2.0 / 3,
		Level: 0.9})
	const want = "The model linear was off by 15% on average (standard deviation 13.2%, bias +15%) over 3 real " +
		"runs. " +
		"Only 67% of the runs fell inside the 90% interval."
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// The error of estimates is divided into the machine's own error and the remaining error.
func TestAccuracyExplained(t *testing.T) {
	row := record.AccuracyRow{Model: "m", Runs: 8, MeanAbs: 26, SD: math.NaN(), Coverage: 0.9, Level: 0.9, Machine: 22}
	const want = "The model m was off by 26% on average over 8 real runs; the machine's own speed between samples and runs " +
		"explains 22 points of it. 90% of the runs fell inside the 90% interval."
	if got := AccuracySentence(row); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	row.Machine = 30
	if got := AccuracySentence(row); !strings.Contains(got, "explains all of it") {
		t.Errorf("more than all is explained: %s", got)
	}
	row.Machine = math.NaN()
	if got := AccuracySentence(row); strings.Contains(got, "machine") {
		t.Errorf("not known, but said: %s", got)
	}
}

func TestProfilingInWords(t *testing.T) {
	got := ProfilingSentence(record.ProfilingRow{Policy: "sjf", Baseline: "fcfs", Pairs: 2, Cost: 3, Makespan: 2, JCT: -1,
		Net: 1})
	const want = "Profiling took 3 s. With its estimates, the makespan under sjf was 2 s shorter and the mean JCT 1 s " +
		"longer than under fcfs, " +
		"on average over 2 pairs; in makespan alone, profiling saved 1 s more than it cost."
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// The table of comparisons has a column for places only if there are several places.
func TestPlacesOfComparisons(t *testing.T) {
	row := record.ComparisonRow{Metric: "makespan_s", Candidate: "c", Baseline: "b", Workload: "w", Hardware: "h", Ratio: 0.5,
		CILow: 0.4, CIHigh: 0.6, PValue: 0.5, Pairs: 3, Difference: -1.5, DifferenceLow: -2, DifferenceHigh: -1, Method: "m",
		BaselineMean: 3, CandidateMean: 1.5, Verdict: record.Better}
	named := func(n int) []record.Named { return make([]record.Named, n) }
	for _, c := range []struct {
		workloads, hardware int
		places              bool
	}{{1, 1, false}, {2, 1, true}, {1, 2, true}} {
		table := ComparisonTable(record.Plan{Workloads: named(c.workloads), Hardware: named(c.hardware)}, []record.ComparisonRow{row})
		if len(table.Header()) != len(table.Rows[0]) || slices.Contains(table.Header(), "workload") != c.places ||
			slices.Contains(table.Rows[0], "w") != c.places || table.Left() != map[bool]int{false: 4, true: 6}[c.places] {
			t.Errorf("%+v: %q", c, table.Rows)
		}
		if name := table.Rows[0][0]; name != measure.Makespan.Title || name == row.Metric {
			t.Errorf("the metric is called %q", name)
		}
		if text := strings.Join(table.Rows[0], " | "); !strings.Contains(text, "−50% (−60% to −40%) | 0.50 | 3 | 1.50 s | 3 s") {
			t.Errorf("intervals: %s", text)
		}
	}
}

// On a log, the table has the difference on this log, and in a column of its own the verdict on other days. If the intervals
// of the bootstrap include no change, other days are open whatever the test says.
func TestComparisonsOnALog(t *testing.T) {
	row := record.ComparisonRow{Metric: "mean_jct_s", Blocks: 15, Pairs: 1, Method: "block bootstrap", Level: 0.95,
		BaselineMean: 20, CandidateMean: 11, Difference: -9, Ratio: 0.55, CILow: 0.34, CIHigh: 0.8, DifferenceLow: -14,
		DifferenceHigh: -4, PValue: 0.04}
	open, short := row, row
	open.CIHigh, open.DifferenceHigh = 1.04, 1
	short.CILow, short.CIHigh, short.DifferenceLow, short.DifferenceHigh, short.PValue = math.NaN(), math.NaN(), -90, 80, 0.9
	rows := []record.ComparisonRow{row, open, short, {Metric: "mean_jct_s", Method: record.OneRun, Difference: -9}}
	for i := range rows {
		rows[i].Verdict = verdict(rows[i], measure.MeanJCT)
	}
	shown := ComparisonTable(record.Plan{}, rows)
	at := slices.Index(shown.Header(), "on other days")
	for i, want := range []string{"better", "no difference known", "the log is too short", ""} {
		if got := shown.Rows[i]; at < 0 || got[at] != want || got[at-1] != "better" {
			t.Errorf("%q, want better, on other days %q", got, want)
		}
	}
}

// If comparisons are by class, user or size, the table names the jobs of each comparison.
func TestComparisonsOfGroups(t *testing.T) {
	all := record.ComparisonRow{Metric: "makespan_s", Candidate: "c", Baseline: "b"}
	long, nobody := all, all
	long.By, long.Group, nobody.By = "class", "long", "user"
	table := ComparisonTable(record.Plan{}, []record.ComparisonRow{all, long, nobody})
	var jobs []string
	for _, row := range table.Rows {
		jobs = append(jobs, row[1])
	}
	if table.Header()[1] != "jobs" || table.Left() != 5 || !slices.Equal(jobs, []string{"all", "long", "(no user)"}) {
		t.Errorf("%q of %q", jobs, table.Header())
	}
}

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

// Thresholds on metrics are judged for each variant that they select. Thresholds on errors of simulations and estimates
// are judged over all variants.
func TestThresholds(t *testing.T) {
	f := func(x float64) *float64 { return &x }
	cell := func(policy string, jct float64) record.Cell {
		ref := record.CellRef{Cell: "w-h-" + policy + "-r1", Workload: "w", Hardware: "h", Policy: policy, Replicate: 1,
			Engine: "simulated", Simulated: true}
		return record.Cell{CellRef: ref, State: record.CellFinished,
			Metrics: MetricsOf(map[string]float64{"mean_jct_s": jct})}
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
		{Job: "b", Model: "scaling", Role: record.EstimateCompared, Predicted: 30, Actual: 10, Low: -1, High: -1},
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
