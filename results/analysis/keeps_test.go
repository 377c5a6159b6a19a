package analysis_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
)

// A variant that misses deadlines is not the best, however little it costs; where all miss some, they are ranked.
func TestMissedDeadlinesAreNotRanked(t *testing.T) {
	e := &record.Experiment{}
	e.Plan.Compares = []record.Compare{{Metric: "mean_waiting", Baseline: "on_demand", Level: 0.95}}
	variant(e, "w", "on_demand", nil, 9, 9.3, 8.9, 9.2)
	variant(e, "w", "patient", nil, 5, 5.1, 5.3, 4.9)
	variant(e, "w", "spot_only", nil, 1, 1.4, 1.1, 0.8)
	miss := func(policies ...string) {
		for i := range e.Cells {
			c := &e.Cells[i]
			c.Metrics.Set(measure.MissedDeadlines, 0)
			for _, p := range policies {
				if c.Policy == p && c.Replicate == 2 {
					c.Metrics.Set(measure.MissedDeadlines, 1)
				}
			}
		}
	}
	for _, c := range []struct {
		missing []string
		want    string
	}{
		{nil, "spot_only patient on_demand"},
		{[]string{"spot_only"}, "patient on_demand spot_only"},
		{[]string{"spot_only", "patient"}, "on_demand spot_only patient"},
		{[]string{"spot_only", "patient", "on_demand"}, "spot_only patient on_demand"},
	} {
		miss(c.missing...)
		rows, err := analysis.Comparisons(e)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, o := range analysis.Questions(e, rows)[0].Entries {
			names = append(names, o.Name)
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%v miss deadlines: %s, want %s", c.missing, got, c.want)
		}
		h, err := analysis.HeadlineOf(e, rows, nil)
		if err != nil {
			t.Fatal(err)
		}
		late := map[int]string{1: "spot_only misses deadlines", 2: "spot_only and patient miss deadlines", 3: "all miss deadlines"}[len(c.missing)]
		if strings.Contains(h.Sentence, "deadlines") != (late != "") || !strings.Contains(strings.ToLower(h.Sentence), late) {
			t.Errorf("%v miss deadlines: %s", c.missing, h.Sentence)
		}
		if len(c.missing) == 1 && strings.Contains(h.Sentence, "spot_only is better") {
			t.Errorf("%v miss deadlines: %s", c.missing, h.Sentence)
		}
		for _, row := range h.Table.Rows {
			marked := strings.Contains(strings.Join(row, " "), "misses deadlines")
			if want := len(c.missing) < 3 && slices.Contains(c.missing, row[0]); marked != want {
				t.Errorf("%v miss deadlines: the row %q", c.missing, row)
			}
		}
		for _, v := range analysis.Variants(e) {
			missed := false
			for _, p := range c.missing {
				missed = missed || p == v.Policy
			}
			if v.Keeps() == missed {
				t.Errorf("%v miss deadlines: %s keeps %v", c.missing, v.Policy, v.Keeps())
			}
		}
	}
}
