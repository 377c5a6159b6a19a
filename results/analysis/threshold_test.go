package analysis_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/record"
)

// Thresholds are judged for each variant. A value equal to the bound is within it.
func TestThresholds(t *testing.T) {
	bound := func(v float64) *float64 { return &v }
	e := &record.Experiment{}
	variant(e, "w", "fcfs", nil, 4, 6)
	variant(e, "w", "sjf", nil, 2, 3)
	e.Plan.Thresholds = []record.Threshold{
		{Metric: "mean_waiting_s", Max: bound(5)},
		{Metric: "mean_waiting_s", Max: bound(4.9)},
		{Metric: "mean_waiting_s", Policy: "sjf", Min: bound(2.5)},
		{Metric: "mean_waiting_s", Policy: "sjf", Min: bound(2.6)},
		{Metric: "mean_waiting_s", Policy: "fcfs", Min: bound(4), Max: bound(4.5)},
		{Metric: "mean_slowdown", Policy: "sjf", Max: bound(9)}, // no cell has a value of it
	}
	list, err := analysis.Thresholds(e)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range list {
		value := math.NaN()
		if v.Value != nil {
			value = *v.Value
		}
		got = append(got, fmt.Sprintf("%s %g %v", v.Variant, value, v.Met))
	}
	want := []string{"fcfs 5 true", "sjf 2.5 true", "fcfs 5 false", "sjf 2.5 true", "sjf 2.5 true", "sjf 2.5 false",
		"fcfs 5 false", "sjf NaN false"}
	if !slices.Equal(got, want) {
		t.Errorf("verdicts %q, want %q", got, want)
	}
	e.Plan.Thresholds = []record.Threshold{{Metric: "of nobody"}}
	if _, err := analysis.Thresholds(e); err == nil {
		t.Error("an unknown metric is judged")
	}
}

// The error of estimates is the mean size of the errors of the estimates that were used.
func TestThresholdOfEstimates(t *testing.T) {
	e := &record.Experiment{Dir: t.TempDir()}
	row := func(role string, predicted, actual float64) record.EstimateRow {
		return record.EstimateRow{Job: "j", Role: role, Predicted: predicted, Actual: actual}
	}
	if err := record.ReplaceEstimates(e.Dir, []record.EstimateRow{row(record.EstimateUsed, 11, 10), row(record.EstimateUsed, 7, 10),
		row(record.EstimateCompared, 90, 10), row(record.EstimateUsed, 5, -1)}); err != nil {
		t.Fatal(err)
	}
	for most, met := range map[float64]bool{20: true, 19.9: false} {
		e.Plan.Thresholds = []record.Threshold{{Metric: record.EstimateError, Max: &most}}
		list, err := analysis.Thresholds(e)
		if err != nil || len(list) != 1 || list[0].Value == nil || math.Abs(*list[0].Value-20) > 1e-9 ||
			list[0].Met != met || list[0].Judged != analysis.JudgedEstimates {
			t.Errorf("at most %g: %+v, %v", most, list, err)
		}
	}
}
