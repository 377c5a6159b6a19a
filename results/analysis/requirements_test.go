package analysis_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
)

// A variant that misses deadlines is not the best, however cheap it is. If all variants miss deadlines, they are
// ranked.
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
			if v.Keeps(measure.MeanWaiting) == missed {
				t.Errorf("%v miss deadlines: %s keeps %v", c.missing, v.Policy, !missed)
			}
		}
	}
}

// A policy that exceeds a threshold on another metric is not ranked among the policies within it. The sentence names
// the policy and the settings. If only one policy is within all thresholds, it is the answer.
func TestMissedThresholdsAreNotRanked(t *testing.T) {
	most := 10.0
	for _, c := range []struct {
		name       string
		loads      []string
		policies   []string
		waits      map[string][]float64
		costs      map[string][]float64 // one value for each load
		want, last string
	}{
		{"two of three keep it", []string{"1"}, []string{"base", "good", "dear"},
			map[string][]float64{"base": {9, 9.3, 8.9, 9.2}, "good": {5, 5.1, 5.3, 4.9}, "dear": {1, 1.4, 1.1, 0.8}},
			map[string][]float64{"base": {4}, "good": {5}, "dear": {30}},
			"Of those that keep the threshold of cost, good has the lowest mean waiting time, 44% (35–49%) below base. " +
				"dear misses the threshold of cost.", "misses the threshold of cost"},
		{"one keeps it", []string{"1"}, []string{"base", "dear"},
			map[string][]float64{"base": {9, 9.3, 8.9, 9.2}, "dear": {1, 1.4, 1.1, 0.8}},
			map[string][]float64{"base": {4}, "dear": {30}},
			"Only base keeps the threshold of cost (mean waiting time: 9.10 s); dear cuts mean waiting time from 9.10 s to 1.08 s " +
				"(too few runs for an interval: about 5 runs would do) against base. " +
				"dear misses the threshold of cost.", "misses the threshold of cost"},
		{"one misses it in some settings", []string{"1", "2"}, []string{"base", "good", "dear"},
			map[string][]float64{"base": {9, 9.3, 8.9, 9.2}, "good": {5, 5.1, 5.3, 4.9}, "dear": {1, 1.4, 1.1, 0.8}},
			map[string][]float64{"base": {4, 4}, "good": {5, 5}, "dear": {9, 30}},
			"Of those that keep the threshold of cost, good has the lowest mean waiting time at load 2 (−44% against base), dear at 1 " +
				"(−88% against base). dear misses the threshold of cost at load 2.",
			"better in 1 of 2, misses the threshold of cost in 1"},
		{"all miss it in one setting", []string{"1", "2", "3"}, []string{"base", "good", "dear"},
			map[string][]float64{"base": {9, 9.3, 8.9, 9.2}, "good": {5, 5.1, 5.3, 4.9}, "dear": {1, 1.4, 1.1, 0.8}},
			map[string][]float64{"base": {11, 4, 4}, "good": {12, 4, 4}, "dear": {20, 30, 5}},
			"Of those that keep the threshold of cost, good has the lowest mean waiting time at load 2 (−44% against base), dear at 3 " +
				"(−88% against base). All miss the threshold of cost at load 1; dear misses the threshold of cost at load 2.",
			"better in 1 of 3, misses the threshold of cost in 2"},
		{"two miss it in the same setting", []string{"1", "2"}, []string{"base", "good", "dear"},
			map[string][]float64{"base": {9, 9.3, 8.9, 9.2}, "good": {1, 1.4, 1.1, 0.8}, "dear": {5, 5.1, 5.3, 4.9}},
			map[string][]float64{"base": {4, 4}, "good": {5, 50}, "dear": {9, 30}},
			"Of those that keep the threshold of cost, base has the lowest mean waiting time at load 2 (the baseline), good at 1 " +
				"(−88% against base). good and dear miss the threshold of cost at load 2.", "better in 1 of 2, misses the threshold of cost in 1"},
	} {
		e := &record.Experiment{}
		e.Plan.Compares = []record.Compare{{Metric: "mean_waiting", Baseline: "base", Level: 0.95}}
		e.Plan.Thresholds = []record.Threshold{{Metric: "cost_usd", Max: &most}}
		for k, load := range c.loads {
			axes := []record.Setting{{Name: "load", Value: load}}
			if len(c.loads) == 1 {
				axes = nil
			}
			for _, p := range c.policies {
				n := len(e.Cells)
				variant(e, "w", p, axes, c.waits[p]...)
				for i := range e.Cells[n:] {
					e.Cells[n+i].Metrics.Set(measure.Cost, c.costs[p][k])
				}
			}
		}
		rows, err := analysis.Comparisons(e)
		if err != nil {
			t.Fatal(err)
		}
		h, err := analysis.HeadlineOf(e, rows, nil)
		if err != nil {
			t.Fatal(err)
		}
		if h.Sentence != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, h.Sentence, c.want)
		}
		row := h.Table.Rows[len(h.Table.Rows)-1]
		if row[0] != "dear" || !strings.Contains(strings.Join(row, " "), c.last) {
			t.Errorf("%s: the last row is %q", c.name, row)
		}
		if header := strings.Join(h.Table.Header(), " "); len(c.loads) == 1 && !strings.Contains(header, "cost") {
			t.Errorf("%s: no column of the missed metric: %s", c.name, header)
		}
	}
}

