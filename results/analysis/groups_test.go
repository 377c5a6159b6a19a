package analysis_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
)

// TestGroups: there is a row for each class and variant, sorted by class. A variant without jobs of a class has no row
// for it.
func TestGroups(t *testing.T) {
	e := &record.Experiment{}
	variant(e, "w", "fcfs", nil, 4, 6)
	variant(e, "w", "rr", nil, 2, 3)
	for i := range e.Cells {
		group := func(by, name string, jct float64) measure.Group {
			return measure.Group{By: by, Name: name, Metrics: analysis.MetricsOf(map[string]float64{"mean_jct_s": jct})}
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

// A variant matches any value of an axis that it does not read.
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
