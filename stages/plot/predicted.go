package plot

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/results/picture"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/plot/canvas"
)

// Predicted is the name of this kind of picture.
const Predicted = "predicted"

func init() {
	Register(Kind{
		Kind: picture.Kind{
			Rank: 60, Name: Predicted,
			Doc:     "predicted against actual run times",
			Section: picture.InEstimates,
		},
		Draw: func(d *Data, _ Ask) ([]Figure, error) { return d.predicted() },
	})
}

// mostPoints bounds the points of a scatter plot.
const mostPoints = 2000

// point is a job's predicted and actual run time in seconds.
type point struct {
	predicted, actual float64
	class             int
}

// predicted draws predicted against actual run times of all finished jobs that
// held their full request throughout.
func (d *Data) predicted() ([]Figure, error) {
	const name, title = "predicted", "Predicted against actual run time"
	var points []point // every step-th of all, so that there are never many
	var kinds []string
	all, within, exact, step := 0, 0, 0, 1
	for _, c := range d.Cells {
		t, err := d.jobTimes(c)
		if err != nil {
			return nil, err
		}
		for _, j := range t.jobs {
			if !j.estimated {
				continue
			}
			k := index(kinds, t.classes[j.class])
			if k < 0 {
				k = len(kinds)
				kinds = append(kinds, t.classes[j.class])
			}
			if math.Abs(j.predicted-j.service) <= 0.1*j.service {
				within++
			}
			if math.Abs(j.predicted-j.service) <= 1e-4*j.service {
				exact++
			}
			if all%step == 0 {
				points = append(points, point{j.predicted, j.service, k})
			}
			if all++; len(points) == 8*mostPoints {
				points, step = every(points, 4*mostPoints), 2*step
			}
		}
	}
	if len(points) == 0 {
		return skipped(Predicted, name, title, "no finished job has an estimate"), nil
	}
	if exact == all {
		return skipped(Predicted, name, title, "each job took just as long as was predicted: simulated jobs do where policies know their run times"), nil
	}
	caption := fmt.Sprintf("Each point is a job that held its full request throughout; the line is a perfect estimate, "+
		"the band an error of 10%% of the actual time. %d of %s (%.0f%%) are within it.",
		within, plural(all, "job"), 100*float64(within)/float64(all))
	caption += d.sampled()
	if len(points) > mostPoints {
		caption += fmt.Sprintf(" %d of them are drawn.", mostPoints)
		points = every(points, mostPoints)
	}
	estimates, err := d.Estimates()
	if err != nil {
		return nil, err
	}
	bars := intervals(estimates, kinds)
	if len(bars) > 0 {
		caption += fmt.Sprintf(" Bars are the %.3g%% intervals of the estimates, at the mean of their runs.", 100*estimates[0].Level)
	}
	figures := []Figure{scatter(name, title, caption, points, bars, kinds)}
	errs, err := d.errors(estimates)
	return append(figures, errs...), err
}

// every takes n of the points, evenly.
func every(points []point, n int) []point {
	out := make([]point, n)
	for i := range out {
		out[i] = points[i*len(points)/n]
	}
	return out
}

// bar is the interval of an estimate, in seconds, at what its runs took.
type bar struct {
	low, high, actual float64
	class             int
}

// intervals are those of the estimates that are used and have runs.
func intervals(estimates []record.EstimateRow, kinds []string) []bar {
	var bars []bar
	for _, e := range estimates {
		if e.Role != record.EstimateCompared && e.Low >= 0 && e.Actual > 0 && index(kinds, e.Job) >= 0 {
			bars = append(bars, bar{e.Low, e.High, e.Actual, index(kinds, e.Job)})
		}
	}
	return bars
}

func scatter(name, title, caption string, points []point, bars []bar, kinds []string) Figure {
	lo, hi := math.Inf(1), 0.0
	for _, p := range points {
		lo, hi = min(lo, p.predicted, p.actual), max(hi, p.predicted, p.actual)
	}
	logarithmic := hi/lo > 30
	least, most := lo/3, 3*hi // an interval that goes far beyond the points is cut
	for _, b := range bars {
		lo, hi = min(lo, max(b.low, least)), max(hi, min(b.high, most))
	}
	per, unit := canvas.TimeUnit(hi)
	keys := []canvas.Key{}
	for i, k := range kinds[:min(len(kinds), 12)] {
		keys = append(keys, canvas.Key{Label: k, Swatch: canvas.Dotted(canvas.Hue(i))})
	}
	keys = append(keys, canvas.Key{Label: "±10%", Swatch: canvas.Filled(canvas.Shade(canvas.Hue(6), 0.7))})
	return Figure{
		Picture: Picture{Name: name, Kind: Predicted, Title: title, Caption: caption},
		Width:   canvas.Width, Height: canvas.HeadHeight(keys) + 300,
		Paint: func(c draw.Canvas) {
			c = canvas.Head(c, title, keys)
			p := canvas.NewPlot()
			p.X.Label.Text, p.Y.Label.Text = "predicted ("+unit+")", "actual ("+unit+")"
			p.X.Min, p.X.Max = 0, hi/per*1.06
			if logarithmic {
				p.X.Min, p.X.Max = lo/per/1.3, hi/per*1.3
				p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
				p.X.Tick.Marker, p.Y.Tick.Marker = canvas.Decades{}, canvas.Decades{}
				p.X.Label.Text += ", logarithmic"
				p.Y.Label.Text += ", logarithmic"
			}
			p.Y.Min, p.Y.Max = p.X.Min, p.X.Max
			p.Add(canvas.Grid{Vertical: true, Horizontal: true}, cloud{points, bars, per})
			p.Draw(draw.Crop(c, 0, -10, 0, -6))
		},
	}
}

// cloud draws the band, the line and the points.
type cloud struct {
	points []point
	bars   []bar
	per    float64
}

// Plot implements plot.Plotter.
func (cl cloud) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	lo, hi := p.X.Min, p.X.Max
	// predicted is within 10% of actual between predicted/1.1 and predicted/0.9.
	band := []vg.Point{{X: x(lo), Y: y(lo / 0.9)}, {X: x(hi), Y: y(hi / 0.9)}, {X: x(hi), Y: y(hi / 1.1)}, {X: x(lo), Y: y(lo / 1.1)}}
	c.FillPolygon(canvas.Shade(canvas.Hue(6), 0.7), c.ClipPolygonXY(band))
	c.StrokeLine2(draw.LineStyle{Color: canvas.Quiet, Width: 0.9}, x(lo), y(lo), x(hi), y(hi))
	for _, b := range cl.bars {
		from, to := max(b.low/cl.per, lo), min(b.high/cl.per, hi)
		if from > to {
			continue
		}
		line := draw.LineStyle{Color: canvas.Shade(canvas.Hue(b.class), 0.35), Width: 1}
		at := y(b.actual / cl.per)
		c.StrokeLine2(line, x(from), at, x(to), at)
		for _, end := range []float64{from, to} {
			c.StrokeLine2(line, x(end), at-2.5, x(end), at+2.5)
		}
	}
	for _, pt := range cl.points {
		at := vg.Point{X: x(pt.predicted / cl.per), Y: y(pt.actual / cl.per)}
		c.DrawGlyph(draw.GlyphStyle{Color: canvas.Shade(canvas.Hue(pt.class), 0.15), Radius: 2.6, Shape: draw.CircleGlyph{}}, at)
	}
}
