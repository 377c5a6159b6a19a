package analysis

import (
	"math"
	"testing"

	"github.com/tfexp/tfexp/results/record"
)

// One job is estimated on two resources by two models. The model linear predicts 10 and 6 s, where the runs took 8 and
// 10 s (errors +25% and 0%) and 5 s (+20%); two of its three intervals hold. The model plain predicts that the slower
// resource is the faster one.
func TestAccuracy(t *testing.T) {
	row := func(model string, threads int, predicted, low, high float64) record.EstimateRow {
		return record.EstimateRow{Job: "j", Hardware: "h", Threads: threads, Model: model, Predicted: predicted, Low: low,
			High: high, Level: 0.9}
	}
	rows := []record.EstimateRow{
		row("linear", 1, 10, 9, 11), row("plain", 1, 4, -1, -1), row("linear", 2, 6, 4, 8), row("plain", 2, 5, -1, -1),
	}
	actual := make([]outcomes, len(rows))
	for i, r := range rows {
		seconds := []float64{8, 10}
		if r.Threads == 2 {
			seconds = []float64{5}
		}
		for _, s := range seconds {
			actual[i].add(r, s, realCell("c"), 1)
		}
		actual[i].add(r, 100, record.CellRef{Cell: "s", Simulated: true}, 1) // simulated runs do not count
	}
	got := accuracy(rows, actual)
	if len(got) != 8 { // for each model: all together, the job, and two resources
		t.Fatalf("%d rows: %+v", len(got), got)
	}
	equal := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9 && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("%s = %g, want %g", what, got, want)
		}
	}
	all := got[0]
	if all.Model != "linear" || all.By != record.ByAll || all.Estimates != 2 || all.Runs != 3 || all.Choices != 1 {
		t.Errorf("%+v", all)
	}
	equal("mean absolute error", all.MeanAbs, 15)
	equal("the error of the machine within one cell", all.Machine, math.NaN())
	equal("bias", all.Bias, 15)
	equal("standard deviation", all.SD, math.Sqrt(175)) // standard deviation of 25, 0 and 20
	equal("coverage", all.Coverage, 2.0/3)
	equal("rank", all.BestRank, 1)
	equal("regret", all.Regret, 0)
	plain := got[4]
	if plain.Model != "plain" || plain.By != record.ByAll {
		t.Fatalf("%+v", plain)
	}
	equal("coverage without intervals", plain.Coverage, math.NaN())
	equal("rank of the wrong choice", plain.BestRank, 2)
	equal("regret of the wrong choice", plain.Regret, 80) // the chosen resource takes 9 s, the other one 5 s
	if r := got[3]; r.By != record.ByResource || r.Group != "h, 2 threads" || r.Choices != 0 {
		t.Errorf("%+v", r)
	}
}

// Two runs of 8 and 10 s predict each other with errors of 20% and 25%, whatever the estimate. Two runs in the same
// cell do not count. If the second run was predicted to take twice as long as alone, it counts as 5 s, and the errors
// are 60% and 37.5%.
func TestMachineError(t *testing.T) {
	for _, c := range []struct{ predicted, longer, want float64 }{{10, 1, 22.5}, {3, 1, 22.5}, {10, 2, 48.75}} {
		e := record.EstimateRow{Job: "j", Predicted: c.predicted, Low: -1}
		var o, none outcomes
		o.add(e, 8, realCell("a"), 1)
		if got := machineError([]outcomes{none, o}, []int{1}); !math.IsNaN(got) {
			t.Errorf("of one run: %g", got)
		}
		o.add(e, 10, realCell("b"), c.longer)
		if got := machineError([]outcomes{none, o}, []int{1}); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%+v: %g", c, got)
		}
	}
}

// realCell returns a cell of a real run.
func realCell(name string) record.CellRef { return record.CellRef{Cell: name, Engine: "process"} }

// Two estimates for the same job block and request differ if they have different values of an axis that the job reads.
func TestWithin(t *testing.T) {
	have := []record.Setting{{Name: "hidden", Value: "[64, 32]"}, {Name: "quantum", Value: "1s"}}
	for axes, want := range map[string]bool{"": true, "hidden=[64,32]": true, "hidden=[64,32] quantum=1s": true,
		"hidden=[64]": false, "batch=3": false} {
		if got := within(axes, have); got != want {
			t.Errorf("within(%q) = %v", axes, got)
		}
	}
}

// The estimate is 10 s and is corrected to 12 s when the second cell begins; a run takes 12 s. Both forms of the
// estimate are judged. Next to a neighbor, both are twice as long.
func TestAccuracyOfCorrectedEstimates(t *testing.T) {
	used := record.EstimateRow{Job: "j", Hardware: "h", Threads: 1, Model: "linear", Predicted: 10, Low: 9, High: 11,
		Level: 0.9}
	var o outcomes
	o.add(used, 12, realCell("a"), 1)
	o.latest.add(record.Estimated{Predicted: 10, Low: 9, High: 11, Factor: 1}, 12, 1)
	if got := accuracy([]record.EstimateRow{used}, []outcomes{o}); len(got) != 3 {
		t.Fatalf("nothing was corrected: %+v", got)
	}
	o.add(used, 24, realCell("b"), 2)
	o.latest.add(record.Estimated{Predicted: 12, Low: 11, High: 13, Factor: 1.2, Runs: 1}, 24, 2)
	got := accuracy([]record.EstimateRow{used}, []outcomes{o})
	if len(got) != 6 || got[0].Made != record.MadeBefore || got[1].Made != record.MadeCorrected ||
		got[1].By != record.ByAll {
		t.Fatalf("%+v", got)
	}
	before, corrected := got[0], got[1]
	if before.Runs != 2 || math.Abs(before.Bias+100.0/6) > 1e-9 || before.Coverage != 0 {
		t.Errorf("before: %+v", before)
	}
	if corrected.Runs != 2 || math.Abs(corrected.Bias+100.0/12) > 1e-9 || corrected.Coverage != 0.5 {
		t.Errorf("corrected: %+v", corrected)
	}
}

// The policy with estimates is 2 s faster in each of two replicates. This is more than the 3 s of sampling, by 1 s. It
// is compared with the baseline of the experiment, and not with another policy that uses estimates.
func TestProfiling(t *testing.T) {
	e := record.Experiment{Plan: record.Plan{Estimating: []string{"sjf", "srtf"},
		Compares: []record.Compare{{Baseline: "fcfs"}}}}
	for _, policy := range []string{"rr", "fcfs", "sjf"} {
		for replicate := 1; replicate <= 2; replicate++ {
			ref := record.CellRef{Cell: policy, Workload: "w", Hardware: "h", Policy: policy, Replicate: replicate}
			m := MetricsOf(map[string]float64{"makespan_s": 10, "mean_jct_s": 5})
			if policy == "sjf" {
				m = MetricsOf(map[string]float64{"makespan_s": 8, "mean_jct_s": 6})
			}
			e.Plan.Cells = append(e.Plan.Cells, ref)
			e.Cells = append(e.Cells, record.Cell{CellRef: ref, Metrics: m})
		}
	}
	rows := profiling(&e, 3)
	if len(rows) != 1 {
		t.Fatalf("%+v", rows)
	}
	want := record.ProfilingRow{Workload: "w", Hardware: "h", Policy: "sjf", Baseline: "fcfs", Pairs: 2, Cost: 3,
		Makespan: 2, JCT: -1, Net: 1}
	if rows[0] != want {
		t.Errorf("%+v, want %+v", rows[0], want)
	}
}
