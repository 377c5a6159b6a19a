package analysis

import (
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
)

// SummaryRow is a variant's means over its replicates.
type SummaryRow struct {
	Workload string `json:"workload"`
	Hardware string `json:"hardware"`
	// Variant is the policy with its axes.
	Variant string           `json:"variant"`
	Policy  string           `json:"policy"`
	Axes    []record.Setting `json:"axes,omitempty"`
	// Planned, Complete and Failed count cells; a failed cell is complete.
	Planned  int             `json:"cells_planned"`
	Complete int             `json:"cells_complete"`
	Failed   int             `json:"cells_failed"`
	Metrics  []SummaryMetric `json:"metrics"`
}

// SummaryMetric is one metric of a variant with its 95% t interval.
type SummaryMetric struct {
	Metric   string         `json:"metric"`
	Interval stats.Interval `json:"value"`
}

// Summary has a row a variant with the metrics that summaries show.
func Summary(e *record.Experiment) []SummaryRow {
	var rows []SummaryRow
	for _, v := range Variants(e) {
		row := SummaryRow{
			Workload: v.Workload, Hardware: v.Hardware, Variant: v.Label, Policy: v.Policy, Axes: v.Axes,
			Planned: v.Planned, Complete: len(v.Cells),
		}
		for _, c := range v.Cells {
			if c.State == record.CellFailed {
				row.Failed++
			}
		}
		for _, m := range measure.ShownIn(measure.InSummary) {
			row.Metrics = append(row.Metrics, SummaryMetric{m.Name, stats.MeanInterval(v.Values(m), DefaultLevel)})
		}
		rows = append(rows, row)
	}
	return rows
}
