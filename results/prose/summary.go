package prose

import (
	"fmt"
	"slices"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
)

// Table is text in columns; the first Left of them read from the left, the
// others are numbers.
type Table struct {
	Left   int
	Header []string
	Rows   [][]string
	// Metrics has the metrics of the columns that show one, by their places.
	Metrics map[int]string
	// Kept are the metrics that the table is about: those that the experiment compares.
	Kept []string
	// Variants has, for each row, what its cell in the column Variant joins; nil where no column shows variants.
	Variants []PolicyAxes
	Variant  int
}

// PolicyAxes is a variant: a policy, and the values of the axes.
type PolicyAxes struct {
	Policy string
	Axes   []record.Setting
}

// Apart returns the table with a column for the policy and for each axis in place of that of the variants.
func (t Table) Apart() Table {
	var axes []string
	for _, v := range t.Variants {
		for _, s := range v.Axes {
			if !slices.Contains(axes, s.Name) {
				axes = append(axes, s.Name)
			}
		}
	}
	out := t
	out.Left += len(axes)
	out.Header = slices.Insert(slices.Clone(t.Header), min(t.Variant+1, len(t.Header)), axes...)
	out.Metrics = map[int]string{}
	for i, m := range t.Metrics {
		out.Metrics[i+len(axes)] = m
	}
	out.Rows, out.Variants = nil, nil
	for i, v := range t.Variants {
		values := make([]string, len(axes))
		for _, s := range v.Axes {
			values[slices.Index(axes, s.Name)] = s.Value
		}
		row := slices.Insert(slices.Clone(t.Rows[i]), t.Variant+1, values...)
		row[t.Variant] = v.Policy
		out.Rows = append(out.Rows, row)
	}
	return out
}

// Without returns the table without the column of a metric.
func (t Table) Without(metric string) Table {
	at := -1
	for i, m := range t.Metrics {
		if m == metric {
			at = i
		}
	}
	if at < 0 {
		return t
	}
	out := t
	out.Metrics, out.Rows = map[int]string{}, nil
	for i, m := range t.Metrics {
		switch {
		case i < at:
			out.Metrics[i] = m
		case i > at:
			out.Metrics[i-1] = m
		}
	}
	out.Header = slices.Delete(slices.Clone(t.Header), at, at+1)
	for _, row := range t.Rows {
		out.Rows = append(out.Rows, slices.Delete(slices.Clone(row), at, at+1))
	}
	return out
}

// Summary is analysis.Summary as text: workload and hardware appear when there is
// more than one, metrics that are known nowhere do not.
func Summary(e *record.Experiment) Table { return summary(e, analysis.Summary(e)) }

// Best is the summary of so many variants at most: where there are more, of the best, the best first. It returns a
// sentence that says how they are chosen; "" when all are there.
func Best(e *record.Experiment, most int) (t Table, chosen string) {
	variants := analysis.Variants(e)
	best, each, m := analysis.BestOfEach(e.Plan, variants, most)
	if more := len(variants) - len(best); more > 0 {
		of := ""
		if each > 0 {
			of = fmt.Sprintf(" %d of each setting", each)
		}
		chosen = fmt.Sprintf("These are the best%s by %s; %s more: see %s", of, m.Title, plural(more, "variant"),
			record.MetricsFile)
	}
	return summary(e, analysis.SummaryOf(e.Plan, best)), chosen
}

func summary(e *record.Experiment, rows []analysis.SummaryRow) Table {
	t := Table{Left: 1, Header: []string{"policy"}, Metrics: map[int]string{}}
	for _, m := range analysis.Compared(e.Plan) {
		t.Kept = append(t.Kept, m.Name)
	}
	workloads, machines := len(e.Plan.Workloads) > 1, len(e.Plan.Hardware) > 1
	if workloads {
		t.Header = append(t.Header, "workload")
	}
	if machines {
		t.Header = append(t.Header, "hardware")
	}
	t.Left = len(t.Header)
	t.Header = append(t.Header, "cells")
	var shown []int
	for k, m := range analysis.SummaryMetrics(e.Plan) {
		known := false
		for _, r := range rows {
			known = known || stats.Finite(r.Metrics[k].Interval.Mean)
		}
		if !known {
			continue
		}
		shown = append(shown, k)
		t.Metrics[len(t.Header)] = m.Name
		t.Header = append(t.Header, m.Label())
	}
	for _, r := range rows {
		t.Variants = append(t.Variants, PolicyAxes{r.Policy, r.Axes})
		line := []string{r.Variant}
		if workloads {
			line = append(line, r.Workload)
		}
		if machines {
			line = append(line, r.Hardware)
		}
		line = append(line, cells(r))
		for _, k := range shown {
			line = append(line, Interval(r.Metrics[k].Interval))
		}
		t.Rows = append(t.Rows, line)
	}
	return t
}

// cells says how many cells stand behind a row: "5", "3 of 5", "5, 1 failed".
func cells(r analysis.SummaryRow) string {
	s := fmt.Sprint(r.Complete)
	if r.Complete < r.Planned {
		s = fmt.Sprintf("%d of %d", r.Complete, r.Planned)
	}
	if r.Failed > 0 {
		s += fmt.Sprintf(", %d failed", r.Failed)
	}
	return s
}
