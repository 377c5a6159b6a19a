package canvas

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// ErrorRow has the errors of one class in a group, in percent of the actual value. A head is printed in bold.
type ErrorRow struct {
	Label         string
	Class         int
	Bias, SD, MAE float64
	Head          bool
}

// ErrorBars returns the height and the paint function of a picture of errors, with one row each.
func ErrorBars(title string, rows []ErrorRow, classes []string) (height float64, paint func(draw.Canvas)) {
	var keys []Key
	for i, m := range classes {
		keys = append(keys, Key{Label: m, Swatch: Dotted(Hue(i))})
	}
	keys = append(keys, Key{Label: "mean error ± standard deviation", Swatch: spread},
		Key{Label: "mean absolute error", Swatch: tick})
	return HeadHeight(keys) + float64(len(rows))*errorRowHeight + 46, func(c draw.Canvas) {
		c = Head(c, title, keys)
		p := NewPlot()
		lo, hi := 0.0, 0.0
		for _, r := range rows {
			lo, hi = min(lo, r.Bias-r.SD), max(hi, r.Bias+r.SD, r.MAE)
		}
		room := max(hi-lo, 2) * 0.06
		p.X.Min, p.X.Max = lo-room, hi+room
		p.X.Label.Text = "error (% of the actual run time)"
		p.Y.Min, p.Y.Max = 0, float64(len(rows))
		p.HideY()
		p.Add(Grid{Vertical: true}, errorBars{rows})
		p.Draw(draw.Crop(c, errorLabels, -10, 0, -4))
	}
}

// spread draws the legend's sign of a mean with its standard deviation.
func spread(c draw.Canvas, box vg.Rectangle) {
	Stroked(draw.LineStyle{Color: Shade(Quiet, 0.35), Width: 1.4})(c, box)
	Dotted(Quiet)(c, box)
}

// tick draws the legend's sign of a mean absolute error.
func tick(c draw.Canvas, box vg.Rectangle) {
	x := (box.Min.X + box.Max.X) / 2
	c.StrokeLine2(draw.LineStyle{Color: Quiet, Width: 1.4}, x, box.Min.Y+0.5, x, box.Max.Y-0.5)
}

const (
	errorRowHeight = 14.0
	errorLabels    = 130.0 // width of the names of the groups, in points
)

// errorBars draws the rows, the first one at the top.
type errorBars struct{ rows []ErrorRow }

// Plot implements plot.Plotter.
func (e errorBars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	c.StrokeLine2(draw.LineStyle{Color: Quiet, Width: 0.9}, x(0), c.Min.Y, x(0), c.Max.Y)
	for i, r := range e.rows {
		at := y(float64(len(e.rows)-i) - 0.5)
		if i == 0 || e.rows[i-1].Label != r.Label {
			st := Aligned(TickSize, Ink, r.Head, text.XRight, text.YCenter)
			c.FillText(st, vg.Point{X: c.Min.X - 8, Y: at}, Fit(r.Label, errorLabels-12, TickSize))
			if i > 0 {
				between := y(float64(len(e.rows) - i))
				c.StrokeLine2(draw.LineStyle{Color: Rule, Width: 0.5}, c.Min.X, between, c.Max.X, between)
			}
		}
		colour := Hue(r.Class)
		c.StrokeLine2(draw.LineStyle{Color: Shade(colour, 0.35), Width: 1.4}, x(r.Bias-r.SD), at, x(r.Bias+r.SD), at)
		c.StrokeLine2(draw.LineStyle{Color: colour, Width: 1.4}, x(r.MAE), at-4, x(r.MAE), at+4)
		c.DrawGlyph(draw.GlyphStyle{Color: colour, Radius: 2.8, Shape: draw.CircleGlyph{}}, vg.Point{X: x(r.Bias), Y: at})
	}
}
