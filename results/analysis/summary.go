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

// SummaryOf is Summary of the given variants.
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
			row.Metrics = append(row.Metrics, SummaryMetric{m.Name, v.mean(m)})
		}
		rows = append(rows, row)
	}
	return rows
}

// Best returns at most `most` variants, the best first by the metric that the experiment compares first, always with
// one of the baseline. If there are not more than that, it returns all in their order.
func Best(p record.Plan, variants []Variant, most int) []Variant {
	if len(variants) <= most {
		return variants
	}
	by := ranking(p)
	sorted := slices.Clone(variants)
	slices.SortStableFunc(sorted, func(a, b Variant) int {
		return cmp.Or(cmp.Compare(len(a.misses(by)), len(b.misses(by))), better(meanOf(a, by), meanOf(b, by), by))
	})
	return first(sorted, most, func(v Variant) bool { return baseline(p, v.Policy) })
}

// BestOfEach returns the best variants of each field (see Fields), if at least two of each have room, else Best. Chosen
// is a sentence about the choice; "" if all variants are returned.
func BestOfEach(p record.Plan, variants []Variant, most int) (best []Variant, chosen string) {
	if len(variants) <= most {
		return variants, ""
	}
	var compared []string
	for _, c := range p.Compares {
		compared = append(compared, schema.Each(c.At, func(s record.Setting) string { return s.Name })...)
	}
	fields, of := Fields(variants, compared), ""
	if each := most / max(1, len(fields)); len(fields) < 2 || each < 2 {
		best = Best(p, variants, most)
	} else {
		of = fmt.Sprintf(", %d of each setting", each)
		for _, f := range fields {
			best = append(best, Best(p, f.Variants, each)...)
		}
	}
	return best, fmt.Sprintf(" The best %d of %d policy variants by %s%s, the best first.", len(best), len(variants),
		ranking(p).Title, of)
}

// BestPolicies returns the best policies of the variants, like Best, with a sentence on the choice. Each is ranked by
// its mean over its variants. most is the greatest number of policies.
func BestPolicies(p record.Plan, variants []Variant, most int) (best []string, chosen string) {
	by := ranking(p)
	var names []string
	sums := map[string]*stats.Mean{}
	for _, v := range variants {
		if sums[v.Policy] == nil {
			names, sums[v.Policy] = append(names, v.Policy), new(stats.Mean)
		}
		sums[v.Policy].Add(meanOf(v, by))
	}
	if len(names) <= most {
		return names, ""
	}
	of := len(names)
	slices.SortStableFunc(names, func(a, b string) int { return better(sums[a].Value(), sums[b].Value(), by) })
	best = first(names, most, func(name string) bool { return baseline(p, name) })
	return best, fmt.Sprintf(" The best %d of %d policies by %s.", len(best), of, by.Title)
}

// first returns the first elements of a list, at most `most`. If none of them is to be kept, the last is replaced by
// the first later element that is.
func first[T any](list []T, most int, keep func(T) bool) []T {
	if len(list) <= most {
		return list
	}
	some := slices.Clone(list[:most])
	if !slices.ContainsFunc(some, keep) {
		if i := slices.IndexFunc(list[most:], keep); i >= 0 {
			some[most-1] = list[most+i]
		}
	}
	return some
}

// MeanOf returns the mean of values of a metric with its interval. The interval is NaN if there are too few runs: it
// would have values that the metric cannot have, or be wider than a factor of ten.
func MeanOf(m measure.Metric, values []float64) stats.Interval {
	i := stats.MeanInterval(values, DefaultLevel)
	if i.Low == i.High || slices.ContainsFunc(values, func(v float64) bool { return v < 0 }) {
		return i
	}
	if stats.Finite(i.Low) && !informative(i.Low, i.High, 1, relaxed(m, values...)) {
		i.Low, i.High = math.NaN(), math.NaN()
	}
	return i
}

// mean returns the mean of a metric with its interval. If nothing is drawn at random, all runs are alike and only the
// first counts.
func (v *Variant) mean(m measure.Metric) stats.Interval {
	values := v.Values(m)
	if len(values) > 0 && v.fixed() {
		values = values[:1]
	}
	return MeanOf(m, values)
}

// baseline reports whether a policy is a baseline of a comparison.
func baseline(p record.Plan, policy string) bool {
	return slices.ContainsFunc(p.Compares, func(c record.Compare) bool { return c.Baseline == policy })
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

// SummaryTable is Summary as text: workload and hardware appear when there is
// more than one, metrics that are known nowhere do not.
func SummaryTable(e *record.Experiment) table.Table { return summary(e, Summary(e)) }

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
