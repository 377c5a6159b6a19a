// Package tuning draws the pictures of searches for settings.
package tuning

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/results/table"
	pictures "github.com/tfexp/tfexp/stages/plot"
	"github.com/tfexp/tfexp/stages/plot/canvas"
	"github.com/tfexp/tfexp/stages/tuning/trial"
)

// Regret is the name of the picture of regrets: how far a search is from the best settings.
const Regret = "regret"

var _ = pictures.Register(pictures.Kind{
	PictureKind: table.PictureKind{
		Rank: 140, Name: Regret, Section: "answer",
		Doc: "regret by trial: how much worse the best settings so far are than the best possible ones, " +
			"with intervals over replicates",
	},
	Draw: regret,
})

// mostRegret is the greatest regret in pictures, in percent. A search has this regret before its first feasible trial.
const mostRegret = 1000

// curve is the regret of one search by trial: the median over replicates, and the 95% confidence interval of the
// median.
type curve struct {
	label             string
	runs              int       // replicates
	median, low, high []float64 // in percent; index 0 is the first trial
}

func regret(d *pictures.Data, _ pictures.Ask) ([]pictures.Figure, error) {
	rows, err := Trials.Read(d.Dir)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	var names []string // tuning and hardware, separated by a space: one picture for each
	groups := map[string][]TrialRow{}
	for _, r := range rows {
		if r.State == trial.TrialStretch {
			continue
		}
		name := r.Tuning
		if len(d.Plan.Hardware) > 1 {
			name += "-" + r.Hardware
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		groups[name] = append(groups[name], r)
	}
	var out []pictures.Figure
	for _, name := range names {
		all := curves(groups[name])
		if !slices.ContainsFunc(all, func(c curve) bool { return len(c.median) > 1 }) {
			continue // the search is one job, so there is no regret by trial
		}
		out = append(out, regretFigure(name, all))
	}
	return out, nil
}

// curves groups the trials of a picture by method and axes, and returns one curve for each group.
func curves(rows []TrialRow) []curve {
	var labels []string
	runs := map[string]map[int][]float64{} // regrets by label and replicate
	for _, r := range rows {
		label := r.Method
		if r.Axes != "" && r.Axes != "method="+r.Method {
			label += " " + r.Axes
		}
		if runs[label] == nil {
			labels = append(labels, label)
			runs[label] = map[int][]float64{}
		}
		if r.Trial == 0 {
			continue // a trial from another run
		}
		v := r.RegretPct
		if math.IsNaN(v) || v > mostRegret {
			v = mostRegret
		}
		runs[label][r.Replicate] = append(runs[label][r.Replicate], v)
	}
	var out []curve
	for _, label := range labels {
		c, most := curve{label: label, runs: len(runs[label])}, 0
		for _, run := range runs[label] {
			most = max(most, len(run))
		}
		for k := range most {
			var values []float64
			for _, run := range runs[label] { // after its last trial, a search keeps its last regret
				values = append(values, run[min(k, len(run)-1)])
			}
			median, low, high := MedianInterval(values)
			c.median, c.low, c.high = append(c.median, median), append(c.low, low), append(c.high, high)
		}
		out = append(out, c)
	}
	return out
}

// mostMethods is the greatest number of curves in a picture.
const mostMethods = 7

func regretFigure(name string, all []curve) pictures.Figure {
	shown := all[:min(len(all), mostMethods)]
	var keys []canvas.Key
	trials, runs, highest := 1, 0, 0.0
	for i, c := range shown {
		keys = append(keys, canvas.Key{Label: c.label, Swatch: canvas.Stroked(lineOf(i))})
		trials, runs = max(trials, len(c.median)), max(runs, c.runs)
		for _, v := range c.high {
			highest = max(highest, v)
		}
	}
	p := canvas.NewPlot()
	p.X.Min, p.X.Max = 1, float64(max(trials, 2))
	p.Y.Min, p.Y.Max = scaled(0), scaled(max(highest, 10))
	p.X.Label.Text, p.Y.Label.Text = "trials", "behind the best (%)"
	p.X.Tick.Marker = canvas.Nice{Room: 300, Least: 1}
	p.Y.Tick.Marker = percents{}
	p.Add(canvas.Grid{Horizontal: true})
	for i, c := range shown {
		p.Add(band{c, i})
	}
	title := "Best settings so far – " + name
	text := "Distance of the best feasible settings so far from the best known ones, by number of trials"
	if runs > 1 {
		text += ": the median over replicates, and its 95% confidence interval"
	}
	text += ". Cube-root scale"
	if highest >= mostRegret {
		text += fmt.Sprintf("; %d%% = no feasible settings yet, or a greater distance", mostRegret)
	}
	text += ". The dashed line is at 10%. Lower is better."
	if len(all) > len(shown) {
		text += fmt.Sprintf(" The first %d of %d are shown.", len(shown), len(all))
	}
	return pictures.Figure{
		Picture: pictures.Picture{Name: Regret + "-" + name, Kind: Regret, Title: title,
			Caption: text},
		Width: canvas.Width, Height: canvas.HeadHeight(keys) + 230,
		Paint: func(c draw.Canvas) { p.Draw(draw.Crop(canvas.Head(c, title, keys), 0, -6, 4, 0)) },
	}
}

func lineOf(i int) draw.LineStyle {
	return draw.LineStyle{Color: canvas.Hue(i), Width: 1.8, Dashes: canvas.Dashes(i)}
}

// scaled returns the position of a regret on the axis: the cube root of the percentage. Small and large regrets can be
// seen together, and 0 has a place, which it has not on a logarithmic axis.
func scaled(v float64) float64 { return math.Cbrt(v) }

// percents places the ticks of the axis of regrets.
type percents struct{}

// Ticks implements plot.Ticker.
func (percents) Ticks(_, hi float64) []plot.Tick {
	var ticks []plot.Tick
	for _, v := range []float64{0, 1, 10, 50, 100, 250, 500, 1000} {
		if scaled(v) <= hi+1e-9 {
			ticks = append(ticks, plot.Tick{Value: scaled(v), Label: fmt.Sprint(v)})
		}
	}
	return ticks
}

// band draws a curve and its interval, in steps: the best settings stay the best until a later trial is better.
type band struct {
	curve
	hue int
}

// Plot implements plot.Plotter.
func (b band) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	steps := func(values []float64) (line []vg.Point) {
		for k, v := range values {
			if math.IsNaN(v) || v > mostRegret {
				v = mostRegret
			}
			now := vg.Point{X: x(float64(k + 1)), Y: y(scaled(v))}
			if k > 0 {
				line = append(line, vg.Point{X: now.X, Y: line[len(line)-1].Y})
			}
			line = append(line, now)
		}
		return line
	}
	if len(b.median) == 0 {
		return
	}
	low := steps(b.low)
	slices.Reverse(low)
	var area vg.Path
	for i, at := range append(steps(b.high), low...) {
		if i == 0 {
			area.Move(at)
		} else {
			area.Line(at)
		}
	}
	area.Close()
	tint := canvas.Hue(b.hue)
	tint.A = 0x30
	c.SetColor(tint)
	c.Fill(area)
	c.StrokeLines(lineOf(b.hue), steps(b.median))
	near := y(scaled(10))
	c.StrokeLine2(draw.LineStyle{Color: canvas.Quiet, Width: 0.6, Dashes: []vg.Length{3, 2}}, c.Min.X, near, c.Max.X, near)
}
