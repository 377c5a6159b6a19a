package remaining

import (
	"context"
	"flag"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/resultstest"
	"github.com/tfexp/tfexp/stages/plot"
	"github.com/tfexp/tfexp/stages/plot/plottest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The picture shows the time to a target loss after 40% of each run, with the intervals of the first model. Unknown
// values are not drawn.
func TestPicture(t *testing.T) {
	cfg := resultstest.Small()
	cfg.Replicates = 2
	dir := cfg.Write(t)
	row := func(job, model string, part, predicted, actual, seconds float64) RemainingRow {
		return RemainingRow{Cell: "c", Job: job, Class: "long", Target: 0.1, Reached: true, Model: model, Part: part,
			Done: 40, Predicted: predicted, Low: predicted - 10, High: predicted + 20, Actual: actual, Level: 0.9,
			ErrorPct: 100 * (predicted/actual - 1), PredictedSeconds: predicted * seconds, ActualSeconds: actual * seconds}
	}
	never := row("d", "laws", 0.4, 70, 60, 0.5)
	never.High = math.NaN()
	unknown := row("e", "laws", 0.4, 50, 60, 0.5)
	unknown.ErrorPct = math.NaN()
	if err := Remaining.Replace(dir, []RemainingRow{
		row("a", "laws", 0.4, 55, 60, 0.5), row("a", "combined", 0.4, 62, 60, 0.5), row("a", "laws", 0.2, 100, 80, 0.5),
		row("b", "laws", 0.4, 80, 60, 0.25), row("b", "combined", 0.4, 58, 60, 0.25), never, unknown,
		row("f", "laws", 0.4, 50, 60, 0),
	}); err != nil {
		t.Fatal(err)
	}
	draw := func(targets ...Target) []record.Picture {
		e, err := record.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		Targets.Set(&e.Plan, targets)
		all, err := plot.Draw(context.Background(), e, filepath.Join(dir, record.PlotsDir),
			plot.Options{MaxGantts: 1, Formats: []string{"svg"}})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	if got := plottest.Names(plottest.Of(draw(), Picture)); got != "" {
		t.Errorf("without a target loss, %s is drawn", got)
	}
	drawn := plottest.Of(draw(Target{Class: "long", Loss: 0.1, Units: 100}), Picture)
	plottest.Check(t, drawn)
	plottest.Golden(t, drawn, *update)
	const want = "after 40% of it, by a model; the line is a perfect prediction, the band an error of 10% of the actual time. Bars are " +
		"the intervals of laws. Mean absolute errors"
	if len(drawn) != 1 || !strings.Contains(drawn[0].Caption, want) {
		t.Errorf("%+v lacks %q", drawn, want)
	}
	if err := Remaining.Replace(dir, []RemainingRow{row("a", "laws", 0.2, 100, 80, 0.5)}); err != nil {
		t.Fatal(err)
	}
	got := plottest.Of(draw(Target{Class: "long", Loss: 0.1, Units: 100}), Picture)
	if len(got) != 1 || !strings.Contains(got[0].Skipped, "no real job") {
		t.Errorf("without a prediction after 40%%: %+v", got)
	}
}
