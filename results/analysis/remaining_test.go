package analysis

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/results/record"
)

// Errors of −10, 30 and 20% by one model, of which two intervals held; a run that did not reach its target has no error.
func TestRemaining(t *testing.T) {
	row := func(model, job string, part, pct float64, covered bool) record.RemainingRow {
		return record.RemainingRow{Cell: "c", Job: job, Model: model, Part: part, ErrorPct: pct, Covered: covered,
			Level: 0.9, Reached: !math.IsNaN(pct)}
	}
	rows := []record.RemainingRow{
		row("laws", "a", 0.25, -10, true), row("laws", "a", 0.5, 30, false), row("laws", "b", 0.25, 20, true),
		row("laws", "never", 0.25, math.NaN(), false), row("gp", "a", 0.5, 4, true), row("gp", "never", 0.5, math.NaN(), false),
		row("none", "never", 0.25, math.NaN(), false),
	}
	want := []RemainingSummary{
		{Model: "laws", Runs: 3, MeanAbs: 20, Covered: 2.0 / 3, Level: 0.9},
		{Model: "laws", Part: 0.25, Runs: 2, MeanAbs: 15, Covered: 1, Level: 0.9},
		{Model: "laws", Part: 0.5, Runs: 1, MeanAbs: 30, Covered: 0, Level: 0.9},
		{Model: "gp", Runs: 1, MeanAbs: 4, Covered: 1, Level: 0.9},
		{Model: "gp", Part: 0.5, Runs: 1, MeanAbs: 4, Covered: 1, Level: 0.9},
	}
	if d := cmp.Diff(want, Remaining(rows)); d != "" {
		t.Error(d)
	}
	other := row("laws", "never", 0.25, math.NaN(), false)
	other.Cell = "d"
	var got []string
	for _, r := range Unreached(append(rows, other)) {
		got = append(got, r.Cell+" "+r.Job+" "+r.Model)
	}
	if d := cmp.Diff([]string{"c never laws", "d never laws"}, got); d != "" {
		t.Error(d)
	}
}
