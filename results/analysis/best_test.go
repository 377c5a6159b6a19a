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
