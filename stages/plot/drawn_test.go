package plot

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/resultstest"
	"github.com/tfexp/tfexp/stages/plot/canvas"
	"github.com/tfexp/tfexp/stages/plot/plottest"
)

// The errors of two models over all runs, by job and by resource.
func TestErrors(t *testing.T) {
	cfg := resultstest.Small()
	cfg.Replicates = 2
	dir := cfg.Write(t)
	if err := record.Accuracy.Replace(dir, []record.AccuracyRow{
		{Model: "linear", By: record.ByAll, Runs: 8, MeanAbs: 9, SD: 6, Bias: 4},
		{Model: "linear", By: record.ByAll, Runs: 8, MeanAbs: 5, SD: 3, Bias: -2, Made: record.MadeCorrected},
		{Model: "linear", By: record.ByJob, Group: "long", Runs: 2, MeanAbs: 12, SD: math.NaN(), Bias: 12},
		{Model: "linear", By: record.ByJob, Group: "long", Runs: 2, MeanAbs: 6, SD: 2, Bias: 3, Made: record.MadeCorrected},
		{Model: "linear", By: record.ByJob, Group: "short", Runs: 6, MeanAbs: 7, SD: 5, Bias: 2},
		{Model: "linear", By: record.ByResource, Group: "2 threads", Runs: 2, MeanAbs: 8, SD: 7, Bias: -8},
	}); err != nil {
		t.Fatal(err)
	}
	e, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	all, err := Draw(context.Background(), e, filepath.Join(dir, record.PlotsDir), Options{MaxGantts: 1, Formats: []string{"svg"}})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(p record.Picture) bool { return p.Name == "predicted-errors" })
	if i < 0 {
		t.Fatalf("pictures %s", plottest.Names(all))
	}
	plottest.Check(t, all[i:i+1])
	plottest.Golden(t, all[i:i+1], *update)
	if want := "Over all runs: linear 9% (sd 6%), linear, corrected 5% (sd 3%)."; !strings.Contains(all[i].Caption, want) {
		t.Errorf("%+v lacks %q", all[i], want)
	}
}

// Bars show only estimates that are used and whose jobs ran. Of many points, some are drawn, at equal distances.
func TestBarsAndPoints(t *testing.T) {
	rows := []record.EstimateRow{
		{Job: "a", Low: 0, High: 2, Actual: 1}, {Job: "b", Low: 1, High: 3, Actual: 2, Role: record.EstimateUsed},
		{Job: "a", Low: 1, High: 3, Actual: 2, Role: record.EstimateCompared}, {Job: "a", Low: -1, High: 3, Actual: 2},
		{Job: "a", Low: 1, High: 3, Actual: 0}, {Job: "other", Low: 1, High: 3, Actual: 2},
	}
	want := []canvas.Bar{{Low: 0, High: 2, Actual: 1, Class: 1}, {Low: 1, High: 3, Actual: 2, Class: 0}}
	if got := intervals(rows, []string{"b", "a"}); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	points := make([]canvas.Dot, 10)
	for i := range points {
		points[i].Class = i
	}
	var classes []int
	for _, p := range every(points, 4) {
		classes = append(classes, p.Class)
	}
	if !slices.Equal(classes, []int{0, 2, 5, 7}) {
		t.Errorf("of ten points %v are drawn", classes)
	}
}

// Of 50,000 points, every fourth is kept: half of the points are dropped whenever there are 16,000.
func TestSampleOfManyPoints(t *testing.T) {
	s := sample{step: 1}
	for i := range 50_000 {
		s.add(canvas.Dot{Predicted: float64(i)})
	}
	if s.all != 50_000 || len(s.points) != 12_500 {
		t.Fatalf("%d of %d points are kept", len(s.points), s.all)
	}
	for i, p := range s.points {
		if p.Predicted != float64(4*i) {
			t.Fatalf("the point %d of those kept is number %g, want %d", i, p.Predicted, 4*i)
		}
	}
}
