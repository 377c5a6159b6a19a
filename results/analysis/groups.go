package analysis

import (
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
)

// GroupRow is what became of a class, a user or a size of jobs under a variant: means over its replicates.
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

// GroupMetrics are those that tables of groups show.
func GroupMetrics() []measure.Metric {
	return []measure.Metric{measure.Jobs, measure.MeanJCT, measure.P95JCT, measure.MeanWaiting, measure.MeanService,
		measure.MeanBoundedSlowdown}
}

// Groups has a row for each group of a way to divide jobs, of each variant: the variants of a group stand together.
func Groups(e *record.Experiment, by string) []GroupRow {
	variants := Variants(e)
	var rows []GroupRow
	for _, name := range GroupNames(variants, by) {
		for _, v := range variants {
			row := GroupRow{By: by, Group: name, Workload: v.Workload, Hardware: v.Hardware, Variant: v.Label,
				Policy: v.Policy, Axes: v.Axes}
			known := false
			for _, m := range GroupMetrics() {
				i := stats.MeanInterval(v.GroupValues(m, by, name), DefaultLevel)
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
