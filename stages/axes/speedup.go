package axes

import (
	"fmt"
	"math"
	"slices"
	"strings"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/stages/plot"
	"github.com/tfexp/tfexp/stages/plot/canvas"
	"github.com/tfexp/tfexp/stages/plot/lines"
)

// Speedup is the name of these pictures in experiment files.
const Speedup = "speedup"

var _ = plot.Register(plot.Kind{
	PictureKind: table.PictureKind{
		Rank: 100, Name: Speedup,
		Doc: "how many times faster jobs run along an axis, such as their number of threads, with fitted " +
			"curves of Amdahl's law and the universal scalability law",
		Args: []schema.Arg{
			{Name: "metric", Type: schema.String, DefaultDoc: "`mean_service`", Example: `"mean_waiting"`},
			{Name: "x", Type: schema.String, Required: true,
				Doc: "the axis along which jobs get faster, such as their number of threads"},
		},
		OnRequest: "its axis must be named",
	},
	Draw: func(d *plot.Data, a plot.Ask) ([]plot.Figure, error) { return speedups(d, a.Metric, a.X) },
})

// climb is the speed-up of one variant along the axis.
type climb struct {
	label   string
	speedup []stats.Interval // by value of the axis; the first is 1
	curve   func(x float64) float64
	law     string // the fitted curve in words; empty if no curve was fitted
}

// climbs are the lines of one panel.
type climbs struct {
	title string
	lines []climb
}

// speedups draws how many times smaller a metric is along an axis than at the axis' smallest value, with a fitted
// curve. A panel has the variants that are equal in all other axes except the last; each value of the last axis is a
// line.
func speedups(d *plot.Data, metric, axis string) ([]plot.Figure, error) {
	metrics, err := plot.MetricsOr(metric, []measure.Metric{measure.MeanService})
	if err != nil {
		return nil, err
	}
	m := metrics[0]
	var out []plot.Figure
	for _, s := range d.Settings() {
		name, title := "speedup-"+axis+d.Suffix(s), "Speed-up by "+axis+d.Where(s)
		x, ok := lines.AbscissaOf(d, s, axis)
		if !ok || x.Values[0] <= 0 {
			out = append(out, plot.Skipped(Speedup, name, title, "the axis needs at least two values that are numbers above 0")...)
			continue
		}
		all := climbsOf(d, s, x, m)
		if len(all) == 0 {
			out = append(out, plot.Skipped(Speedup, name, title, m.Title+" is not known at the smallest value of the axis")...)
			continue
		}
		few := speedup{x: x, panels: all[:min(len(all), plot.MostFacets)]}
		out = append(out, few.figure(name, title, m, plot.SomeOf(plot.MostFacets, len(all), "panel")))
	}
	return out, nil
}

// climbsOf returns the panels in the order of the plan.
func climbsOf(d *plot.Data, s plot.Setting, x lines.Abscissa, m measure.Metric) []climbs {
	type group struct {
		panel, line string
		at          [][]record.Cell // cells by value of the axis
	}
	var groups []group
	for _, v := range s.Variants {
		text, read := lines.ValueOf(v, x.Name)
		if !read {
			continue // the variant does not depend on the axis
		}
		parts := []string{}
		if len(d.Plan.Policies) > 1 {
			parts = append(parts, v.Policy)
		}
		for _, a := range v.Axes {
			if a.Name != x.Name {
				parts = append(parts, a.Name+" "+a.Value)
			}
		}
		g := group{line: m.Title}
		if n := len(parts); n > 0 {
			g.panel, g.line = strings.Join(parts[:n-1], ", "), parts[n-1]
		}
		k := slices.IndexFunc(groups, func(o group) bool { return o.panel == g.panel && o.line == g.line })
		if k < 0 {
			k = len(groups)
			g.at = make([][]record.Cell, len(x.Labels))
			groups = append(groups, g)
		}
		if i := slices.Index(x.Labels, text); i >= 0 {
			groups[k].at[i] = v.Cells
		}
	}
	var out []climbs
	for _, g := range groups {
		line, ok := newClimb(g.line, x, g.at, m)
		if !ok {
			continue
		}
		k := slices.IndexFunc(out, func(c climbs) bool { return c.title == g.panel })
		if k < 0 {
			k = len(out)
			out = append(out, climbs{title: g.panel})
		}
		out[k].lines = append(out[k].lines, line)
	}
	return out
}

