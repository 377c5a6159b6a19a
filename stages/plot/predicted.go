// The pictures that judge estimates: predicted against actual run times, and their errors.

package plot

import (
	"fmt"
	"math"
	"slices"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/stages/plot/canvas"
)

// Predicted is the name of the picture of predicted against actual run times.
const Predicted = "predicted"

var _ = Register(Kind{
	PictureKind: table.PictureKind{
		Rank: 60, Name: Predicted,
		Doc:     "predicted and actual run times",
		Section: "estimates",
	},
	Draw: func(d *Data, _ Ask) ([]Figure, error) { return predicted(d) },
})

// mostPoints is the greatest number of points in a scatter plot.
const mostPoints = 2000

// predicted draws predicted against actual run times of finished jobs that held their full request all the time.
func predicted(d *Data) ([]Figure, error) {
	const name, title = "predicted", "Predicted against actual run time"
	drawn := sample{step: 1}
	within, exact := 0, 0
	err := d.EachEstimated(func(class string, predicted, service float64) {
		if math.Abs(predicted-service) <= 0.1*service {
			within++
		}
		if math.Abs(predicted-service) <= 1e-4*service {
			exact++
		}
		drawn.add(canvas.Dot{Predicted: predicted, Actual: service, Class: d.palette.Class(class)})
	})
	if err != nil {
		return nil, err
	}
	points, all := drawn.points, drawn.all
	if all == 0 {
		return Skipped(Predicted, name, title, "no finished job has an estimate"), nil
	}
	if exact == all {
		return Skipped(Predicted, name, title, "each job took exactly as long as predicted, as simulated jobs do "+
			"if policies know their run times"), nil
	}
	caption := fmt.Sprintf("Each point is a job that held its full request throughout; the line is a perfect estimate, "+
		"the band an error of 10%% of the actual time. %d of %s (%.0f%%) are within it.",
		within, schema.Plural(all, "job"), 100*float64(within)/float64(all))
	caption += d.Sampled()
	if len(points) > mostPoints {
		caption += fmt.Sprintf(" %d of them are drawn.", mostPoints)
		points = every(points, mostPoints)
	}
	estimates, err := record.Estimates.Read(d.Dir)
	if err != nil {
		return nil, err
	}
	classes := d.palette.Classes
	bars := intervals(estimates, classes)
	if len(bars) > 0 {
		caption += fmt.Sprintf(" Bars are the %.3g%% intervals of the estimates, at the mean of their runs.",
			100*estimates[0].Level)
	}
	figures := []Figure{Scatter(name, Predicted, title, caption, points, bars, classes)}
	errs, err := errorBars(d, estimates)
	return append(figures, errs...), err
}

// sample keeps every step-th point that is added. step grows, so that the number of points stays bounded.
type sample struct {
	points    []canvas.Dot
	all, step int
}

func (s *sample) add(p canvas.Dot) {
	if s.all%s.step == 0 {
		s.points = append(s.points, p)
	}
	if s.all++; len(s.points) == 8*mostPoints {
		s.points, s.step = every(s.points, 4*mostPoints), 2*s.step
	}
}

// every returns n of the points, at equal distances.
func every(points []canvas.Dot, n int) []canvas.Dot {
	out := make([]canvas.Dot, n)
	for i := range out {
		out[i] = points[i*len(points)/n]
	}
	return out
}

// intervals returns the intervals of estimates that are used and have real runs.
func intervals(estimates []record.EstimateRow, classes []string) []canvas.Bar {
	var bars []canvas.Bar
	for _, e := range estimates {
		if e.Role != record.EstimateCompared && e.Low >= 0 && e.Actual > 0 && slices.Index(classes, e.Job) >= 0 {
			bars = append(bars, canvas.Bar{Low: e.Low, High: e.High, Actual: e.Actual, Class: slices.Index(classes, e.Job)})
		}
	}
	return bars
}

func Scatter(name, kind, title, caption string, points []canvas.Dot, bars []canvas.Bar,
	classes []string) Figure {
	height, paint := canvas.Scatter(title, points, bars, classes)
	return Figure{
		Picture: Picture{Name: name, Kind: kind, Title: title, Caption: caption},
		Width:   canvas.Width, Height: height, Paint: paint,
	}
}
