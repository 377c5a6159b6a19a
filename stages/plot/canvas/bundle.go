package canvas

import (
	"image/color"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Bundle is a number of curves of the same kind, which are drawn thin, with their
// mean, which is drawn thick.
type Bundle struct {
	Label  string
	Line   draw.LineStyle
	Curves []Curve
	Mean   Curve // nil: none
}

// Curve is a value over time, by points.
type Curve []Point

// Point is a value at an instant in seconds.
type Point struct{ At, Value float64 }

// BundleKeys are the entries of a legend of bundles; those without a curve have none.
func BundleKeys(bundles []Bundle) (keys []Key) {
	for _, b := range bundles {
		if len(b.Curves) > 0 {
			keys = append(keys, Key{Label: b.Label, Swatch: Stroked(b.Line)})
		}
	}
	return keys
}

// Bundles draws bundles over the same axes, of values from 0 to 1: x is what is meant
// by time, y what the values are.
func Bundles(c draw.Canvas, bundles []Bundle, x, y string) {
	until, low, high := 0.0, 1.0, 0.0
	for _, b := range bundles {
		for _, curve := range b.Curves {
			until = max(until, curve[len(curve)-1].At)
			for _, p := range curve {
				low, high = min(low, p.Value), max(high, p.Value)
			}
		}
	}
	per, unit := TimeUnit(until)
	p := NewPlot()
	p.X.Label.Text, p.Y.Label.Text = x, y
	if unit != "" {
		p.X.Label.Text += " (" + unit + ")"
	}
	p.X.Min, p.X.Max = 0, max(until/per, 1e-9)
	room := max(0.05*(high-low), 1e-3)
	p.Y.Min, p.Y.Max = max(0, low-room), min(1, high+room)
	p.Add(Grid{Horizontal: true})
	for _, b := range bundles {
		thin := draw.LineStyle{Color: Shade(color.NRGBAModel.Convert(b.Line.Color).(color.NRGBA), 0.55), Width: 0.5}
		if len(b.Curves) == 1 {
			thin = b.Line
		}
		for _, curve := range b.Curves {
			p.Add(stroke(curve, per, thin))
		}
	}
	for _, b := range bundles {
		if len(b.Mean) > 0 {
			thick := b.Line
			thick.Width = 2
			p.Add(stroke(b.Mean, per, thick))
		}
	}
	p.Draw(draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
		Min: c.Min, Max: vg.Point{X: c.Max.X - 8, Y: c.Max.Y - 4},
	}})
}

func stroke(curve Curve, per float64, style draw.LineStyle) *plotter.Line {
	points := make(plotter.XYs, len(curve))
	for i, p := range curve {
		points[i] = plotter.XY{X: p.At / per, Y: p.Value}
	}
	return &plotter.Line{XYs: points, LineStyle: style}
}
