package results

import (
	"fmt"

	"github.com/tfexp/tfexp/results/stats"
)

// SummaryMetrics are the metrics that a summary shows.
var SummaryMetrics = []string{
	"mean_jct_s", "p95_jct_s", "mean_waiting_s", "makespan_s", "utilization", "mean_slowdown", "jain_fairness", "preemptions",
}

// SummaryRow is a variant's means over its replicates.
type SummaryRow struct {
	Workload string `json:"workload"`
	Hardware string `json:"hardware"`
	// Variant is the policy with its axes.
	Variant string    `json:"variant"`
	Policy  string    `json:"policy"`
	Axes    []Setting `json:"axes,omitempty"`
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

// Summary has a row a variant with the metrics of SummaryMetrics.
func (e *Experiment) Summary() []SummaryRow {
	var rows []SummaryRow
	for _, v := range e.Variants() {
		row := SummaryRow{
			Workload: v.Workload, Hardware: v.Hardware, Variant: v.Label, Policy: v.Policy, Axes: v.Axes,
			Planned: v.Planned, Complete: len(v.Cells),
		}
		for _, c := range v.Cells {
			if c.State == CellFailed {
				row.Failed++
			}
		}
		for _, name := range SummaryMetrics {
			m, _ := MetricByName(name)
			row.Metrics = append(row.Metrics, SummaryMetric{name, stats.MeanInterval(v.Values(m), DefaultLevel)})
		}
		rows = append(rows, row)
	}
	return rows
}

// Table is text in columns; the first Left of them read from the left, the
// others are numbers.
type Table struct {
	Left   int
	Header []string
	Rows   [][]string
}

// SummaryTable is Summary as text: workload and hardware appear when there is
// more than one, metrics that are known nowhere do not.
func (e *Experiment) SummaryTable() Table {
	rows := e.Summary()
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
	for k, name := range SummaryMetrics {
		known := false
		for _, r := range rows {
			known = known || finite(r.Metrics[k].Interval.Mean)
		}
		if !known {
			continue
		}
		m, _ := MetricByName(name)
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
		line = append(line, r.cells())
		for _, k := range shown {
			line = append(line, FormatInterval(r.Metrics[k].Interval))
		}
		t.Rows = append(t.Rows, line)
	}
	return t
}

// cells says how many cells stand behind a row: "5", "3 of 5", "5, 1 failed".
func (r SummaryRow) cells() string {
	s := fmt.Sprint(r.Complete)
	if r.Complete < r.Planned {
		s = fmt.Sprintf("%d of %d", r.Complete, r.Planned)
	}
	if r.Failed > 0 {
		s += fmt.Sprintf(", %d failed", r.Failed)
	}
	return s
}
