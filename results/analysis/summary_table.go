package analysis

import (
	"fmt"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/tell"
)

// SummaryTable is Summary as text: workload and hardware appear when there is
// more than one, metrics that are known nowhere do not.
func SummaryTable(e *record.Experiment) tell.Table { return summary(e, Summary(e)) }

// BestTable is the summary of so many variants at most: where there are more, of the best, the best first. It returns a
// sentence that says how they are chosen; "" when all are there.
func BestTable(e *record.Experiment, most int) (t tell.Table, chosen string) {
	variants := Variants(e)
	best, each, m := BestOfEach(e.Plan, variants, most)
	if more := len(variants) - len(best); more > 0 {
		of := ""
		if each > 0 {
			of = fmt.Sprintf(" %d of each setting", each)
		}
		chosen = fmt.Sprintf("These are the best%s by %s; %s more: see %s", of, m.Title, tell.Plural(more, "variant"),
			record.Metrics.File)
	}
	return summary(e, SummaryOf(e.Plan, best)), chosen
}

func summary(e *record.Experiment, rows []SummaryRow) tell.Table {
	t := placesTable(e.Plan, "policy")
	t.Columns = append(t.Columns, tell.Column{Name: "cells", Kind: tell.AsNumber})
	for _, m := range Compared(e.Plan) {
		t.Kept = append(t.Kept, m.Name)
	}
	shown := addMetrics(&t, SummaryMetrics(e.Plan), len(rows), func(i, k int) float64 { return rows[i].Metrics[k].Interval.Mean })
	for _, r := range rows {
		t.Variants = append(t.Variants, tell.Variant{Policy: r.Policy, Axes: r.Axes})
		line := append([]string{r.Variant}, placeCells(e.Plan, r.Workload, r.Hardware)...)
		line = append(line, cells(r))
		for _, k := range shown {
			line = append(line, tell.Interval(r.Metrics[k].Interval))
		}
		t.Add(line...)
	}
	return t
}

// placesTable is a table with columns of text, and behind them the workload and the hardware where there are several.
func placesTable(p record.Plan, titles ...string) tell.Table {
	if len(p.Workloads) > 1 {
		titles = append(titles, "workload")
	}
	if len(p.Hardware) > 1 {
		titles = append(titles, "hardware")
	}
	return tell.NewTable(len(titles), titles...)
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

// addMetrics adds columns for those of the metrics that are known in some row, and returns their places.
func addMetrics(t *tell.Table, metrics []measure.Metric, rows int, value func(row, metric int) float64) (shown []int) {
	for k, m := range metrics {
		for i := range rows {
			if stats.Finite(value(i, k)) {
				shown = append(shown, k)
				t.Columns = append(t.Columns, tell.Column{Name: m.Label(), Kind: tell.AsNumber, Metric: m.Name})
				break
			}
		}
	}
	return shown
}

// cells says how many cells stand behind a row: "5", "3 of 5", "5, 1 failed".
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
