package servers

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/table"
	nodesupply "github.com/tfexp/tfexp/scheduler/supply"
	pictures "github.com/tfexp/tfexp/stages/plot"
	"github.com/tfexp/tfexp/stages/plot/canvas"
	"github.com/tfexp/tfexp/stages/plot/panels"
)

// Intervals is the name of the picture of intervals between checkpoints.
const Intervals = "intervals"

var _ = pictures.Register(pictures.Kind{
	PictureKind: table.PictureKind{
		Rank: 118, Name: Intervals,
		Doc: "run times of jobs that lose their servers, over the interval between their checkpoints, " +
			"with the intervals of Young and of Daly",
		Args: []schema.Arg{
			{Name: "x", Type: schema.String, DefaultDoc: "the first axis whose values are numbers or durations",
				Example: `"interval_s"`},
		},
	},
	Draw: func(d *pictures.Data, a pictures.Ask) ([]pictures.Figure, error) { return intervals(d, a.X), nil },
})

// intervals draws, for each class of jobs with checkpoints, the mean JCT by interval in seconds. If no job has
// different intervals, there is no picture, and no note about it.
func intervals(d *pictures.Data, axis string) []pictures.Figure {
	var out []pictures.Figure
	for i, c := range CheckpointsMember.Of(&d.Plan) {
		name := Intervals
		if i > 0 {
			name = fmt.Sprintf("%s-%d", Intervals, i+1)
		}
		for _, a := range d.Plan.Axes {
			if axis != "" && a != axis {
				continue
			}
			if l := against(d, a, c.Hardware); len(l.X) > 1 {
				out = append(out, intervalFigure(name, c, l))
				break
			}
		}
	}
	return out
}

// against returns the mean JCT by the values of an axis; no points if a value is not an interval.
func against(d *pictures.Data, axis, hardware string) panels.Line {
	l := panels.Line{Radius: 2.6, Style: draw.LineStyle{Color: canvas.Hue(0)}}
	for _, v := range d.Variants {
		if hardware != "" && v.Hardware != hardware {
			continue
		}
		for _, a := range v.Axes {
			if a.Name != axis {
				continue
			}
			x, ok := seconds(a.Value)
			if !ok {
				return panels.Line{}
			}
			iv := stats.MeanInterval(v.Values(measure.MeanJCT), analysis.DefaultLevel)
			if !stats.Finite(iv.Mean) {
				continue
			}
			if !stats.Finite(iv.Low) {
				iv.Low, iv.High = iv.Mean, iv.Mean
			}
			l.X, l.Y, l.Low, l.High = append(l.X, x), append(l.Y, iv.Mean), append(l.Low, iv.Low), append(l.High,
				iv.High)
		}
	}
	return l
}

// seconds parses an interval above 0: a number of seconds, or a duration.
func seconds(text string) (float64, bool) {
	if v, err := strconv.ParseFloat(text, 64); err == nil {
		return v, v > 0 && stats.Finite(v)
	}
	d, err := time.ParseDuration(text)
	return d.Seconds(), err == nil && d > 0
}

func intervalFigure(name string, c CheckpointSettings, points panels.Line) pictures.Figure {
	ns := func(s float64) time.Duration { return time.Duration(s * 1e9) }
	const steps = 120
	low, high := math.Inf(1), 0.0
	for _, x := range points.X {
		low, high = min(low, x), max(high, x)
	}
	expected := panels.Line{Style: draw.LineStyle{Color: canvas.Hue(2), Width: 1.4}}
	for i := range steps + 1 {
		x := low * math.Pow(high/low, float64(i)/steps)
		expected.X = append(expected.X, x)
		expected.Y = append(expected.Y, nodesupply.ExpectedCheckpointCost(ns(c.Work), ns(x), ns(c.Cost), ns(c.Restart),
			ns(c.Between)).Seconds())
	}
	young, daly := nodesupply.YoungInterval(ns(c.Cost), ns(c.Between)).Seconds(), nodesupply.DalyInterval(ns(c.Cost),
		ns(c.Between)).Seconds()
	most := 0.0
	for _, y := range append(points.High[:len(points.High):len(points.High)], expected.Y...) {
		most = max(most, y)
	}
	per, unit := canvas.TimeUnit(most)
	p := panels.Panel{X: "interval between checkpoints (s), logarithmic", Y: "mean JCT (" + unit + ")", LogX: true}
	for _, l := range []panels.Line{expected, points} {
		for _, values := range [][]float64{l.Y, l.Low, l.High} {
			for i := range values {
				values[i] /= per
			}
		}
		p.Lines = append(p.Lines, l)
	}
	p.Marks = []panels.Upright{
		{At: young, Label: "Young " + table.Number(young) + " s", Style: draw.LineStyle{Color: canvas.Hue(1), Width: 1,
			Dashes: canvas.Dashes(1)}},
		{At: daly, Label: "Daly " + table.Number(daly) + " s", Style: draw.LineStyle{Color: canvas.Hue(3), Width: 1}},
	}
	keys := []canvas.Key{
		{Label: "simulated, with 95% intervals", Swatch: canvas.Dotted(canvas.Hue(0))},
		{Label: "expected by Daly's formula", Swatch: canvas.Stroked(expected.Style)},
		{Label: "Young's interval", Swatch: canvas.Stroked(p.Marks[0].Style)}, {Label: "Daly's",
			Swatch: canvas.Stroked(p.Marks[1].Style)},
	}
	title := "Time by the interval between checkpoints – " + c.Job
	best := nodesupply.ExpectedCheckpointCost(ns(c.Work), ns(daly), ns(c.Cost), ns(c.Restart), ns(c.Between)).Seconds()
	return pictures.Figure{
		Picture: pictures.Picture{Name: name, Kind: Intervals, Title: title,
			Caption: fmt.Sprintf("Mean time between losses: %s s. A checkpoint takes %s s, a restart %s s, and "+
				"the work %s s. The best interval is %.3f s by Young (1974) and %.3f s by Daly (2006). Daly's formula expects "+
				"a time of %.2f s with it, if the risk of a loss does not depend on a server's age.", table.Number(c.Between), table.Number(c.Cost), table.Number(c.Restart),
				table.Number(c.Work), young, daly, best)},
		Width: canvas.Width, Height: canvas.HeadHeight(keys) + 1.3*panels.Tall + canvas.Margin,
		Paint: func(c draw.Canvas) { p.Paint(canvas.Head(c, title, keys)) },
	}
}
