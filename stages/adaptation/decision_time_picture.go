package adaptation

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/results/stats"
	pictures "github.com/tfexp/tfexp/stages/plot"
	"github.com/tfexp/tfexp/stages/plot/canvas"
)

// AdaptationTime is the name of the picture of the times of decisions.
const AdaptationTime = "adaptation_time"

var _ = picture(134, AdaptationTime, "how long controllers take for a decision on when to deepen a network", decisionTimes)

func decisionTimes(s deepeningStudy) (out []pictures.Figure, _ error) {
	bars := timeBars{names: s.controllers, seconds: make([][]float64, len(s.controllers))}
	for _, r := range s.Trainings {
		if i := slices.Index(s.controllers, r.Controller); i >= 0 && r.Deciding > 0 {
			bars.seconds[i] = append(bars.seconds[i], r.Deciding)
		}
	}
	if len(s.controllers) > 0 {
		out = append(out, bars.figure(AdaptationTime+"-"+s.name, "Time of a decision – "+s.name,
			"time of a decision",
			"One dot for each scenario and seed, a line at the mean, on a logarithmic scale, measured on this machine. For "+
				"a controller that searches, it is its whole search divided by the number of decisions, without its trainings."))
	}
	if bars = s.deepening(); len(bars.names) > 0 {
		out = append(out, bars.figure(AdaptationTime+"-"+s.name+"-real", "Time to add a layer – "+s.name,
			"time to add a layer",
			"The time that programs took in real training to add a layer, and to evaluate the network before and "+
				"after it: one dot for each layer, a line at the mean, on a logarithmic scale. The first row has the trainings by sequences "+
				"of the table."))
	}
	return out, nil
}

// deepening returns the times in which programs added layers, by the controller that decided.
func (s deepeningStudy) deepening() timeBars {
	var bars timeBars
	for _, r := range s.Courses {
		name := r.Controller
		name = cmp.Or(name, "all sequences")
		i := slices.Index(bars.names, name)
		if i < 0 {
			if len(r.Deepening) == 0 {
				continue
			}
			i = len(bars.names)
			bars.names, bars.seconds = append(bars.names, name), append(bars.seconds, nil)
		}
		bars.seconds[i] = append(bars.seconds[i], r.Deepening...)
	}
	return bars
}

// figure draws the times on a logarithmic scale.
func (b timeBars) figure(name, title, what, caption string) pictures.Figure {
	low, high := b.bounds()
	if !(high > 0) {
		return pictures.Figure{Picture: pictures.Picture{Name: name, Kind: AdaptationTime, Title: title,
			Skipped: "nothing was timed"}}
	}
	p := canvas.NewPlot()
	p.X.Scale, p.X.Min, p.X.Max = plot.LogScale{}, low, high
	p.X.Tick.Marker = powerTicks{}
	p.X.Label.Text = what
	p.Y.Min, p.Y.Max = 0, float64(len(b.names))
	p.HideY()
	p.Add(canvas.Grid{Vertical: true}, b)
	return pictures.Figure{
		Picture: pictures.Picture{Name: name, Kind: AdaptationTime, Title: title, Caption: caption},
		Width:   canvas.Width, Height: canvas.HeadHeight(nil) + 20*float64(len(b.names)) + 36 + canvas.Margin,
		Paint: func(c draw.Canvas) { canvas.DrawPlot(p, draw.Crop(canvas.Head(c, title, nil), 110, -8, 4, 0)) },
	}
}

// timeBars are rows of dots at times, one row for each controller.
type timeBars struct {
	names   []string
	seconds [][]float64
}

// bounds returns two powers of ten with all times between them.
func (b timeBars) bounds() (low, high float64) {
	low = math.Inf(1)
	for _, row := range b.seconds {
		for _, v := range row {
			low, high = min(low, v), max(high, v)
		}
	}
	return math.Pow(10, math.Floor(math.Log10(low))), math.Pow(10, math.Ceil(math.Log10(high)+1e-9))
}

// Plot implements plot.Plotter.
func (b timeBars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for i, row := range b.seconds {
		at := y(float64(len(b.names)-i) - 0.5)
		st := canvas.Aligned(canvas.TickSize, canvas.Ink, false, text.XRight, text.YCenter)
		c.FillText(st, vg.Point{X: c.Min.X - 6, Y: at}, canvas.Fit(b.names[i], 104, canvas.TickSize))
		for _, v := range row {
			c.DrawGlyph(draw.GlyphStyle{Color: canvas.Shade(canvas.Hue(0), 0.4), Radius: 2.2,
				Shape: draw.CircleGlyph{}}, vg.Point{X: x(v), Y: at})
		}
		var mean stats.Mean
		for _, v := range row {
			mean.Add(v)
		}
		if mean := mean.Value(); stats.Finite(mean) {
			c.StrokeLine2(draw.LineStyle{Color: canvas.Ink, Width: 1.6}, x(mean), at-6, x(mean), at+6)
		}
	}
}

// powerTicks places ticks at powers of ten.
type powerTicks struct{}

// Ticks implements plot.Ticker.
func (powerTicks) Ticks(low, high float64) []plot.Tick {
	var out []plot.Tick
	for k := math.Round(math.Log10(low)); k <= math.Log10(high)+1e-9; k++ {
		v := math.Pow(10, k)
		label := fmt.Sprintf("%g s", v)
		switch {
		case v < 0.99e-3:
			label = fmt.Sprintf("%g µs", math.Round(v*1e9)/1e3)
		case v < 0.99:
			label = fmt.Sprintf("%g ms", math.Round(v*1e6)/1e3)
		}
		out = append(out, plot.Tick{Value: v, Label: label})
	}
	return out
}
