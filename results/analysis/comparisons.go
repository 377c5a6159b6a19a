package analysis

import (
	"fmt"
	"slices"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/tell"
)

// ComparisonTable is the table of comparisons as text: workload and hardware appear when there is more than one, and the
// jobs that are compared when a comparison is of a class, user or size.
func ComparisonTable(p record.Plan, rows []record.ComparisonRow) tell.Table {
	places := len(p.Workloads) > 1 || len(p.Hardware) > 1
	groups := slices.ContainsFunc(rows, func(r record.ComparisonRow) bool { return r.By != "" })
	text := []string{"metric", "candidate", "against", "verdict"}
	if groups {
		text = slices.Insert(text, 1, "jobs")
	}
	if places {
		text = append(text, "workload", "hardware")
	}
	t := tell.NewTable(len(text), append(text, "ratio", "interval", "p", "pairs",
		"mean of candidate", "mean of baseline", "difference", "interval", "method")...)
	for _, r := range rows {
		t.Add(comparisonRow(r, places, groups)...)
	}
	return t
}

// comparisonRow is a row of the table of comparisons; with its workload and hardware, and the jobs that it is of, where
// the table has columns for them.
func comparisonRow(r record.ComparisonRow, places, groups bool) []string {
	metric := r.Metric
	if m, ok := measure.MetricByName(r.Metric); ok {
		metric = m.Label()
	}
	interval := func(low, high float64) string {
		if tell.Number(low) == "–" || tell.Number(high) == "–" {
			return "–"
		}
		return tell.Number(low) + " to " + tell.Number(high)
	}
	row := []string{metric, r.Candidate, r.Baseline, Said(r)}
	if groups {
		jobs := "all"
		if r.By != "" {
			jobs = GroupName(r.By, r.Group)
		}
		row = slices.Insert(row, 1, jobs)
	}
	if places {
		row = append(row, r.Workload, r.Hardware)
	}
	return append(row,
		tell.Number(r.Ratio), interval(r.CILow, r.CIHigh), tell.P(r.PValue), fmt.Sprint(r.Pairs), tell.Number(r.CandidateMean),
		tell.Number(r.BaselineMean), tell.Number(r.Difference), interval(r.DifferenceLow, r.DifferenceHigh), r.Method)
}
