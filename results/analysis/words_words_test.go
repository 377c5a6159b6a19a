package analysis

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
)

// The table of comparisons names places only where there are several.
func TestPlacesOfComparisons(t *testing.T) {
	row := record.ComparisonRow{Metric: "makespan_s", Candidate: "c", Baseline: "b", Workload: "w", Hardware: "h", Ratio: 0.5,
		CILow: 0.4, CIHigh: math.NaN(), PValue: 0.5, Pairs: 3, DifferenceLow: -2, DifferenceHigh: -1, Method: "m"}
	named := func(n int) []record.Named { return make([]record.Named, n) }
	for _, c := range []struct {
		workloads, hardware int
		places              bool
	}{{1, 1, false}, {2, 1, true}, {1, 2, true}} {
		table := ComparisonTable(record.Plan{Workloads: named(c.workloads), Hardware: named(c.hardware)}, []record.ComparisonRow{row})
		if len(table.Header()) != len(table.Rows[0]) || slices.Contains(table.Header(), "workload") != c.places ||
			slices.Contains(table.Rows[0], "w") != c.places || table.Left() != map[bool]int{false: 4, true: 6}[c.places] {
			t.Errorf("%+v: %q", c, table)
		}
		if name := table.Rows[0][0]; name != measure.Makespan.Label() || name == row.Metric {
			t.Errorf("the metric is called %q", name)
		}
		if text := strings.Join(table.Rows[0], " | "); !strings.Contains(text, "0.500 | – | 0.50") || !strings.Contains(text, "−2 to −1") {
			t.Errorf("intervals: %s", text)
		}
	}
}

// With comparisons of one class, user or size, the table says which jobs each is of.
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
