package analysis

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/table"
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

// SummaryMetrics returns the metrics that summaries show: the compared ones, and some for every experiment.
func SummaryMetrics(p record.Plan) []measure.Metric {
	list := Compared(p)
	for _, m := range measure.ShownIn(measure.InSummary) {
		if !slices.ContainsFunc(list, func(o measure.Metric) bool { return o.Name == m.Name }) {
			list = append(list, m)
		}
	}
	return list
}

// Compared are the metrics that an experiment compares.
func Compared(p record.Plan) (list []measure.Metric) {
	for _, c := range p.Compares {
		m, ok := measure.MetricByName(c.Metric)
		if ok && !slices.ContainsFunc(list, func(o measure.Metric) bool { return o.Name == m.Name }) {
			list = append(list, m)
		}
	}
	return list
}

// Summary has one row for each variant with the metrics that summaries show.
func Summary(e *record.Experiment) []SummaryRow { return SummaryOf(e.Plan, Variants(e)) }

// SummaryOf is the same of some variants.
func SummaryOf(p record.Plan, variants []Variant) []SummaryRow {
	metrics := SummaryMetrics(p)
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
		for _, m := range metrics {
			row.Metrics = append(row.Metrics, SummaryMetric{m.Name, meanOf(m, v.Values(m))})
		}
		rows = append(rows, row)
	}
	return rows
}

// Best returns at most most variants: all in their order, or the best ones, the best first, with always one of the
// baseline. They are ranked by the first metric that the experiment compares, which it returns too.
func Best(p record.Plan, variants []Variant, most int) ([]Variant, measure.Metric) {
	by := ranking(p)
	if len(variants) <= most {
		return variants, by
	}
	means := make([]float64, len(variants))
	for i, v := range variants {
		means[i] = stats.MeanInterval(v.Values(by), DefaultLevel).Mean
	}
	return first(keepersFirst(ranked(means, by), variants), most, variants, func(v Variant) bool { return baseline(p, v.Policy) }), by
}

// BestOfEach is Best of each field (see Fields), a field after the other, if there is room for two of each; else it
// is Best. It returns the number from each field; 0 where all variants fit, or fields make no difference.
func BestOfEach(p record.Plan, variants []Variant, most int) (best []Variant, each int, by measure.Metric) {
	var compared []string
	for _, c := range p.Compares {
		compared = append(compared, schema.Each(c.At, func(s record.Setting) string { return s.Name })...)
	}
	fields := Fields(variants, compared)
	each = most / max(1, len(fields))
	if len(variants) <= most || len(fields) < 2 || each < 2 {
		best, by = Best(p, variants, most)
		return best, 0, by
	}
	for _, f := range fields {
		some, m := Best(p, f.Variants, each)
		best, by = append(best, some...), m
	}
	return best, each, by
}

// BestPolicies returns at most most policies of the variants, like Best. Each is ranked by its mean over its
// variants.
func BestPolicies(p record.Plan, variants []Variant, most int) (best []string, of int, by measure.Metric) {
	by = ranking(p)
	var names []string
	values := map[string][]float64{}
	for _, v := range variants {
		if values[v.Policy] == nil {
			names = append(names, v.Policy)
		}
		values[v.Policy] = append(values[v.Policy], stats.MeanInterval(v.Values(by), DefaultLevel).Mean)
	}
	if len(names) <= most {
		return names, len(names), by
	}
	means := make([]float64, len(names))
	for i, name := range names {
		means[i] = stats.MeanInterval(values[name], DefaultLevel).Mean
	}
	best = first(ranked(means, by), most, names, func(name string) bool { return baseline(p, name) })
	return best, len(names), by
}

// baseline reports whether a policy is a baseline of a comparison.
func baseline(p record.Plan, policy string) bool {
	return slices.ContainsFunc(p.Compares, func(c record.Compare) bool { return c.Baseline == policy })
}

// first returns the first elements of a list in an order. The last of them is one to keep if none before is.
func first[T any](order []int, most int, list []T, keep func(T) bool) (some []T) {
	some = append(some, schema.Each(order[:most], func(i int) T { return list[i] })...)
	if !slices.ContainsFunc(some, keep) {
		for _, i := range order[most:] {
			if keep(list[i]) {
				some[most-1] = list[i]
				break
			}
		}
	}
	return some
}

