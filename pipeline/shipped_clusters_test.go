package pipeline

import (
	"context"
	"slices"
	"testing"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/experiment"
)

// A short form of the policies of the field on a trace: one load, one replicate, four policies that do not search. All jobs
// end, and the mean JCT is the less the more an order knows: nothing, what jobs have had, what they have left.
func TestClustersOnATrace(t *testing.T) {
	if testing.Short() {
		t.Skip("whole cells of 180 jobs")
	}
	order := []string{"srtf", "tiresias", "first_fit", "fcfs"}
	spec := shippedSpec(t, "clusters_trace.hcl")
	spec.Replicates = 1
	spec.Cells = slices.DeleteFunc(spec.Cells, func(c experiment.Cell) bool {
		return c.Axes[0].Value != "1" || !slices.Contains(order, c.Policy.Name)
	})
	p, err := New(spec, Options{Out: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if o, err := p.Run(context.Background()); err != nil || o.Failed > 0 {
		t.Fatalf("%d cells failed: %v", o.Failed, err)
	}
	e, err := record.Open(p.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Cells) != len(order) {
		t.Fatalf("%d cells, want %d", len(e.Cells), len(order))
	}
	slices.SortFunc(e.Cells, func(a, b record.Cell) int {
		return slices.Index(order, a.Policy) - slices.Index(order, b.Policy)
	})
	last := 0.0
	for _, c := range e.Cells {
		if n := measure.Finished.Of(&c.Metrics); n != 180 {
			t.Errorf("%s: %g of 180 jobs finished", c.Policy, n)
		}
		if mean := measure.MeanJCT.Of(&c.Metrics); !(mean > last) {
			t.Errorf("%s: the mean JCT is %g s, not above the %g s before it", c.Policy, mean, last)
		} else {
			last = mean
		}
	}
}
