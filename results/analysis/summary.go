package analysis

import (
	"cmp"
	"math"
	"slices"

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
func Summary(e *record.Experiment) []SummaryRow { return SummaryOf(Variants(e)) }

// SummaryOf is the same of some variants.
func SummaryOf(variants []Variant) []SummaryRow {
	var rows []SummaryRow
	for _, v := range variants {
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

// Best returns so many variants at most: all of them in their order, or where there are more the best, the best first. They
// are ranked by the first metric that the experiment compares, which it returns too.
func Best(p record.Plan, variants []Variant, most int) ([]Variant, measure.Metric) {
	by := measure.MeanJCT
	if len(p.Compares) > 0 {
		if m, ok := measure.MetricByName(p.Compares[0].Metric); ok {
			by = m
		}
	}
	if len(variants) <= most {
		return variants, by
	}
	type ranked struct {
		Variant
		mean float64
	}
	list := make([]ranked, len(variants))
	for i, v := range variants {
		list[i] = ranked{v, stats.MeanInterval(v.Values(by), DefaultLevel).Mean}
	}
	slices.SortStableFunc(list, func(a, b ranked) int {
		if math.IsNaN(a.mean) || math.IsNaN(b.mean) || by.HigherBetter {
			return cmp.Compare(b.mean, a.mean) // NaN is below all numbers: what is unknown comes last
		}
		return cmp.Compare(a.mean, b.mean)
	})
	best := make([]Variant, most)
	for i := range best {
		best[i] = list[i].Variant
	}
	return best, by
}
