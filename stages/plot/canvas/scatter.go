package canvas

import (
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Dot is a predicted and an actual time, in seconds. Its class determines its color.
type Dot struct {
	Predicted, Actual float64
	Class             int
}

// Bar is the interval of a prediction in seconds, drawn at the actual time.
type Bar struct {
	Low, High, Actual float64
	Class             int
}

// Scatter returns the height and the paint function of a picture of predicted against actual times.
func Scatter(title string, dots []Dot, bars []Bar, classes []string) (height float64, paint func(draw.Canvas)) {
	lo, hi := math.Inf(1), 0.0
	for _, p := range dots {
		lo, hi = min(lo, p.Predicted, p.Actual), max(hi, p.Predicted, p.Actual)
	}
	logarithmic := hi/lo > 30
	least, most := lo/3, 3*hi // longer intervals are cut off there
	for _, b := range bars {
		lo, hi = min(lo, max(b.Low, least)), max(hi, min(b.High, most))
	}
	per, unit := TimeUnit(hi)
	var keys []Key
	for i, k := range classes {
		if len(keys) < 12 && slices.ContainsFunc(dots, func(d Dot) bool { return d.Class == i }) {
			keys = append(keys, Key{Label: k, Swatch: Marked(i)})
		}
	}
	keys = append(keys, Key{Label: "±10%", Swatch: Filled(Shade(Hue(6), 0.7))})
	return HeadHeight(keys) + 300, func(c draw.Canvas) {
		c = Head(c, title, keys)
		p := NewPlot()
		p.X.Label.Text, p.Y.Label.Text = "predicted ("+unit+")", "actual ("+unit+")"
		ticks := Nice{Room: 200}
		p.X.Tick.Marker, p.Y.Tick.Marker = ticks, ticks
		p.X.Min, p.X.Max = ticks.Cover(0, hi/per)
		if logarithmic {
			p.X.Min, p.X.Max = lo/per/1.3, hi/per*1.3
			p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
			p.X.Tick.Marker, p.Y.Tick.Marker = Decades{}, Decades{}
			p.X.Label.Text += ", logarithmic"
			p.Y.Label.Text += ", logarithmic"
		}
		p.Y.Min, p.Y.Max = p.X.Min, p.X.Max
		p.Add(Grid{Vertical: true, Horizontal: true}, cloud{dots, bars, per})
		DrawPlot(p, draw.Crop(c, 0, -10, 0, -6))
	}
}

// cloud draws a band around equality, the line of equality, and the points.
type cloud struct {
	dots []Dot
	bars []Bar
	per  float64
}

// Plot implements plot.Plotter.
func (cl cloud) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	lo, hi := p.X.Min, p.X.Max
	// predicted is within 10% of actual if actual is between predicted/1.1 and predicted/0.9.
	band := []vg.Point{{X: x(lo), Y: y(lo / 0.9)}, {X: x(hi), Y: y(hi / 0.9)}, {X: x(hi), Y: y(hi / 1.1)},
		{X: x(lo), Y: y(lo / 1.1)}}
	c.FillPolygon(Shade(Hue(6), 0.7), c.ClipPolygonXY(band))
	c.StrokeLine2(draw.LineStyle{Color: Quiet, Width: 0.9}, x(lo), y(lo), x(hi), y(hi))
	for _, b := range cl.bars {
		from, to := max(b.Low/cl.per, lo), min(b.High/cl.per, hi)
		if from > to {
			continue
		}
		line := draw.LineStyle{Color: Shade(Hue(b.Class), 0.35), Width: 1}
		at := y(b.Actual / cl.per)
		c.StrokeLine2(line, x(from), at, x(to), at)
		for _, end := range []float64{from, to} {
			c.StrokeLine2(line, x(end), at-2.5, x(end), at+2.5)
		}
	}
	for _, pt := range cl.dots {
		at := vg.Point{X: x(pt.Predicted / cl.per), Y: y(pt.Actual / cl.per)}
		c.DrawGlyph(draw.GlyphStyle{Color: Shade(Hue(pt.Class), 0.15), Radius: 2.6, Shape: Mark(pt.Class)}, at)
	}
}