// newClimb compares the cells at each value of the axis with those at the smallest, paired by replicate. It returns
// false if the metric is unknown at the smallest value.
func newClimb(label string, x lines.Abscissa, at [][]record.Cell, m measure.Metric) (climb, bool) {
	out := climb{label: label}
	base := map[int]float64{} // metric at the smallest value, by replicate
	for _, c := range at[0] {
		if v := m.Of(&c.Metrics); stats.Finite(v) && v > 0 {
			base[c.Replicate] = v
		}
	}
	if len(base) == 0 {
		return out, false
	}
	var threads []int
	var relative []float64 // run times relative to the smallest value
	for i := range at {
		var ratios []float64
		for _, c := range at[i] {
			v, b := m.Of(&c.Metrics), base[c.Replicate]
			if !stats.Finite(v) || v <= 0 || b == 0 {
				continue
			}
			ratios = append(ratios, b/v)
			// The mean over replicates keeps a slow replicate from changing the curve.
			if n := int(x.Values[i]); float64(n) == x.Values[i] {
				threads, relative = append(threads, n), append(relative, v/b)
			}
		}
		out.speedup = append(out.speedup, stats.MeanInterval(ratios, analysis.DefaultLevel))
	}
	// Draw only points if there are too few values for a fit.
	if curve, one, err := estimator.FitCurve(threads, relative); err == nil {
		out.curve = func(n float64) float64 { return curve.Speedup(n) / one }
		out.law = lawOf(curve)
	}
	return out, true
}

// lawOf describes a fitted curve in words.
func lawOf(c estimator.Curve) string {
	text := fmt.Sprintf("σ %.2f", c.Sigma)
	if c.Kappa > 0 {
		text += fmt.Sprintf(", κ %.3f", c.Kappa)
	}
	if c.Limit > 0 {
		text += fmt.Sprintf(", up to %.1f", c.Limit)
	}
	return text
}

// speedup draws panels over the same axis.
type speedup struct {
	x      lines.Abscissa
	panels []climbs
}

func (s speedup) figure(name, title string, m measure.Metric, note string) plot.Figure {
	const tall = 176.0
	var labels []string
	top := 1.0
	for _, p := range s.panels {
		for _, l := range p.lines {
			labels = schema.AddOnce(labels, l.label)
			for _, iv := range l.speedup {
				for _, v := range []float64{iv.Mean, iv.High} {
					if stats.Finite(v) {
						top = max(top, v)
					}
				}
			}
		}
	}
	all := len(labels)
	labels = labels[:min(all, plot.MostLines)]
	var keys []canvas.Key
	for i, l := range labels {
		keys = append(keys, canvas.Key{Label: l, Swatch: canvas.Dotted(canvas.Hue(i))})
	}
	dotted := draw.LineStyle{Color: canvas.Quiet, Width: 0.9, Dashes: []vg.Length{2, 2}}
	keys = append(keys, canvas.Key{Label: "in proportion", Swatch: canvas.Stroked(dotted)})
	columns := min(plot.MostColumns, len(s.panels))
	rows := (len(s.panels) + columns - 1) / columns
	return plot.Figure{
		Picture: plot.Picture{Name: name, Kind: Speedup, Title: title,
			Caption: fmt.Sprintf("How many times shorter %s is than at %s = %s: means over the replicates with 95%% "+
				"confidence intervals (t), paired by replicate. Lines are fitted: n / (1 + σ(n−1) + κn(n−1)), Amdahl's law, "+
				"or with κ the universal scalability law where it tells the points better.%s%s",
				m.Title, s.x.Name, s.x.Labels[0], note, plot.SomeOf(plot.MostLines, all, "line"))},
		Width: canvas.Width, Height: canvas.HeadHeight(keys) + float64(rows)*tall + canvas.Margin,
		Paint: func(c draw.Canvas) {
			c = canvas.Head(c, title, keys)
			for i, p := range s.panels {
				s.panel(canvas.Tile(c, i, columns, tall, 4), p, labels, top)
			}
		},
	}
}

