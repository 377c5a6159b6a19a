package prose

import (
	"fmt"
	"slices"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
)

// Comparisons is the table of comparisons as text: workload and hardware appear when there is more than one, and the
// jobs that are compared when a comparison is of a class, user or size.
func Comparisons(p record.Plan, rows []record.ComparisonRow) Table {
	places := len(p.Workloads) > 1 || len(p.Hardware) > 1
	groups := slices.ContainsFunc(rows, func(r record.ComparisonRow) bool { return r.By != "" })
	t := Table{Left: 4, Header: []string{"metric", "candidate", "against", "verdict"}}
	if groups {
		t.Left++
		t.Header = slices.Insert(t.Header, 1, "jobs")
	}
	if places {
		t.Left += 2
		t.Header = append(t.Header, "workload", "hardware")
	}
	t.Header = append(t.Header, "ratio", "interval", "p", "pairs",
		"mean of candidate", "mean of baseline", "difference", "interval", "method")
	for _, r := range rows {
		t.Rows = append(t.Rows, comparisonRow(r, places, groups))
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
		if Number(low) == "–" || Number(high) == "–" {
			return "–"
		}
		return Number(low) + " to " + Number(high)
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
		Number(r.Ratio), interval(r.CILow, r.CIHigh), P(r.PValue), fmt.Sprint(r.Pairs), Number(r.CandidateMean),
		Number(r.BaselineMean), Number(r.Difference), interval(r.DifferenceLow, r.DifferenceHigh), r.Method)
}
