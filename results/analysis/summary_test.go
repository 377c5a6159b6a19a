package analysis_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/record"
)

// If not all are shown, the best by the compared metric are: variants by their means, and policies by the means of
// their variants.
func TestBest(t *testing.T) {
	e := &record.Experiment{}
	e.Plan.Compares = []record.Compare{{Metric: "utilization", Baseline: "fcfs", Level: 0.95}}
	variant(e, "w", "fcfs", axis("load", "0.5"), 1, 2)
	variant(e, "w", "fcfs", axis("load", "0.9"), 5, 6)
	variant(e, "w", "srtf", axis("load", "0.5"), 4)
	variant(e, "w", "srtf", axis("load", "0.9"), 4.2)
	variant(e, "w", "unknown", axis("load", "0.5"), math.NaN())
	all := analysis.Variants(e)
	var got []string
	best := analysis.Best(e.Plan, all, 2)
	for _, v := range best {
		got = append(got, v.Label)
	}
	if want := []string{"fcfs load=0.9", "srtf load=0.9"}; !slices.Equal(got, want) {
		t.Errorf("the best variants are %q, want %q", got, want)
	}
	policies, chosen := analysis.BestPolicies(e.Plan, all, 2)
	if want := []string{"srtf", "fcfs"}; !slices.Equal(policies, want) || !strings.Contains(chosen, "2 of 3 policies by utilization") {
		t.Errorf("the best policies are %q, want %q;%s", policies, want, chosen)
	}
	if policies, _ := analysis.BestPolicies(e.Plan, all, 3); policies[0] != "fcfs" {
		t.Errorf("all are in their order, not %q", policies)
	}
}
