package plot

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/results/prose"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/plot/canvas"
)

// errorRow is a group of accuracy.csv as it is drawn: a model over all, or for
// one job or resource.
type errorRow struct {
	label         string
	model         int
	bias, sd, mae float64 // percent
	head          bool    // over all
}

// errors draws the errors of the estimates: for each model over all, then by
// job and by resource, the mean with its standard deviation on both sides. There
// is nothing to draw without estimates that have real runs.
func (d *Data) errors(estimates []record.EstimateRow) ([]Figure, error) {
	accuracy, err := d.Accuracy()
	if err != nil || len(accuracy) == 0 || len(estimates) == 0 {
		return nil, err
	}
	var models []string
	var rows []errorRow
	for _, by := range []string{record.ByAll, record.ByJob, record.ByResource} {
		var groups []string
		for _, a := range accuracy {
			if a.By == by && index(groups, a.Group) < 0 {
				groups = append(groups, a.Group)
			}
		}
		for _, g := range groups {
			for _, a := range accuracy {
				if a.By != by || a.Group != g || len(rows) == mostErrorRows {
					continue
				}
				m := index(models, a.Model)
				if m < 0 {
					m = len(models)
					models = append(models, a.Model)
				}
				label := g
				if by == record.ByAll {
					label = "all runs"
				}
				sd := a.SD
				if math.IsNaN(sd) {
					sd = 0
				}
				rows = append(rows, errorRow{label, m, a.Bias, sd, a.MeanAbs, by == record.ByAll})
			}
		}
	}
	const name, title = "predicted-errors", "Errors of the estimates"
	caption := "Points are the mean signed error, (predicted − actual) / actual; bars go one standard deviation to both sides; ticks are the mean absolute error. Above 0, estimates are too long. Over all runs: "
	var parts []string
	for _, r := range rows {
		if r.head {
			parts = append(parts, fmt.Sprintf("%s %s%% (sd %s%%)", models[r.model], prose.Number(r.mae), prose.Number(r.sd)))
		}
	}
	caption += strings.Join(parts, ", ") + "."
	var keys []canvas.Key
	for i, m := range models {
		keys = append(keys, canvas.Key{Label: m, Swatch: canvas.Dotted(canvas.Hue(i))})
	}
	keys = append(keys, canvas.Key{Label: "mean error ± standard deviation", Swatch: spread}, canvas.Key{Label: "mean absolute error", Swatch: tick})
	return []Figure{{
		Picture: Picture{Name: name, Kind: Predicted, Title: title, Caption: caption},
		Width:   canvas.Width, Height: canvas.HeadHeight(keys) + float64(len(rows))*errorRowHeight + 46,
		Paint: func(c draw.Canvas) {
			c = canvas.Head(c, title, keys)
			p := canvas.NewPlot()
			lo, hi := 0.0, 0.0
			for _, r := range rows {
				lo, hi = min(lo, r.bias-r.sd), max(hi, r.bias+r.sd, r.mae)
			}
			room := max(hi-lo, 2) * 0.06
			p.X.Min, p.X.Max = lo-room, hi+room
			p.X.Label.Text = "error (% of the actual run time)"
			p.Y.Min, p.Y.Max = 0, float64(len(rows))
			p.HideY()
			p.Add(canvas.Grid{Vertical: true}, errorBars{rows})
			p.Draw(draw.Crop(c, errorLabels, -10, 0, -4))
		},
	}}, nil
}

// spread is the sign of a mean with its standard deviation.
func spread(c draw.Canvas, box vg.Rectangle) {
	canvas.Stroked(draw.LineStyle{Color: canvas.Shade(canvas.Quiet, 0.35), Width: 1.4})(c, box)
	canvas.Dotted(canvas.Quiet)(c, box)
}

// tick is the sign of a mean absolute error.
func tick(c draw.Canvas, box vg.Rectangle) {
	x := (box.Min.X + box.Max.X) / 2
	c.StrokeLine2(draw.LineStyle{Color: canvas.Quiet, Width: 1.4}, x, box.Min.Y+0.5, x, box.Max.Y-0.5)
}

const (
	mostErrorRows  = 40
	errorRowHeight = 14.0
	errorLabels    = 130.0 // room for the names of the groups, in points
)

// errorBars draws the rows, the first at the top.
type errorBars struct{ rows []errorRow }

// Plot implements plot.Plotter.
func (e errorBars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	c.StrokeLine2(draw.LineStyle{Color: canvas.Quiet, Width: 0.9}, x(0), c.Min.Y, x(0), c.Max.Y)
	for i, r := range e.rows {
		at := y(float64(len(e.rows)-i) - 0.5)
		if i == 0 || e.rows[i-1].label != r.label {
			st := canvas.Style(canvas.TickSize, canvas.Ink, r.head)
			st.XAlign, st.YAlign = text.XRight, text.YCenter
			c.FillText(st, vg.Point{X: c.Min.X - 8, Y: at}, canvas.Fit(r.label, errorLabels-12, canvas.TickSize))
			if i > 0 {
				between := y(float64(len(e.rows) - i))
				c.StrokeLine2(draw.LineStyle{Color: canvas.Rule, Width: 0.5}, c.Min.X, between, c.Max.X, between)
			}
		}
		colour := canvas.Hue(r.model)
		c.StrokeLine2(draw.LineStyle{Color: canvas.Shade(colour, 0.35), Width: 1.4}, x(r.bias-r.sd), at, x(r.bias+r.sd), at)
		c.StrokeLine2(draw.LineStyle{Color: colour, Width: 1.4}, x(r.mae), at-4, x(r.mae), at+4)
		c.DrawGlyph(draw.GlyphStyle{Color: colour, Radius: 2.8, Shape: draw.CircleGlyph{}}, vg.Point{X: x(r.bias), Y: at})
	}
}
