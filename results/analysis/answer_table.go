package analysis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/table"
)

// The most rows and columns of an answer's table.
const (
	mostHeadlineRows = 8
	mostFieldColumns = 4 // settings up to which each has its own column
	mostOthers       = 3 // metrics in addition to the compared ones
)

// Shown returns the entries in the answer's table and picture, the best first. It returns at most `most` of them,
// always with the baseline.
func (q *Question) Shown(most int) []Entry {
	return first(q.Entries, most, func(o Entry) bool { return o.Base })
}

// table returns a table of the entries of a question, the best first. With a single setting it has columns of other
// metrics.
func (q *Question) table(e *record.Experiment) (t table.Table, note string) {
	shown := q.Shown(mostHeadlineRows)
	if n := len(q.Entries) - len(shown); n > 0 {
		note = fmt.Sprintf("%s: see %s.", schema.Plural(n, "more row"), record.Comparisons.File)
	}
	head, prefix := "policy", ""
	if axes := q.Fields[0].axes; axes != nil {
		if head = strings.Join(axes, ", "); len(axes) == 1 {
			prefix = axes[0] + "="
		}
	}
	t = table.New(1, head)
	t.Kept = append(schema.Each(q.Others, func(m measure.Metric) string { return m.Name }), q.Metric.Name)
	columns := q.means(e.Plan, shown, &t)
	t.Columns = append(t.Columns, table.Column{Name: "against " + strings.TrimPrefix(q.Base().Name, prefix),
		Kind: table.AsNumber}, table.Column{Name: "verdict", Kind: table.AsNumber})
	rest := make([][]string, len(shown))
	if len(q.Fields) == 1 {
		q.rest1(e.Plan, shown, &t, rest)
	}
	for i, o := range shown {
		change, verdict := "baseline", ""
		if !o.Base {
			change, verdict = o.verdict(nil)
		}
		if missed, fields := o.misses(q.Metric); len(missed) > 0 && q.late(&q.Entries[0]) < len(q.Fields) {
			misses := "misses " + required(missed)
			switch _, others := o.verdict(fields); {
			case len(fields) == len(q.Fields):
				verdict = misses
			case o.Base || others == "–":
				verdict = fmt.Sprintf("%s in %d of %d", misses, len(fields), len(q.Fields))
			default:
				verdict = fmt.Sprintf("%s, %s in %d", others, misses, len(fields))
			}
		}
		t.Add(slices.Concat([]string{strings.TrimPrefix(o.Name, prefix)}, columns[i], []string{change, verdict},
			rest[i])...)
	}
	if slices.ContainsFunc(t.Rows, func(r []string) bool { return slices.ContainsFunc(r, table.IsOpen) }) {
		note += " ± ?: too few runs for an interval."
	}
	if len(q.Fields) == 1 && slices.ContainsFunc(shown, func(o Entry) bool {
		return o.At[0] != nil && shown[0].At[0] != nil && len(o.At[0].Cells) != len(shown[0].At[0].Cells) ||
			o.Rows[0] != nil && o.Rows[0].Dropped > 0
	}) {
		note += " A mean is over all cells of its row; a change is over the replicates of both sides in which the " +
			"same jobs finished."
	}
	if slices.ContainsFunc(e.Plan.Compares, func(c record.Compare) bool { return c.Looks != nil }) {
		note += " Changes and verdicts account for all looks at the results; the interval of a single mean is for one look."
	}
	return t, strings.TrimSpace(note)
}

