package pipeline

import (
	"context"
	"slices"
	"testing"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/stages/experiment"
)

// shippedJCT runs the cells of a shipped experiment whose axis has one of the
// values, with a few replicates, and returns the mean JCT of each policy.
func shippedJCT(t *testing.T, file string, values ...string) map[string]float64 {
	t.Helper()
	spec := shippedSpec(t, file)
	spec.Replicates = 5
	spec.Cells = slices.DeleteFunc(spec.Cells, func(c experiment.Cell) bool {
		return len(c.Axes) > 0 && !slices.Contains(values, c.Axes[0].Value)
	})
	p, err := New(spec, Options{Out: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	o, err := p.Run(context.Background())
	if err != nil || o.Failed > 0 {
		t.Fatalf("%d cells failed: %v", o.Failed, err)
	}
	e, err := record.Open(p.Dir)
	if err != nil {
		t.Fatal(err)
	}
	m, _ := measure.MetricByName("mean_jct_s")
	means := map[string]float64{}
	for _, v := range analysis.Variants(e) {
		name := v.Policy
		if len(v.Axes) > 0 {
			name += " " + v.Axes[0].Value
		}
		means[name] = stats.MeanInterval(v.Values(m), 0.95).Mean
	}
	return means
}

// At a high load, AlloX has the least mean JCT of all policies, and loses little
// of it where it is fair to users.
func TestAlloXHasTheLeastMeanJCT(t *testing.T) {
	means := shippedJCT(t, "allox.hcl", "72")
	if len(means) != 7 {
		t.Fatalf("%d policies", len(means))
	}
	best := means["allox 72"]
	for policy, mean := range means { // a failure names its policy
		if policy != "allox 72" && mean < best {
			t.Errorf("%s has a mean JCT of %.0f s, allox %.0f s", policy, mean, best)
		}
	}
	if fair := means["allox_fair 72"]; fair > 1.1*best {
		t.Errorf("allox with alpha 0.3 has a mean JCT of %.0f s, with 1 %.0f s", fair, best)
	}
}

// A policy that decides by estimates alone suffers when they are wrong.
func TestEstimateErrors(t *testing.T) {
	if testing.Short() {
		t.Skip("a whole experiment, which the race detector makes last for a minute")
	}
	means := shippedJCT(t, "estimate_error.hcl", "0", "1")
	if len(means) != 9 {
		t.Fatalf("%d variants: %v", len(means), means)
	}
	if means["allox 0"] >= means["allox 1"] || means["allox 0"] >= means["fcfs"] {
		t.Errorf("mean JCT of allox: %.0f s, with errors %.0f s; of fcfs %.0f s", means["allox 0"], means["allox 1"],
			means["fcfs"])
	}
}