// panel draws the lines of one panel, and the fitted laws below its title.
func (s speedup) panel(c draw.Canvas, panel climbs, labels []string, top float64) {
	st := canvas.Style(canvas.LabelSize, canvas.Ink, false)
	st.YAlign = -1
	c.FillText(st, vg.Point{X: c.Min.X + 4, Y: c.Max.Y}, canvas.Fit(panel.title, c.Size().X.Points()-6, canvas.LabelSize))
	under := vg.Length(0)
	if panel.title != "" {
		under = 13
	}
	p := canvas.NewPlot()
	lo, hi := s.x.Values[0], s.x.Values[len(s.x.Values)-1]
	p.X.Min, p.X.Max = lo-0.05*(hi-lo), hi+0.05*(hi-lo)
	p.X.Tick.Marker = s.x.Ticks(c.Size().X.Points() - 40)
	p.Y.Min, p.Y.Max = canvas.Nice{Room: 150}.Cover(0, top)
	p.Y.Tick.Marker = canvas.Nice{Room: 150}
	p.X.Label.Text = s.x.Name
	p.Add(canvas.Grid{Vertical: false, Horizontal: true}, climbing{s.x.Values, panel.lines, labels})
	p.Draw(draw.Crop(c, 0, -4, 0, -under-11*vg.Length(len(panel.lines))))
	law := canvas.Style(canvas.SmallSize, canvas.Quiet, false)
	law.YAlign = -1
	for i, l := range panel.lines {
		if l.law == "" {
			continue
		}
		at := vg.Point{X: c.Min.X + 4, Y: c.Max.Y - under - 11*vg.Length(i)}
		c.FillText(law, at, canvas.Fit(l.label+": "+l.law, c.Size().X.Points()-6, canvas.SmallSize))
	}
}

// climbing draws the points of a panel with intervals and curves.
type climbing struct {
	x      []float64
	lines  []climb
	labels []string
}

// Plot implements plot.Plotter.
func (cl climbing) Plot(c draw.Canvas, p *gonum.Plot) {
	x, y := p.Transforms(&c)
	lo, hi := cl.x[0], cl.x[len(cl.x)-1]
	ideal := draw.LineStyle{Color: canvas.Quiet, Width: 0.9, Dashes: []vg.Length{2, 2}}
	end := min(hi, lo*p.Y.Max)
	c.StrokeLine2(ideal, x(lo), y(1), x(end), y(end/lo))
	for _, l := range cl.lines {
		i := slices.Index(cl.labels, l.label)
		if i < 0 {
			continue
		}
		if l.curve != nil {
			var path []vg.Point
			const pieces = 60
			for k := range pieces + 1 {
				n := lo + (hi-lo)*float64(k)/pieces
				path = append(path, vg.Point{X: x(n), Y: y(math.Min(l.curve(n), p.Y.Max))})
			}
			c.StrokeLines(plot.Hued(i).Line(), path)
		}
		// Lines are offset, so that their intervals do not overlap.
		aside := 1.6 * (vg.Length(i) - vg.Length(len(cl.labels)-1)/2)
		for k, iv := range l.speedup {
			if !stats.Finite(iv.Mean) {
				continue
			}
			at := vg.Point{X: x(cl.x[k]) + aside, Y: y(iv.Mean)}
			c.DrawGlyph(draw.GlyphStyle{Color: canvas.Hue(i), Radius: 2.4, Shape: draw.CircleGlyph{}}, at)
			if stats.Finite(iv.Low) && stats.Finite(iv.High) {
				canvas.Interval(c, canvas.Hue(i), at.X, y(max(iv.Low, 0)), y(min(iv.High, p.Y.Max)))
			}
		}
	}
}
