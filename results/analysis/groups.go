package analysis

import (
	"fmt"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
)

// GroupRow has the results of a group of jobs (a class, a user or a size) under a variant: means over its replicates.
type GroupRow struct {
	By       string           `json:"by"`
	Group    string           `json:"group"`
	Workload string           `json:"workload"`
	Hardware string           `json:"hardware"`
	Variant  string           `json:"variant"`
	Policy   string           `json:"policy"`
	Axes     []record.Setting `json:"axes,omitempty"`
	Metrics  []SummaryMetric  `json:"metrics"`
}

// GroupMetrics returns the metrics that tables of groups show.
func GroupMetrics() []measure.Metric {
	return []measure.Metric{measure.Jobs, measure.MeanJCT, measure.P95JCT, measure.MeanWaiting, measure.P95Waiting,
		measure.MeanService, measure.MeanBoundedSlowdown}
}

// Groups returns a row for each group of jobs under each variant, group by group. By is the name of the grouping.
func Groups(e *record.Experiment, by string) []GroupRow {
	variants := Variants(e)
	var rows []GroupRow
	for _, name := range GroupNames(variants, by) {
		for _, v := range variants {
			row := GroupRow{By: by, Group: name, Workload: v.Workload, Hardware: v.Hardware, Variant: v.Label,
				Policy: v.Policy, Axes: v.Axes}
			known := false
			for _, m := range GroupMetrics() {
				i := MeanOf(m, v.GroupValues(m, by, name))
				known = known || i.N > 0
				row.Metrics = append(row.Metrics, SummaryMetric{m.Name, i})
			}
			if known {
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// groupTable shows the results of each class, user or size of jobs.
func groupTable(p record.Plan, by string, rows []GroupRow) table.Table {
	t := placesTable(p, by, "policy")
	t.Variant = 1
	shown := addMetrics(&t, GroupMetrics(), len(rows), func(i, k int) float64 { return rows[i].Metrics[k].Interval.Mean })
	for _, r := range rows {
		t.Variants = append(t.Variants, table.Variant{Policy: r.Policy, Axes: r.Axes})
		line := append([]string{GroupName(by, r.Group), r.Variant}, placeCells(p, r.Workload, r.Hardware)...)
		for _, c := range shown {
			i := r.Metrics[c.metric].Interval
			text := c.unit.Interval(i)
			if r.Metrics[c.metric].Metric == measure.Jobs.Name {
				text = table.Number(i.Mean)
			}
			line = append(line, text)
		}
		t.Add(line...)
	}
	return t
}

// mostGroupRows bounds the rows of groups in the report.
const mostGroupRows = 200

func init() {
	for i, g := range measure.Groupings() {
		Register(Part{
			Name: "by-" + g.Name, Title: "By " + g.Name, InReport: Verdicts + 30 + i,
			Tell: func(e *record.Experiment) (s table.Section, err error) {
				rows := Groups(e, g.Name)
				if len(rows) == 0 {
					return s, nil
				}
				t := groupTable(e.Plan, g.Name, rows)
				one := table.Item{Table: t, Folded: true}
				if n := len(t.Rows); n > mostGroupRows {
					one.Table.Rows = t.Rows[:mostGroupRows]
					s.Report = []table.Item{{Plain: true, Sentences: []string{
						fmt.Sprintf("The first %d of %d rows.", mostGroupRows, n)}}}
				}
				s.Report = append(s.Report, one)
				return s, nil
			},
		})
	}
}
