package analysis_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/record"
)

func leaders(t *testing.T, e *record.Experiment) (out []string) {
	t.Helper()
	found, err := analysis.Leaders(e)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range found {
		out = append(out, fmt.Sprintf("%s %s%v: %s %.4g, alike %v", l.Workload, l.Policy, l.Setting, l.Name, l.Mean, l.Alike))
	}
	return out
}

// In each setting the best is found among the baseline and all others: the baseline may be the best, policies keep the
// axes that they alone read in their names, and a policy that does not read an axis is in all settings.
func TestLeaders(t *testing.T) {
	e := &record.Experiment{}
	e.Plan.Compares = []record.Compare{{Metric: "mean_waiting", Baseline: "fcfs", Level: 0.95}}
	variant(e, "w", "fcfs", nil, 4, 5, 6, 5)
	variant(e, "w", "sjf", axis("sigma", "0"), 2, 3, 4, 3.1)
	variant(e, "w", "sjf", axis("sigma", "1"), 7, 8.1, 9, 8)
	variant(e, "w", "rr", axis("sigma", "0", "quantum", "1s"), 2.1, 3, 3.9, 3.2)
	variant(e, "w", "rr", axis("sigma", "1", "quantum", "1s"), 7.1, 8, 9.1, 8)
	want := []string{
		"w [{sigma 0}]: sjf 3.025, alike [rr quantum=1s]",
		"w [{sigma 1}]: fcfs 5, alike []",
	}
	if diff := cmp.Diff(want, leaders(t, e)); diff != "" {
		t.Error(diff)
	}
	e.Plan.Compares[0].Metric = "utilization" // the greatest is the best
	want = []string{
		"w [{sigma 0}]: fcfs 0.5, alike []",
		"w [{sigma 1}]: rr quantum=1s 0.805, alike [sjf]",
	}
	if diff := cmp.Diff(want, leaders(t, e)); diff != "" {
		t.Error(diff)
	}
}

// Where the values of an axis are compared, each policy is a setting.
func TestLeadersOfAnAxis(t *testing.T) {
	e := &record.Experiment{}
	e.Plan.Compares = []record.Compare{{Metric: "mean_waiting", At: axis("alloc", "strict"), Level: 0.95}}
	for _, policy := range []string{"fcfs", "rr"} {
		variant(e, "w", policy, axis("alloc", "strict", "load", "1"), 4, 5, 6, 5)
		variant(e, "w", policy, axis("alloc", "attend", "load", "1"), 1, 2.1, 3, 1.9)
		variant(e, "w", policy, axis("alloc", "prop", "load", "1"), 8, 9, 9, 8)
	}
	want := []string{
		"w fcfs[{load 1}]: alloc=attend 2, alike []",
		"w rr[{load 1}]: alloc=attend 2, alike []",
	}
	if diff := cmp.Diff(want, leaders(t, e)); diff != "" {
		t.Error(diff)
	}
}

// Two variants have no best in addition to their comparison, nor have replicates too few for a verdict.
func TestNoLeader(t *testing.T) {
	two := &record.Experiment{}
	two.Plan.Compares = []record.Compare{{Metric: "mean_waiting", Baseline: "fcfs", Level: 0.95}}
	variant(two, "w", "fcfs", nil, 4, 5, 6)
	variant(two, "w", "sjf", nil, 2, 3, 4)
	few := &record.Experiment{}
	few.Plan.Compares = two.Plan.Compares
	for i, policy := range []string{"fcfs", "sjf", "rr"} {
		variant(few, "w", policy, nil, 4+float64(i), 5)
	}
	for _, e := range []*record.Experiment{two, few} {
		if got := leaders(t, e); len(got) > 0 {
			t.Errorf("got %q", got)
		}
	}
}

// Where not all fit, there are the best of each load with the baseline, and not the variants of the least load alone.
func TestBestOfEach(t *testing.T) {
	e := &record.Experiment{}
	e.Plan.Compares = []record.Compare{{Metric: "mean_waiting", Baseline: "a", Level: 0.95}}
	for i, policy := range []string{"a", "b", "c", "d", "e"} {
		variant(e, "w", policy, axis("load", "1"), float64(9-i))
		variant(e, "w", policy, axis("load", "2"), float64(90+i))
	}
	var got []string
	best, each, _ := analysis.BestOfEach(e.Plan, analysis.Variants(e), 7)
	for _, v := range best {
		got = append(got, v.Label)
	}
	want := []string{"e load=1", "d load=1", "a load=1", "a load=2", "b load=2", "c load=2"}
	if !slices.Equal(got, want) || each != 3 {
		t.Errorf("%d of each: %q, want %q", each, got, want)
	}
	if best, each, _ := analysis.BestOfEach(e.Plan, analysis.Variants(e), 5); len(best) != 4 || each != 2 {
		t.Errorf("there is room for two of each, and there are %d, %d of each", len(best), each)
	}
	if best, each, _ := analysis.BestOfEach(e.Plan, analysis.Variants(e), 3); len(best) != 3 || each != 0 {
		t.Errorf("there is no room for two of each, and there are %d, %d of each", len(best), each)
	}
	if best, each, _ := analysis.BestOfEach(e.Plan, analysis.Variants(e), 10); len(best) != 10 || each != 0 {
		t.Errorf("all fit, and there are %d, %d of each", len(best), each)
	}
}