// verdict returns the range of an entry's changes over all fields, and the number of fields in which it is better or
// worse, without the fields in which it misses requirements.
func (o *Entry) verdict(missed []int) (change, verdict string) {
	var known []Change
	times, of := map[string]int{}, 0
	for k, r := range o.Rows {
		if r == nil {
			continue
		}
		c := o.Change(k)
		of++
		if !slices.Contains(missed, k) {
			times[c.Word()]++
		}
		if stats.Finite(c.Ratio) {
			known = append(known, c)
		}
	}
	switch {
	case len(known) == 0:
		change = "–"
	case of == 1:
		change = known[0].Signed()
	default:
		change = signedSpan(known)
	}
	if none := times["no difference known"]; none > 0 && times["better"]+times["worse"] > 0 {
		times["no difference known"], times["the same"] = none+times["the same"], 0
	}
	var parts []string
	for _, word := range []string{"better", "worse", "the same", "no difference known", "too few runs"} {
		switch n := times[word]; {
		case n == of && of > 0:
			return change, word
		case n > 0 && len(parts) == 0:
			parts = append(parts, fmt.Sprintf("%s in %d of %d", word, n, of))
		case n > 0:
			parts = append(parts, fmt.Sprintf("%s in %d", word, n))
		}
	}
	if len(parts) == 0 {
		return change, "–"
	}
	return change, strings.Join(parts, ", ")
}

// means adds the columns of the compared metric, and returns their cells: one for each of a few settings, else the
// range over all of them.
func (q *Question) means(p record.Plan, shown []Entry, t *table.Table) [][]string {
	var all []float64
	for _, o := range shown {
		all = append(all, schema.Each(o.Means, func(i stats.Interval) float64 { return i.Mean })...)
	}
	u := table.UnitFor(q.Metric.Unit, all...)
	add := func(title string) {
		t.Columns = append(t.Columns, table.Column{Name: title, Kind: table.AsNumber, Metric: q.Metric.Name})
	}
	out := make([][]string, len(shown))
	if len(q.Fields) > mostFieldColumns {
		add(u.Label(q.Metric.Title))
		for k, o := range shown {
			known := schema.Where(schema.Each(o.Means, func(i stats.Interval) float64 { return i.Mean / u.Per }),
				stats.Finite)
			text := "–"
			if len(known) > 0 {
				text = table.Between(slices.Min(known), slices.Max(known), "")
			}
			out[k] = []string{text}
		}
		return out
	}
	for i, title := range q.FieldTitles(p, u.Label(q.Metric.Title)) {
		add(title)
		for k, o := range shown {
			out[k] = append(out[k], u.Interval(o.Means[i]))
		}
	}
	return out
}

// rest1 adds columns for a question with a single setting: the other metrics, and the number of cells if some failed or
// are missing, or if entries differ in it.
func (q *Question) rest1(p record.Plan, shown []Entry, t *table.Table, rest [][]string) {
	at := schema.Each(shown, func(o Entry) Variant {
		if o.At[0] == nil {
			return Variant{}
		}
		return *o.At[0]
	})
	rows := SummaryOf(p, at)
	if slices.ContainsFunc(rows, func(r SummaryRow) bool {
		return r.Failed > 0 || r.Complete < r.Planned || r.Complete != rows[0].Complete
	}) {
		t.Columns = append(t.Columns, table.Column{Name: "cells", Kind: table.AsNumber})
		for i, r := range rows {
			rest[i] = append(rest[i], cells(r))
		}
	}
	metrics := slices.Clone(q.Others)
	for _, v := range at {
		for _, l := range v.missed {
			if m, ok := measure.MetricByName(l.metric); ok && !slices.ContainsFunc(append(metrics, q.Metric), m.Is) {
				metrics = append(metrics, m)
			}
		}
	}
	most := max(mostOthers, len(metrics))
	for _, m := range SummaryMetrics(p) {
		if !slices.ContainsFunc(append(metrics, q.Metric), m.Is) {
			metrics = append(metrics, m)
		}
	}
	metrics = metrics[:min(len(metrics), most)]
	value := func(i, k int) stats.Interval { return at[i].mean(metrics[k]) }
	for _, c := range addMetrics(t, metrics, len(shown), func(i, k int) float64 { return value(i, k).Mean }) {
		for i := range shown {
			rest[i] = append(rest[i], c.unit.Interval(value(i, c.metric)))
		}
	}
}
