package prose

import (
	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
)

// GroupTable shows what became of each class, user or size of jobs.
type GroupTable struct {
	// By is the name of a measure.Grouping.
	By string
	Table
}

// Groups are the tables of all ways in which the jobs divide: none where they are all alike.
func Groups(e *record.Experiment) []GroupTable {
	var out []GroupTable
	for _, g := range measure.Groupings() {
		if rows := analysis.Groups(e, g.Name); len(rows) > 0 {
			out = append(out, GroupTable{g.Name, groupTable(e.Plan, g.Name, rows)})
		}
	}
	return out
}

func groupTable(p record.Plan, by string, rows []analysis.GroupRow) Table {
	t := Table{Header: []string{by, "policy"}, Metrics: map[int]string{}, Variant: 1}
	workloads, machines := len(p.Workloads) > 1, len(p.Hardware) > 1
	if workloads {
		t.Header = append(t.Header, "workload")
	}
	if machines {
		t.Header = append(t.Header, "hardware")
	}
	t.Left = len(t.Header)
	var shown []int
	for k, m := range analysis.GroupMetrics() {
		known := false
		for _, r := range rows {
			known = known || stats.Finite(r.Metrics[k].Interval.Mean)
		}
		if known {
			shown = append(shown, k)
			t.Metrics[len(t.Header)] = m.Name
			t.Header = append(t.Header, m.Label())
		}
	}
	for _, r := range rows {
		t.Variants = append(t.Variants, PolicyAxes{r.Policy, r.Axes})
		line := []string{GroupName(by, r.Group), r.Variant}
		if workloads {
			line = append(line, r.Workload)
		}
		if machines {
			line = append(line, r.Hardware)
		}
		for _, k := range shown {
			if r.Metrics[k].Metric == measure.Jobs.Name {
				line = append(line, Number(r.Metrics[k].Interval.Mean))
				continue
			}
			line = append(line, Interval(r.Metrics[k].Interval))
		}
		t.Rows = append(t.Rows, line)
	}
	return t
}
