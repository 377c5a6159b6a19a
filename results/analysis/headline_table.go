package analysis

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/table"
)

// mostFieldColumns is the number of settings up to which each has its own column.
const mostFieldColumns = 4

// mostOthers is the number of metrics in a headline in addition to the compared one, unless more are compared.
const mostOthers = 4

// table has the entries of a question, the best first and the baseline always. In one setting it shows the other
// metrics of summaries, too.
func (q *question) table(e *record.Experiment) (t table.Table, note string) {
	shown := q.entries
	if len(shown) > mostHeadlineRows {
		shown = slices.Clone(shown[:mostHeadlineRows])
		if base := q.base(); !slices.ContainsFunc(shown, func(o entry) bool { return o.base }) {
			shown[len(shown)-1] = *base
		}
		note = fmt.Sprintf("%s more: see %s.", schema.Plural(len(q.entries)-len(shown), "row"), record.Comparisons.File)
	}
	head, short := q.head()
	t = table.New(1, head)
	t.Kept = append(t.Kept, q.metric.Name)
	t.Kept = append(t.Kept, schema.Each(q.others, func(m measure.Metric) string { return m.Name })...)
	columns := q.columns(e.Plan, shown, &t)
	t.Columns = append(t.Columns, table.Column{Name: "against " + short(q.base().name), Kind: table.AsNumber},
		table.Column{Name: "verdict", Kind: table.AsNumber})
	var rest [][]string
	if len(q.fields) == 1 {
		rest = q.rest(e.Plan, shown, &t)
	}
	for i, o := range shown {
		line := append([]string{short(o.name)}, columns[i]...)
		change, said := "baseline", ""
		if times, of := o.verdicts(); !o.base && of > 0 {
			change, said = cmpChange(o.rows), verdictsOf(&o, q.alone())
			switch {
			case of == times[record.NotEnoughReplicates]:
				said = "too few replicates"
			case q.alone() && times[record.NoDifference] < of:
				said = q.onThis(e.Plan)
			}
		} else if !o.base {
			change, said = "–", "–"
		}
		line = append(line, change, strings.ReplaceAll(said, " settings", ""))
		if rest != nil {
			line = append(line, rest[i]...)
		}
		t.Add(line...)
	}
	return t, note
}

// head is the title of the column with the names, and how these are shortened under it.
func (q *question) head() (string, func(string) string) {
	axes := q.fields[0].axes
	if len(axes) != 1 {
		if axes == nil {
			return "policy", func(s string) string { return s }
		}
		return strings.Join(axes, ", "), func(s string) string { return s }
	}
	return axes[0], func(s string) string { return strings.TrimPrefix(s, axes[0]+"=") }
}

// cmpChange is the range of all known changes of comparisons, whether a difference was detected or not.
func cmpChange(rows []*record.ComparisonRow) string {
	var known []float64
	for _, r := range rows {
		if r != nil && stats.Finite(r.Ratio) {
			known = append(known, r.Ratio)
		}
	}
	if len(known) == 0 {
		return "–"
	}
	return changes(slices.Min(known), slices.Max(known))
}

// columns adds the columns of the compared metric, and returns their cells: one for each of a few settings, else
// the range over all of them.
func (q *question) columns(p record.Plan, shown []entry, t *table.Table) [][]string {
	var all []float64
	for _, o := range shown {
		all = append(all, schema.Each(o.mean, func(i stats.Interval) float64 { return i.Mean })...)
	}
	u := table.UnitFor(q.metric.Unit, all...)
	label := u.Label(q.metric.Title)
	out := make([][]string, len(shown))
	if len(q.fields) > mostFieldColumns {
		t.Columns = append(t.Columns, table.Column{Name: label, Kind: table.AsNumber, Metric: q.metric.Name})
		for k, o := range shown {
			var known []float64
			for _, i := range o.mean {
				if stats.Finite(i.Mean) {
					known = append(known, i.Mean/u.Per)
				}
			}
			text := "–"
			if len(known) > 0 {
				text = table.Between(slices.Min(known), slices.Max(known), "")
			}
			out[k] = []string{text}
		}
		return out
	}
	for i, f := range q.fields {
		title := label
		if len(q.fields) > 1 {
			title += strings.TrimSuffix(" "+q.where(p, f), " ")
		}
		t.Columns = append(t.Columns, table.Column{Name: title, Kind: table.AsNumber, Metric: q.metric.Name})
		for k, o := range shown {
			out[k] = append(out[k], u.Interval(o.mean[i]))
		}
	}
	return out
}

// where names a field: "at load=0.7".
func (q *question) where(p record.Plan, f Field) string {
	v := f.Variants[0]
	l := Leader{Setting: f.Setting}
	if !slices.Contains(f.axes, "workload") {
		l.Workload = v.Workload
	}
	if !slices.Contains(f.axes, "hardware") {
		l.Hardware = v.Hardware
	}
	if f.axes != nil && !slices.Contains(f.axes, "policy") {
		l.Policy = v.Policy
	}
	return strings.TrimSpace(settingOf(p, l))
}

// rest adds the columns of the other metrics in one setting, and returns their cells.
func (q *question) rest(p record.Plan, shown []entry, t *table.Table) [][]string {
	metrics := slices.Clone(q.others)
	for _, m := range SummaryMetrics(p) {
		if !slices.ContainsFunc(append(metrics, q.metric), func(o measure.Metric) bool { return o.Name == m.Name }) {
			metrics = append(metrics, m)
		}
	}
	out := make([][]string, len(shown))
	var counts []string // of cells, where some failed or are missing
	for _, o := range shown {
		if o.at[0] == nil {
			counts = append(counts, "–")
			continue
		}
		row := SummaryOf(p, []Variant{*o.at[0]})[0]
		counts = append(counts, cells(row))
		if row.Failed > 0 || row.Complete < row.Planned {
			out[0] = []string{}
		}
	}
	if out[0] != nil {
		t.Columns = append(t.Columns, table.Column{Name: "cells", Kind: table.AsNumber})
		for i := range out {
			out[i] = []string{counts[i]}
		}
	}
	metrics = metrics[:min(len(metrics), max(mostOthers, len(q.others)))]
	values := make([][]stats.Interval, len(shown))
	for i, o := range shown {
		for _, m := range metrics {
			v := stats.Interval{Mean: math.NaN()}
			if o.at[0] != nil {
				v = meanOf(m, o.at[0].Values(m))
			}
			values[i] = append(values[i], v)
		}
	}
	columns := addMetrics(t, metrics, len(shown), func(i, k int) float64 { return values[i][k].Mean })
	for i := range shown {
		for _, c := range columns {
			out[i] = append(out[i], c.unit.Interval(values[i][c.metric]))
		}
	}
	return out
}

// meanOf is the mean of values of a metric. Its interval is cut at the metric's largest possible value, and at 0 where
// no value is below.
func meanOf(m measure.Metric, values []float64) stats.Interval {
	i := stats.MeanInterval(values, DefaultLevel)
	if m.Most > 0 && !slices.ContainsFunc(values, func(v float64) bool { return v > m.Most }) {
		i.High = min(i.High, m.Most)
	}
	if i.Low < 0 && !slices.ContainsFunc(values, func(v float64) bool { return v < 0 }) {
		i.Low = 0
	}
	return i
}
