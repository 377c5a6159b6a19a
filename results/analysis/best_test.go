package analysis_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/record"
)

// If not all variants fit, the table has the best variants of each load and the baseline, and not only the variants of
// the lowest load.
func TestBestOfEach(t *testing.T) {
	e := &record.Experiment{}
	e.Plan.Compares = []record.Compare{{Metric: "mean_waiting", Baseline: "a", Level: 0.95}}
	for i, policy := range []string{"a", "b", "c", "d", "e"} {
		variant(e, "w", policy, axis("load", "1"), float64(9-i))
		variant(e, "w", policy, axis("load", "2"), float64(90+i))
	}
	var got []string
	best, chosen := analysis.BestOfEach(e.Plan, analysis.Variants(e), 7)
	for _, v := range best {
		got = append(got, v.Label)
	}
	want := []string{"e load=1", "d load=1", "a load=1", "a load=2", "b load=2", "c load=2"}
	if !slices.Equal(got, want) || !strings.Contains(chosen, ", 3 of each") {
		t.Errorf("%s: %q, want %q", chosen, got, want)
	}
	if best, chosen := analysis.BestOfEach(e.Plan, analysis.Variants(e), 5); len(best) != 4 || !strings.Contains(chosen, ", 2 of each") {
		t.Errorf("there is room for two of each, and there are %d: %s", len(best), chosen)
	}
	if best, chosen := analysis.BestOfEach(e.Plan, analysis.Variants(e), 3); len(best) != 3 || strings.Contains(chosen, "of each") {
		t.Errorf("there is no room for two of each, and there are %d: %s", len(best), chosen)
	}
	if best, chosen := analysis.BestOfEach(e.Plan, analysis.Variants(e), 10); len(best) != 10 || chosen != "" {
		t.Errorf("all fit, and there are %d: %s", len(best), chosen)
	}
}

// A policy that has only the first replicates, which have little work, is not the best for its low mean: its change from
// the baseline counts.
func TestFewerReplicatesAreNotTheBest(t *testing.T) {
	e := &record.Experiment{}
	e.Plan.Compares = []record.Compare{{Metric: "mean_waiting", Baseline: "fcfs", Level: 0.95}}
	variant(e, "w", "fcfs", nil, 5, 5.1, 5.2, 20, 21, 20.5, 22, 19, 20, 21)
	variant(e, "w", "early", nil, 5.5, 5.62, 5.7)
	variant(e, "w", "good", nil, 4.5, 4.7, 4.75, 18, 19.1, 18.6, 20, 17.2, 18, 19.2)
	h, err := analysis.HeadlineOf(e, comparisons(t, e), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := "good has the lowest mean waiting time, 9.3% (8.3–9.7%) below fcfs; early is worse (+9.9%)."
	if h.Sentence != want {
		t.Errorf("%s\nwant %s", h.Sentence, want)
	}
	var order []string
	for _, row := range h.Table.Rows {
		order = append(order, row[0])
	}
	if want := []string{"good", "fcfs", "early"}; !slices.Equal(order, want) {
		t.Errorf("the rows are %v, want %v", order, want)
	}
}