// ranking is the metric by which the best of an experiment are chosen.
func ranking(p record.Plan) measure.Metric {
	if len(p.Compares) > 0 {
		if m, ok := measure.MetricByName(p.Compares[0].Metric); ok {
			return m
		}
	}
	return measure.MeanJCT
}

// ranked are the indices of means, the best first; unknown means (NaN) come last.
func ranked(means []float64, by measure.Metric) []int {
	list := make([]int, len(means))
	for i := range list {
		list[i] = i
	}
	slices.SortStableFunc(list, func(a, b int) int {
		x, y := means[a], means[b]
		if math.IsNaN(x) || math.IsNaN(y) || by.HigherBetter {
			return cmp.Compare(y, x) // NaN is below all numbers
		}
		return cmp.Compare(x, y)
	})
	return list
}

// SummaryTable is Summary as text: workload and hardware appear when there is
// more than one, metrics that are known nowhere do not.
func SummaryTable(e *record.Experiment) table.Table { return summary(e, Summary(e)) }

// BestTable is the summary of at most most variants: of a longer list the best ones, the best first. It returns a
// sentence on the choice; "" when all are in the table.
func BestTable(e *record.Experiment, most int) (t table.Table, chosen string) {
	variants := Variants(e)
	best, each, m := BestOfEach(e.Plan, variants, most)
	if more := len(variants) - len(best); more > 0 {
		of := ""
		if each > 0 {
			of = fmt.Sprintf(" %d of each setting", each)
		}
		chosen = fmt.Sprintf("These are the best%s by %s; %s more: see %s", of, m.Title, schema.Plural(more, "variant"),
			record.Metrics.File)
	}
	return summary(e, SummaryOf(e.Plan, best)), chosen
}

func summary(e *record.Experiment, rows []SummaryRow) table.Table {
	t := placesTable(e.Plan, "policy")
	t.Columns = append(t.Columns, table.Column{Name: "cells", Kind: table.AsNumber})
	t.Kept = append(t.Kept, schema.Each(Compared(e.Plan), func(m measure.Metric) string { return m.Name })...)
	shown := addMetrics(&t, SummaryMetrics(e.Plan), len(rows), func(i, k int) float64 {
		return rows[i].Metrics[k].Interval.Mean
	})
	for _, r := range rows {
		t.Variants = append(t.Variants, table.Variant{Policy: r.Policy, Axes: r.Axes})
		line := append([]string{r.Variant}, placeCells(e.Plan, r.Workload, r.Hardware)...)
		line = append(line, cells(r))
		for _, c := range shown {
			line = append(line, c.unit.Interval(r.Metrics[c.metric].Interval))
		}
		t.Add(line...)
	}
	return t
}

// placesTable is a table with columns of text, and then the workload and the hardware, if there are several.
func placesTable(p record.Plan, titles ...string) table.Table {
	if len(p.Workloads) > 1 {
		titles = append(titles, "workload")
	}
	if len(p.Hardware) > 1 {
		titles = append(titles, "hardware")
	}
	return table.New(len(titles), titles...)
}

// placeCells are the fields of these columns.
func placeCells(p record.Plan, workload, hardware string) (fields []string) {
	if len(p.Workloads) > 1 {
		fields = append(fields, workload)
	}
	if len(p.Hardware) > 1 {
		fields = append(fields, hardware)
	}
	return fields
}

// shownMetric is the place of a metric that has a column, and the unit of that.
type shownMetric struct {
	metric int
	unit   table.Unit
}

// addMetrics adds columns for the metrics that are known in some row.
func addMetrics(
	t *table.Table, metrics []measure.Metric, rows int, value func(row, metric int) float64,
) (shown []shownMetric) {
	for k, m := range metrics {
		var known []float64
		for i := range rows {
			if v := value(i, k); stats.Finite(v) {
				known = append(known, v)
			}
		}
		if len(known) > 0 {
			u := table.UnitFor(m.Unit, known...)
			shown = append(shown, shownMetric{k, u})
			t.Columns = append(t.Columns, table.Column{Name: u.Label(m.Title), Kind: table.AsNumber, Metric: m.Name})
		}
	}
	return shown
}

// cells counts the cells of a row: "5", "3 of 5", "5, 1 failed".
func cells(r SummaryRow) string {
	s := fmt.Sprint(r.Complete)
	if r.Complete < r.Planned {
		s = fmt.Sprintf("%d of %d", r.Complete, r.Planned)
	}
	if r.Failed > 0 {
		s += fmt.Sprintf(", %d failed", r.Failed)
	}
	return s
}