// A comparison within groups of jobs is not the main question of an experiment. The main question is about all jobs,
// in all settings.
func TestComparisonsWithinGroupsAreNotTheQuestion(t *testing.T) {
	e := &record.Experiment{}
	for _, load := range []string{"1", "2"} {
		axes := []record.Setting{{Name: "load", Value: load}}
		variant(e, "w", "fcfs", axes, 9, 9.3, 8.9, 9.2)
		variant(e, "w", "rr", axes, 5, 5.1, 5.3, 4.9)
	}
	within := record.Compare{Metric: "mean_waiting", Baseline: "fcfs", Level: 0.95, By: "size"}
	at := record.Compare{Metric: "mean_waiting", Baseline: "fcfs", Level: 0.95, At: []record.Setting{{Name: "load", Value: "1"}, {Name: "policy", Value: "fcfs"}}}
	all := within
	all.By = ""
	for _, compares := range [][]record.Compare{{within}, {at, within, all}, {at, within}} {
		e.Plan.Compares = compares
		rows, err := analysis.Comparisons(e)
		if err != nil {
			t.Fatal(err)
		}
		h, err := analysis.HeadlineOf(e, rows, nil)
		if err != nil {
			t.Fatal(err)
		}
		const want = "rr cuts mean waiting time against fcfs at both values of load, by 44%."
		if asks := len(compares) != 2; strings.Contains(h.Sentence, want) != asks || strings.Contains(h.Sentence, "all 1") {
			t.Errorf("%d compare blocks: %s", len(compares), h.Sentence)
		}
	}
}

// A threshold for one policy does not rank it behind the others, which need not keep it.
func TestThresholdOfOnePolicy(t *testing.T) {
	most := 90.0
	e := &record.Experiment{}
	e.Plan.Thresholds = []record.Threshold{{Metric: "mean_jct", Policy: "base", Max: &most}}
	variant(e, "w", "base", nil, 9, 9.3, 8.9, 9.2)
	for i := range e.Cells {
		e.Cells[i].Metrics.Set(measure.MeanJCT, 100)
	}
	for _, v := range analysis.Variants(e) {
		if !v.Keeps(measure.MeanWaiting) {
			t.Error("the policy with a threshold of its own is not ranked")
		}
	}
}

// A table with a column for each of several settings names the metric once, and each column by the parts in which the
// settings differ.
func TestColumnsOfSettingsHaveShortTitles(t *testing.T) {
	e := &record.Experiment{}
	e.Plan.Compares = []record.Compare{{Metric: "mean_waiting", Baseline: "base", Level: 0.95}}
	e.Plan.Workloads = []record.Named{{Name: "burst"}, {Name: "steady"}}
	e.Plan.Hardware = []record.Named{{Name: "small"}, {Name: "large"}}
	for _, w := range []string{"burst", "steady"} {
		for _, load := range []string{"1", "2"} {
			for _, p := range []string{"base", "good"} {
				variant(e, w, p, []record.Setting{{Name: "load", Value: load}}, 9, 9.3, 8.9, 9.2)
			}
		}
	}
	rows, err := analysis.Comparisons(e)
	if err != nil {
		t.Fatal(err)
	}
	h, err := analysis.HeadlineOf(e, rows, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"mean waiting time (s) load=1 burst", "load=2 burst", "load=1 steady", "load=2 steady", "against base"}
	if got := h.Table.Header(); !slices.Equal(got[1:6], want) {
		t.Errorf("columns %q, want %q", got, want)
	}
}
