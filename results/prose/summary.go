package prose

import (
	"fmt"
	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
)

// Table is text in columns; the first Left of them read from the left, the
// others are numbers.
type Table struct {
	Left   int
	Header []string
	Rows   [][]string
}

// SummaryTable is Summary as text: workload and hardware appear when there is
// more than one, metrics that are known nowhere do not.
func Summary(e *record.Experiment) Table {
	rows := analysis.Summary(e)
	t := Table{Left: 1, Header: []string{"policy"}}
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
	for k, name := range analysis.SummaryMetrics {
		known := false
		for _, r := range rows {
			known = known || stats.Finite(r.Metrics[k].Interval.Mean)
		}
		if !known {
			continue
		}
		m, _ := measure.MetricByName(name)
		title := m.Title
		if m.Unit != "" {
			title += " (" + m.Unit + ")"
		}
		shown = append(shown, k)
		t.Header = append(t.Header, title)
	}
	for _, r := range rows {
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
