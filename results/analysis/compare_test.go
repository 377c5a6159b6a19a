package analysis_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
)

// variant adds cells with these mean waiting times to an experiment, one for each replicate.
func variant(e *record.Experiment, workload, policy string, axes []record.Setting, waiting ...float64) {
	for i, w := range waiting {
		ref := record.CellRef{
			Cell: fmt.Sprintf("%s-%s%v-r%d", workload, policy, axes, i+1), Workload: workload, Hardware: "h",
			Policy: policy, Replicate: i + 1, Axes: axes,
		}
		e.Plan.Cells = append(e.Plan.Cells, ref)
		m := analysis.MetricsOf(map[string]float64{"jobs": 8, "finished": 8, "mean_waiting_s": w, "utilization": w / 10,
			"mean_jct_s": 0, "p95_jct_s": 0})
		e.Cells = append(e.Cells, record.Cell{CellRef: ref, State: record.CellFinished, Metrics: m})
	}
}

func axis(pairs ...string) []record.Setting {
	var out []record.Setting
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, record.Setting{Name: pairs[i], Value: pairs[i+1]})
	}
	return out
}

func comparisons(t *testing.T, e *record.Experiment) []record.ComparisonRow {
	t.Helper()
	rows, err := analysis.Comparisons(e)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func names(rows []record.ComparisonRow) []string {
	var out []string
	for _, r := range rows {
		out = append(out, fmt.Sprintf("%s: %s / %s: %s", r.Workload, r.Candidate, r.Baseline, r.Verdict))
	}
	return out
}

func TestComparisons(t *testing.T) {
	e := &record.Experiment{}
	e.Plan.Compares = []record.Compare{{Metric: "mean_waiting", Baseline: "fcfs", Level: 0.95}}
	variant(e, "w", "fcfs", axis("load", "0.5"), 4, 5, 6, 5)
	variant(e, "w", "rr", axis("load", "0.5", "quantum", "1s"), 2, 3, 4, 3.1)
	variant(e, "w", "rr", axis("load", "0.5", "quantum", "2s"), 5, 4, 7, 4.5)
	variant(e, "w", "fcfs", axis("load", "0.9"), 8, 9, 10, 9)
	variant(e, "w", "rr", axis("load", "0.9", "quantum", "1s"), 16, 18.5, 21, 17)
	variant(e, "v", "rr", axis("load", "0.5", "quantum", "1s"), 1, 2, 3, 4) // another workload
	want := []string{
		"w: rr load=0.5 quantum=1s / fcfs load=0.5: better",
		"w: rr load=0.5 quantum=2s / fcfs load=0.5: no difference detected",
		"w: rr load=0.9 quantum=1s / fcfs load=0.9: worse",
	}
	rows := comparisons(t, e)
	if d := cmp.Diff(want, names(rows)); d != "" {
		t.Fatal(d)
	}
	if rows[0].Candidates != 2 || rows[2].Candidates != 1 || rows[2].RawP != rows[2].PValue {
		t.Errorf("Holm's correction is over %d and %d candidates", rows[0].Candidates, rows[2].Candidates)
	}
	if p := stats.Holm([]float64{rows[0].RawP, rows[1].RawP}); p[0] != rows[0].PValue || p[1] != rows[1].PValue {
		t.Errorf("p-values %v and %v, want %v", rows[0].PValue, rows[1].PValue, p)
	}
	// For utilization, more is better, so the same numbers give the opposite verdicts.
	e.Plan.Compares[0].Metric = "utilization"
	for i, v := range []string{record.Worse, record.NoDifference, record.Better} {
		if got := comparisons(t, e)[i].Verdict; got != v {
			t.Errorf("verdict %d on utilization is %s, want %s", i, got, v)
		}
	}
}

// TestComparisonsOfValues: values of an axis, and hardware, are compared between cells that have everything else in
// common.
func TestComparisonsOfValues(t *testing.T) {
	e := &record.Experiment{}
	e.Plan.Compares = []record.Compare{{Metric: "mean_waiting", Level: 0.95,
		At: []record.Setting{{Name: "servers", Value: "1"}}}}
	for _, load := range []string{"0.5", "0.9"} {
		variant(e, "w", "fcfs", axis("servers", "1", "load", load), 4, 5, 6, 5)
		variant(e, "w", "fcfs", axis("servers", "2", "load", load), 2, 3, 4, 3.1)
		variant(e, "w", "fcfs", axis("servers", "4", "load", load), 5, 4, 7, 4.5)
		variant(e, "w", "rr", axis("servers", "2", "load", load), 1, 2, 3, 2)
	}
	variant(e, "v", "fcfs", axis("servers", "2", "load", "0.5"), 1, 2, 3, 4) // another workload
	want := []string{
		"w: fcfs servers=2 load=0.5 / fcfs servers=1 load=0.5: better",
		"w: fcfs servers=4 load=0.5 / fcfs servers=1 load=0.5: no difference detected",
		"w: fcfs servers=2 load=0.9 / fcfs servers=1 load=0.9: better",
		"w: fcfs servers=4 load=0.9 / fcfs servers=1 load=0.9: no difference detected",
	}
	if d := cmp.Diff(want, names(comparisons(t, e))); d != "" {
		t.Error(d)
	}
	e.Plan.Compares[0].At = []record.Setting{{Name: "workload", Value: "v"}}
	// Only this pair has different workloads.
	want = []string{"w: fcfs servers=2 load=0.5 of w / fcfs servers=2 load=0.5 of v: not enough replicates"}
	if d := cmp.Diff(want, names(comparisons(t, e))); d != "" {
		t.Error(d)
	}
}

func TestPairsThatCount(t *testing.T) {
	e := &record.Experiment{}
	e.Plan.Compares = []record.Compare{{Metric: "mean_waiting_s", Baseline: "fcfs"}}
	variant(e, "w", "fcfs", nil, 4, 5, 6, 5, 7)
	variant(e, "w", "rr", nil, 2, 3, 4, 3.1, 4)
	e.Cells[5].Metrics.Set(measure.Finished, 7)
	e.Cells[6].Metrics.Set(measure.MeanWaiting, math.NaN())
	r := comparisons(t, e)[0]
	if r.Pairs != 3 || r.BaselineMean != 6 || r.Level != 0.95 {
		t.Errorf("%+v", r)
	}
	for i := range e.Cells {
		e.Cells[i].Fixed = true
	}
	e.Cells = e.Cells[:7]
	if r := comparisons(t, e)[0]; r.Verdict != record.NotEnoughReplicates || r.Pairs != 0 {
		t.Errorf("%+v", r)
	}
}

// TestComparisonsOfTwoAxes: if the baseline is a policy on a hardware, all other combinations are compared with it.
func TestComparisonsOfTwoAxes(t *testing.T) {
	e := &record.Experiment{}
	e.Plan.Compares = []record.Compare{{Metric: "mean_waiting", Level: 0.95, At: axis("policy", "fcfs", "nodes", "4")}}
	for _, nodes := range []string{"4", "5"} {
		variant(e, "w", "fcfs", axis("nodes", nodes, "load", "1"), 4, 5, 6, 5)
		variant(e, "w", "easy", axis("nodes", nodes, "load", "1"), 2, 3, 4, 3.1)
		variant(e, "w", "easy", axis("nodes", nodes, "load", "2"), 2, 3, 4, 3.1)
	}
	want := []string{
		"w: easy nodes=4 load=1 / fcfs nodes=4 load=1: better",
		"w: fcfs nodes=5 load=1 / fcfs nodes=4 load=1: no difference detected",
		"w: easy nodes=5 load=1 / fcfs nodes=4 load=1: better",
	}
	rows := comparisons(t, e)
	if d := cmp.Diff(want, names(rows)); d != "" {
		t.Error(d)
	}
}

// TestComparisonsByClass: the classes are compared separately, and p-values are corrected for all of these comparisons.
func TestComparisonsByClass(t *testing.T) {
	e := &record.Experiment{}
	e.Plan.Compares = []record.Compare{{Metric: "mean_jct", Baseline: "fcfs", By: "class"}}
	variant(e, "w", "fcfs", nil, 4, 5, 6)
	variant(e, "w", "rr", nil, 2, 3, 4)
	group := func(name string, jct float64) measure.Group {
		return measure.Group{By: "class", Name: name, Metrics: analysis.MetricsOf(map[string]float64{"mean_jct_s": jct})}
	}
	for i := range e.Cells {
		long, short := 10.0, 5.0
		if e.Cells[i].Policy == "rr" {
			long, short = 15, 2
		}
		noise := 0.01 * float64(i*i%5)
		e.Cells[i].Groups = []measure.Group{group("long", long+noise), group("short", short+noise)}
	}
	var got []string
	for _, r := range comparisons(t, e) {
		got = append(got, fmt.Sprintf("%s %s: %s of %d, %s", r.By, r.Group, r.Method, r.Candidates, r.Verdict))
	}
	want := []string{"class long: " + stats.PairedT + " of 2, worse", "class short: " + stats.PairedT + " of 2, better"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestReplicatesThatAreAlike: replicates without randomness count as one, whatever their number. Replicates with
// randomness all count, even if some results are equal by chance.
func TestReplicatesThatAreAlike(t *testing.T) {
	for _, c := range []struct {
		name             string
		fixed, simulated bool
		values           []float64
		method, verdict  string
		pairs            int
	}{
		{"one replay", true, true, []float64{2}, record.OneRun, record.Better, 1},
		{"replays", true, true, []float64{2, 2, 2}, record.OneRun, record.Better, 1},
		{"same replays", true, true, []float64{4, 4, 4}, record.OneRun, record.NoDifference, 1},
		{"identical", false, true, []float64{2, 2, 2}, stats.SignFlips, record.NotEnoughReplicates, 3},
		{"many identical", false, true, []float64{2, 2, 2, 2, 2, 2}, stats.SignFlips, record.Better, 6},
		{"one of many", false, true, []float64{2}, "", record.NotEnoughReplicates, 1},
		{"drawn", false, true, []float64{2, 2.1, 2}, stats.PairedT, record.Better, 3},
		{"measured", false, false, []float64{2, 2, 2}, stats.SignFlips, record.NotEnoughReplicates, 3},
	} {
		e := &record.Experiment{}
		e.Plan.Compares = []record.Compare{{Metric: "mean_waiting", Baseline: "fcfs"}}
		base := make([]float64, len(c.values))
		for i := range base {
			base[i] = 4
		}
		variant(e, "w", "fcfs", nil, base...)
		variant(e, "w", "easy", nil, c.values...)
		for i := range e.Cells {
			e.Cells[i].Fixed, e.Cells[i].Simulated = c.fixed, c.simulated
		}
		r := comparisons(t, e)[0]
		if r.Method != c.method || r.Verdict != c.verdict || r.Pairs != c.pairs {
			t.Errorf("%s: %s by %q over %d pairs, want %s by %q over %d", c.name, r.Verdict, r.Method, r.Pairs, c.verdict,
				c.method,
				c.pairs)
		}
		if c.method == record.OneRun && !(math.IsNaN(r.PValue) && math.IsNaN(r.DifferenceLow)) {
			t.Errorf("%s: p = %v, interval from %v: want none", c.name, r.PValue, r.DifferenceLow)
		}
	}
}
