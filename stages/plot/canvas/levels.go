package canvas

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Usage is the resources that a cell held over time. Cores is their limit; 0 means no limit. Origin is the start of the
// cell in seconds since 1970; 0 means unknown.
type Usage struct {
	Label  string
	Rows   []Level
	Cores  int
	Ink    color.NRGBA
	Origin float64
}

// Blank is an axis without ticks.
type Blank struct{}

// Ticks implements plot.Ticker.
func (Blank) Ticks(float64, float64) []plot.Tick { return nil }

// Area draws the resources held over time as a filled area.
type Area struct {
	Usage
	Per float64
}

// MostBins is the greatest number of periods that are drawn; more are averaged, since they would be too narrow to see.
const MostBins = 600

// Plot implements plot.Plotter.
func (a Area) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	rows := a.Rows
	var path vg.Path
	path.Move(vg.Point{X: x(rows[0].At / a.Per), Y: y(0)})
	for i, r := range rows {
		path.Line(vg.Point{X: x(r.At / a.Per), Y: y(r.Held)})
		if i+1 < len(rows) {
			path.Line(vg.Point{X: x(rows[i+1].At / a.Per), Y: y(r.Held)})
		}
	}
	path.Line(vg.Point{X: x(rows[len(rows)-1].At / a.Per), Y: y(0)})
	path.Close()
	c.SetColor(Shade(a.Ink, 0.35))
	c.Fill(path)
	if a.Cores > 0 {
		c.StrokeLine2(draw.LineStyle{Color: Quiet, Width: 0.6, Dashes: []vg.Length{3, 2}},
			c.Min.X, y(float64(a.Cores)), c.Max.X, y(float64(a.Cores)))
	}
}

// Level is the number of resources held from a time on.
type Level struct {
	At, Held float64
}

// Thin returns the averages over n equal periods if there are more than n changes.
func Thin(rows []Level, n int) []Level {
	if len(rows) <= n {
		return rows
	}
	var out []Level
	from, until := rows[0].At, rows[len(rows)-1].At
	step := (until - from) / float64(n)
	at := 0
	for i := range n {
		lo, hi := from+float64(i)*step, from+float64(i+1)*step
		sum := 0.0
		for k := at; k < len(rows) && rows[k].At < hi; k++ {
			end := until
			if k+1 < len(rows) {
				end = rows[k+1].At
			}
			sum += rows[k].Held * math.Max(0, math.Min(end, hi)-math.Max(rows[k].At, lo))
			if end <= hi {
				at = k + 1
			}
		}
		out = append(out, Level{lo, sum / step})
	}
	return append(out, Level{until, rows[len(rows)-1].Held})
}
