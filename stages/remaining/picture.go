package remaining

import (
	"fmt"
	"slices"

	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/stages/plot"
	"github.com/tfexp/tfexp/stages/plot/canvas"
)

// Picture is the name of these pictures in experiment files.
const Picture = "remaining"

var _ = plot.Register(plot.Kind{
	PictureKind: table.PictureKind{
		Rank: 65, Name: Picture,
		Doc:     "predicted and actual time to the target loss",
		Section: "estimates",
	},
	Draw: func(d *plot.Data, _ plot.Ask) ([]plot.Figure, error) { return remaining(d) },
})

// remainingPart is the fraction of a run after which the drawn predictions were made.
const remainingPart = 0.4

// remaining draws, for each model, predicted over actual time from 40% of each run to its target loss. If no job has a
// target, there is no picture and no note about it.
func remaining(d *plot.Data) ([]plot.Figure, error) {
	const name, title = "remaining", "Predicted against actual time to the target loss"
	if len(Targets.Of(&d.Plan)) == 0 {
		return nil, nil
	}
	rows, err := Remaining.Read(d.Experiment.Dir)
	if err != nil {
		return nil, err
	}
	var models []string
	var points []canvas.Dot
	var bars []canvas.Bar
	for _, r := range rows {
		if r.Part != remainingPart || !stats.Finite(r.ErrorPct) || !(r.PredictedSeconds > 0) || !(r.ActualSeconds > 0) {
			continue
		}
		k := slices.Index(models, r.Model)
		if k < 0 {
			k = len(models)
			models = append(models, r.Model)
		}
		points = append(points, canvas.Dot{Predicted: r.PredictedSeconds, Actual: r.ActualSeconds, Class: k})
		if k == 0 {
			bars = append(bars, canvas.Bar{
				Low: r.Seconds(r.Low), High: r.Seconds(r.High), Actual: r.ActualSeconds, Class: k,
			})
		}
	}
	if len(points) == 0 {
		return plot.Skipped(Picture, name, title, "no real job with a target loss has reached it"), nil
	}
	// The first model is drawn on top.
	slices.SortStableFunc(points, func(a, b canvas.Dot) int { return b.Class - a.Class })
	caption := fmt.Sprintf("Each point is a run, after %g%% of it, by a model; the line is a perfect prediction, the "+
		"band an error "+
		"of 10%% of the actual time. Bars are the intervals of %s.", 100*remainingPart, models[0])
	caption += Errors(Summaries(rows), remainingPart)
	return []plot.Figure{plot.Scatter(name, Picture, title, caption, points, bars, models)}, nil
}
