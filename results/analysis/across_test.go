package analysis_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
)

// keyed writes the dependencies of an experiment's cells: their jobs.
func keyed(t *testing.T, e *record.Experiment, jobs string) {
	t.Helper()
	e.Dir = t.TempDir()
	for _, c := range e.Cells {
		dir := filepath.Join(e.Dir, record.CellsDir, c.Cell)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		text := "workload.other x\nworkload.jobs " + jobs + "\n"
		if err := os.WriteFile(filepath.Join(dir, record.KeyFile), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAcross: replicates of two folders are paired where seed and jobs are the same. The waiting times halve, by 3 s in
// the mean of three.
func TestAcross(t *testing.T) {
	waiting, _ := measure.MetricByName("mean_waiting_s")
	for _, c := range []struct {
		name   string
		change func(before, after *record.Experiment)
		jobs   string // of the second folder
		want   string
	}{
		{"paired", func(_, _ *record.Experiment) {}, "a", "fcfs: skewness-corrected paired t, 3 pairs, 6 → 3, 0 doubtful"},
		{"other jobs", func(_, _ *record.Experiment) {}, "b", "fcfs: Welch's t, 0 pairs, 6 → 3, 0 doubtful"},
		{"unknown jobs", func(_, after *record.Experiment) {
			if err := os.RemoveAll(filepath.Join(after.Dir, record.CellsDir)); err != nil {
				t.Fatal(err)
			}
		}, "a", "fcfs: Welch's t, 0 pairs, 6 → 3, 0 doubtful"},
		{"another seed", func(_, after *record.Experiment) { after.Cells[1].Seed = 9 }, "a",
			"fcfs: Welch's t, 0 pairs, 6 → 3, 0 doubtful"},
		{"a seed of another replicate", func(before, after *record.Experiment) {
			for i := range 3 {
				before.Cells[i].Seed, after.Cells[i].Seed = int64(i), int64(i)
			}
		}, "a", "fcfs: skewness-corrected paired t, 3 pairs, 6 → 3, 0 doubtful"},
		{"a value that is not known", func(_, after *record.Experiment) {
			after.Cells[0].Seed = 9
			after.Cells[2].Metrics.Set(waiting, math.NaN())
		}, "a", "fcfs: , 0 pairs, 6 → 2.5, 0 doubtful"},
		{"replays", func(before, after *record.Experiment) {
			for i := range 3 {
				before.Cells[i].Fixed, after.Cells[i].Fixed = true, true
			}
		}, "a", "fcfs: one run, 1 pairs, 4 → 2, 0 doubtful"},
		{"replays of other jobs", func(before, after *record.Experiment) {
			for i := range 3 {
				before.Cells[i].Fixed, after.Cells[i].Fixed = true, true
				after.Cells[i].Error = "not a schedule"
			}
		}, "a", "fcfs: , 0 pairs, NaN → NaN, 0 doubtful"},
		{"one replay", func(before, _ *record.Experiment) {
			for i := range 3 {
				before.Cells[i].Fixed = true
			}
		}, "a", "fcfs: skewness-corrected paired t, 3 pairs, 6 → 3, 0 doubtful"},
		{"a disturbed cell", func(before, _ *record.Experiment) {
			before.Cells[1].Warnings = []record.Warning{{Code: record.Disturbed}}
		}, "a", "fcfs: skewness-corrected paired t, 3 pairs, 6 → 3, 1 doubtful"},
	} {
		before, after := &record.Experiment{}, &record.Experiment{}
		variant(before, "w", "fcfs", nil, 4, 6, 8)
		variant(before, "v", "fcfs", nil, 1, 1, 1)
		variant(after, "w", "fcfs", nil, 2, 3, 4)
		variant(after, "w", "new", nil, 9, 9, 9) // the other folder does not have it
		keyed(t, before, "a")
		keyed(t, after, c.jobs)
		c.change(before, after)
		rows := analysis.Across(before, after, []measure.Metric{waiting}, "", 0.95)
		if len(rows) != 1 {
			t.Fatalf("%s: %d rows: %+v", c.name, len(rows), rows)
		}
		r := rows[0]
		got := fmt.Sprintf("%s: %s, %d pairs, %g → %g, %d doubtful", r.Candidate, r.Method, r.Pairs, r.BaselineMean,
			r.CandidateMean, r.Doubtful)
		if got != c.want || r.Workload != "w" || r.Level != 0.95 {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestAcrossByGroup: the correction is over the variants and groups of a metric, not over all metrics.
func TestAcrossByGroup(t *testing.T) {
	before, after := &record.Experiment{}, &record.Experiment{}
	variant(before, "w", "fcfs", nil, 4, 6, 8)
	variant(after, "w", "fcfs", nil, 2, 3, 4)
	for i := range before.Cells {
		group := func(name string, jct float64) measure.Group {
			return measure.Group{By: "class", Name: name,
				Metrics: measure.Of(map[string]float64{"mean_jct_s": jct, "mean_waiting_s": jct / 2})}
		}
		before.Cells[i].Groups = []measure.Group{group("long", 10), group("short", float64(i))}
		after.Cells[i].Groups = []measure.Group{group("short", 2*float64(i)), group("long", 9+0.1*float64(i))}
	}
	keyed(t, before, "a")
	keyed(t, after, "a")
	jct, _ := measure.MetricByName("mean_jct_s")
	waiting, _ := measure.MetricByName("mean_waiting_s")
	var got []string
	for _, r := range analysis.Across(before, after, []measure.Metric{jct, waiting}, "class", 0.95) {
		got = append(got, fmt.Sprintf("%s of %s: %.3g → %.3g, %d", r.Metric, r.Group, r.BaselineMean, r.CandidateMean,
			r.Candidates))
	}
	want := []string{"mean_jct_s of long: 10 → 9.1, 2", "mean_jct_s of short: 1 → 2, 2",
		"mean_waiting_s of long: 5 → 4.55, 2", "mean_waiting_s of short: 0.5 → 1, 2"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestGroups: a row for each class and variant, the variants of a class together; a variant that has no job of a class
// has no row.
func TestGroups(t *testing.T) {
	e := &record.Experiment{}
	variant(e, "w", "fcfs", nil, 4, 6)
	variant(e, "w", "rr", nil, 2, 3)
	for i := range e.Cells {
		group := func(by, name string, jct float64) measure.Group {
			return measure.Group{By: by, Name: name, Metrics: measure.Of(map[string]float64{"mean_jct_s": jct})}
		}
		e.Cells[i].Groups = []measure.Group{group("user", "ada", 99), group("class", "long", float64(10+i))}
		if i > 1 {
			e.Cells[i].Groups = append(e.Cells[i].Groups, group("class", "short", 1))
		}
	}
	var got []string
	for _, r := range analysis.Groups(e, "class") {
		if len(r.Metrics) != len(analysis.GroupMetrics()) {
			t.Errorf("%d metrics", len(r.Metrics))
		}
		for _, m := range r.Metrics {
			if m.Metric == "mean_jct_s" {
				got = append(got, fmt.Sprintf("%s %s: %g of %d", r.Group, r.Variant, m.Interval.Mean, m.Interval.N))
			}
		}
	}
	if d := cmp.Diff([]string{"long fcfs: 10.5 of 2", "long rr: 12.5 of 2", "short rr: 1 of 2"}, got); d != "" {
		t.Error(d)
	}
	rows := analysis.Summary(e)
	if len(rows) != 2 || rows[0].Variant != "fcfs" || rows[0].Planned != 2 || rows[0].Complete != 2 || rows[0].Failed != 0 {
		t.Errorf("%+v", rows)
	}
	e.Cells[0].State = record.CellFailed
	e.Plan.Cells = append(e.Plan.Cells, record.CellRef{Workload: "w", Hardware: "h", Policy: "rr", Replicate: 3})
	rows = analysis.Summary(e)
	if rows[0].Failed != 1 || rows[1].Planned != 3 || rows[1].Complete != 2 {
		t.Errorf("%+v", rows)
	}
	for _, m := range rows[1].Metrics {
		if m.Metric == "mean_waiting_s" && m.Interval.Mean != 2.5 {
			t.Errorf("%+v", m)
		}
	}
}

// A variant meets values of axes that it does not read.
func TestMeets(t *testing.T) {
	v := analysis.Variant{Workload: "w", Hardware: "h", Policy: "p", Axes: axis("load", "1")}
	for _, c := range []struct {
		at   []record.Setting
		want bool
	}{
		{nil, true}, {axis("load", "1"), true}, {axis("load", "2"), false}, {axis("quantum", "1s"), true},
		{axis("hardware", "h", "workload", "w", "policy", "p"), true}, {axis("hardware", "g"), false},
		{axis("workload", "u"), false}, {axis("policy", "q"), false}, {axis("quantum", "1s", "load", "2"), false},
	} {
		if got := v.Meets(c.at); got != c.want {
			t.Errorf("%v: %v", c.at, got)
		}
	}
}
