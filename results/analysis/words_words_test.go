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

// Sentences about searches.
func TestTuningInWords(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		runs              int
		median, low, high float64
		want, of          string
	}{
		{8, 11, 8, 15, "11 (8 to 15)", "11 (8 to 15) trials"}, {8, 11, 8, math.Inf(1), "11 (8 to more)", "11 (8 to more) trials"},
		{8, 11, 8, nan, "11 (8 to more)", "11 (8 to more) trials"}, {5, 1, 1, 2, "1", "1 trial"}, {6, 1, 1, 2, "1 (1 to 2)", "1 (1 to 2) trials"},
		{8, nan, nan, nan, "more", "more trials"},
	} {
		r := record.TuningRow{Runs: c.runs, Median: c.median, Low: c.low, High: c.high}
		if trialsTo(r) != c.want || trialsOf(r) != c.of {
			t.Errorf("%+v: %s, %s", c, trialsTo(r), trialsOf(r))
		}
	}
	for v, want := range map[float64]string{1.23456: "1.235", math.Inf(1): "–", 12345: "1.234e+04"} {
		if got := significant(v); got != want {
			t.Errorf("%g: %s", v, got)
		}
	}
	most, least := 0.5, 0.9
	e := &record.Experiment{Plan: record.Plan{Tunings: []record.Tuning{
		{Name: "t", Method: "x", Objective: "time", Constraints: []record.Constraint{{Outcome: "cost", Max: &least}}},
		{Name: "t", Method: "bo", Objective: "time_to_loss", Target: &most,
			Constraints: []record.Constraint{{Outcome: "accuracy", Min: &least}}},
		{Name: "u", Method: "bo", Objective: "time"},
	}}}
	row := record.TuningRow{Tuning: "t", Method: "bo", Hardware: "h", Runs: 4, Reached: 1, Best: nan, Median: nan, Trials: 9,
		RegretPct: 20, CostToBest: nan}
	want := "found nothing: no trial of t reached the target loss of at most 0.5 and accuracy of at least 0.9."
	if got := tuningSentence(e, row); !strings.HasSuffix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	row.Crashed = 2
	if got := tuningSentence(e, row); !strings.HasSuffix(got, want+" 2 of its 9 trials crashed.") {
		t.Errorf("with crashes: %q", got)
	}
	if row.Best = 3; !strings.Contains(tuningSentence(e, row), "only 1 of 4 runs came within 10% of the best there is (3); "+
		"the best that a run found was 20% behind it at the median.") {
		t.Errorf("%q", tuningSentence(e, row))
	}
	if row.Median = 2; !strings.Contains(tuningSentence(e, row), "needs 2 trials at the median to come within 10% of the best (3).") {
		t.Errorf("%q", tuningSentence(e, row))
	}
	if row.CostToBest = 0.5; !strings.Contains(tuningSentence(e, row), "needs 2 trials, which cost 0.5, at the median") {
		t.Errorf("%q", tuningSentence(e, row))
	}
	row.Tuning = "u"
	if got := unsatisfied(e, row); got != "has an outcome" {
		t.Errorf("%q", got)
	}
	if label := tuningLabel(record.TuningRow{Tuning: "t", Hardware: "h", Axes: "a=1"}); label != "t on h a=1" {
		t.Errorf("%q", label)
	}
	// Each row belongs to its tuning; one without runs has none.
	rows := []record.TuningRow{{Tuning: "t", Method: "bo", Hardware: "", Runs: 1, Best: nan, Median: nan, Found: nan}}
	if said := tuningSentences(e, rows); len(said) != 1 || !strings.Contains(said[0], "found nothing") {
		t.Errorf("%q", said)
	}
}

// Of several searches for the same best setting it is said which needs the fewest trials, and which costs least.
func TestFewestTrials(t *testing.T) {
	nan := math.NaN()
	row := func(method string, reached int, median, low, high, cost float64) record.TuningRow {
		return record.TuningRow{Tuning: "t", Method: method, Hardware: "h", Axes: "method=" + method, Runs: 9, Reached: reached,
			Best: 3, Median: median, Low: low, High: high, CostToBest: cost, ToFixed: nan, RegretPct: nan}
	}
	bo, selftf, random := row("bo", 9, 11, 8, 15, 2), row("selftf", 9, 17, 12, 20, 1), row("random", 4, nan, nan, nan, 0.5)
	want := "Fewest trials: t on h method=bo, 11 (8 to 15) (its interval overlaps that of t on h method=selftf); lowest " +
		"cost until then: t on h method=selftf, 1."
	if got := fewestTrials([]record.TuningRow{selftf, bo, random}); len(got) != 1 || got[0] != want {
		t.Errorf("%q, want %q", got, want)
	}
	other := bo
	other.Best = 4
	for name, rows := range map[string][]record.TuningRow{
		"one": {bo}, "different bests": {bo, other}, "none came there": {random, random},
	} {
		if got := fewestTrials(rows); len(got) > 0 {
			t.Errorf("%s: %q", name, got)
		}
	}
}
