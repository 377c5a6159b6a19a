// Package lines draws metrics along a numeric axis of the matrix, one line for each policy.
package lines

import (
	"cmp"
	"math"
	"slices"
	"strings"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/stages/plot"
	"github.com/tfexp/tfexp/stages/plot/canvas"
)

// Abscissa is the axis of the matrix along which metrics are drawn.
type Abscissa struct {
	Name   string
	Values []float64 // different values, ascending
	Labels []string  // labels of the values, as the file writes them
}

// line has the metric of one policy: an interval at each value of the abscissa.
type line struct {
	policy    string
	intervals []stats.Interval
}

// facet is a panel: the variants with the same values of all other axes.
type facet struct {
	title string
	short string // title without the names of axes, for narrow panels
	first string // value of the first axis in the title
	lines []line
}

// Limit is a bound of a metric, which is drawn as a line. Upper reports whether it is an upper bound.
type Limit struct {
	At    float64 // NaN if there is no bound
	Upper bool
}

// Unbounded is the limit of a metric without a bound.
var Unbounded = Limit{At: math.NaN()}

// per returns the limit in another unit.
func (l Limit) per(u table.Unit) Limit { return Limit{l.At / u.Per, l.Upper} }

// cut is the multiple of an upper limit at which a picture ends, so that values near the limit can be seen.
const cut = 5

// Draw draws metrics along a numeric axis, one line for each policy. Each combination of other axes' values has a
// panel, and each metric has a picture. If by names a way to divide jobs, each group of jobs has a panel as well.
// Without other axes and groups, the metrics are panels of one picture.
func Draw(d *plot.Data, kind, metric, axis, by string, bound Limit) ([]plot.Figure, error) {
	others := d.Chief(measure.InSeries)
	if by != "" {
		others = []measure.Metric{measure.MeanJCT}
	}
	metrics, err := plot.MetricsOr(metric, others)
	if err != nil {
		return nil, err
	}
	var out []plot.Figure
	for _, s := range d.Settings() {
		x, ok := AbscissaOf(d, s, axis)
		if !ok {
			if axis != "" {
				out = append(out, plot.Skipped(kind, kind+"-"+axis+d.Suffix(s), "Metrics by "+axis+d.Where(s),
					"the axis has fewer than two values that are numbers")...)
			}
			continue // most experiments have no numeric axis, so there is no note
		}
		var panels [][]facet // by metric
		for _, m := range metrics {
			panels = append(panels, facets(s, x, m, by))
		}
		name, over := kind+"-"+x.Name, " by "+x.Name+d.Where(s)
		if by != "" {
			name, over = name+"-"+by, " by "+x.Name+" and "+by+d.Where(s)
			if len(panels[0]) == 0 {
				out = append(out, plot.Skipped(kind, name+d.Suffix(s), plot.Capital(metrics[0].Title)+over, "all jobs are of one "+by)...)
				continue
			}
		}
		best, chosen := analysis.BestPolicies(d.Plan, s.Variants, plot.MostLines)
		if len(panels[0]) == 1 && by == "" {
			one := multiples{kind: kind, x: x, policies: best, look: d.PolicyLook, columns: d.Columns(min(2, len(metrics)))}
			var constant []string
			for i, m := range metrics {
				f := panels[i][0]
				u := plot.UnitOf(m, s.Variants)
				f.in(u)
				f.title, one.bound = u.Label(m.Title), bound.per(u)
				if value, same := f.constant(); same && metric == "" {
					constant = append(constant, strings.TrimSpace(f.title+" "+table.Number(value)))
					continue
				}
				one.facets = append(one.facets, f)
			}
			if len(one.facets) == 0 {
				out = append(out, plot.Skipped(kind, name+d.Suffix(s), "Metrics"+over, "no metric differs between the cells")...)
				continue
			}
			if len(constant) > 0 {
				chosen += " The same in all cells: " + table.Listed(constant) + "."
			}
			if metric != "" {
				name += "-" + metric
			}
			title := "Metrics" + over
			if len(metrics) == 1 {
				title = plot.Capital(metrics[0].Title) + over
			}
			out = append(out, one.figure(name+d.Suffix(s), title, chosen))
			continue
		}
		for i, m := range metrics {
			all, u := panels[i], plot.UnitOf(m, s.Variants)
			for k := range all {
				all[k].in(u)
			}
			many := multiples{
				kind: kind, bound: bound.per(u), x: x, policies: best, look: d.PolicyLook,
				facets: all[:min(len(all), plot.MostFacets)], columns: d.Columns(columnsOf(all)),
				ordinate: u.Label(m.Title),
			}
			out = append(out, many.figure(name+"-"+m.Name+d.Suffix(s), plot.Capital(u.Label(m.Title))+over,
				chosen+plot.SomeOf(plot.MostFacets, len(all), "panel")))
		}
	}
	return out, nil
}

// in converts the values of a facet to a unit.
func (f *facet) in(u table.Unit) {
	for _, l := range f.lines {
		for k, i := range l.intervals {
			l.intervals[k] = plot.InUnit(i, u)
		}
	}
}

// constant reports whether all means of a facet are equal, and returns this value.
func (f facet) constant() (value float64, same bool) {
	value = math.NaN()
	for _, l := range f.lines {
		for _, i := range l.intervals {
			switch {
			case math.IsNaN(i.Mean):
			case math.IsNaN(value):
				value = i.Mean
			case i.Mean != value:
				return value, false
			}
		}
	}
	return value, !math.IsNaN(value)
}

// AbscissaOf returns the axis with a name, or the first axis with at least two numbers if the name is empty; false if
// there is no such axis.
func AbscissaOf(d *plot.Data, s plot.Setting, axis string) (Abscissa, bool) {
	for _, name := range d.Plan.Axes {
		if axis != "" && name != axis {
			continue
		}
		x := Abscissa{Name: name}
		numeric := true
		for _, v := range s.Variants {
			text, read := ValueOf(v, name)
			if !read {
				continue
			}
			value, ok := schema.AxisNumber(text)
			numeric = numeric && ok
			if ok && !slices.Contains(x.Values, value) {
				i, _ := slices.BinarySearch(x.Values, value)
				x.Values, x.Labels = slices.Insert(x.Values, i, value), slices.Insert(x.Labels, i, text)
			}
		}
		if numeric && len(x.Values) >= 2 {
			return x, true
		}
	}
	return Abscissa{}, false
}

// ValueOf returns the value of a variant on an axis; false if its policy does not read the axis.
func ValueOf(v analysis.Variant, axis string) (string, bool) {
	for _, a := range v.Axes {
		if a.Name == axis {
			return a.Value, true
		}
	}
	return "", false
}

// facets groups the variants by the values of their other axes, in the order of the plan. A policy that does not read
// the axis has the same metric at all values. If by names a way to divide jobs, each group has its own facets.
func facets(s plot.Setting, x Abscissa, m measure.Metric, by string) []facet {
	if by == "" {
		return facetsOf(s, x, m, "", "")
	}
	var out []facet
	for _, g := range analysis.GroupNames(s.Variants, by) {
		out = append(out, facetsOf(s, x, m, by, g)...)
	}
	return out
}

// facetsOf returns the facets of one group of jobs, or of all jobs if group is empty.
func facetsOf(s plot.Setting, x Abscissa, m measure.Metric, by, group string) []facet {
	var out []facet
	for _, v := range s.Variants {
		var parts, values []string
		if by != "" {
			parts, values = []string{plot.GroupTitle(by, group)}, []string{plot.GroupTitle(by, group)}
		}
		for _, a := range v.Axes {
			if a.Name != x.Name {
				parts, values = append(parts, a.Name+" "+a.Value), append(values, a.Value)
			}
		}
		title := strings.Join(parts, ", ")
		f := slices.IndexFunc(out, func(f facet) bool { return f.title == title })
		if f < 0 {
			f = len(out)
			out = append(out, facet{title: title, short: strings.Join(values, ", ")})
			if len(parts) > 0 {
				out[f].first = parts[0]
			}
		}
		l := slices.IndexFunc(out[f].lines, func(l line) bool { return l.policy == v.Policy })
		if l < 0 {
			l = len(out[f].lines)
			unknown := stats.Interval{Mean: math.NaN(), Low: math.NaN(), High: math.NaN()}
			out[f].lines = append(out[f].lines, line{v.Policy, slices.Repeat([]stats.Interval{unknown}, len(x.Values))})
		}
		at := analysis.MeanOf(m, plot.ValuesOf(v, m, by, group))
		text, read := ValueOf(v, x.Name)
		for i := range x.Values {
			if !read || x.Labels[i] == text {
				out[f].lines[l].intervals[i] = at
			}
		}
	}
	return out
}

// columnsOf returns the number of panels in a row. If possible, each value of the first other axis has its own row;
// otherwise there are three columns.
func columnsOf(all []facet) int {
	n := 0
	for n < len(all) && all[n].first == all[0].first {
		n++
	}
	if n >= 2 && n <= plot.MostColumns && len(all)%n == 0 {
		return n
	}
	return min(plot.MostColumns, len(all))
}

// multiples are panels with the same abscissa.
type multiples struct {
	kind    string
	bound   Limit
	x       Abscissa
	facets  []facet
	columns int
	// ordinate is the name of the quantity that all panels show; empty if each panel shows another.
	ordinate string
	// policies are the policies that may have a line, in the order of the lines.
	policies []string
	look     func(policy string) plot.Look
}

func (m multiples) figure(name, title, note string) plot.Figure {
	tall := 132.0
	if len(m.facets) == 1 {
		tall = 220 // the height of a panel that has the picture alone
	}
	policies := slices.DeleteFunc(slices.Clone(m.policies), func(p string) bool {
		return !slices.ContainsFunc(m.facets, func(f facet) bool {
			return slices.ContainsFunc(f.lines, func(l line) bool { return l.policy == p })
		})
	})
	labels, same := merged(m.facets, policies)
	var keys []canvas.Key
	var drawn []string
	for i, p := range policies {
		if labels[i] != "" {
			drawn = append(drawn, p)
			keys = append(keys, canvas.Key{Label: labels[i], Swatch: canvas.Stroked(m.look(p).Line()), Series: p})
		}
	}
	policies = drawn
	least := 0.0 // least upper end of all panels
	if stats.Finite(m.bound.At) {
		least = m.bound.At
		keys = append(keys, canvas.Key{Label: "bound", Swatch: canvas.Stroked(boundLine)})
	}
	rows := (len(m.facets) + m.columns - 1) / m.columns
	return plot.Figure{
		Picture: plot.Picture{Name: name, Kind: m.kind, Title: title,
			Caption: m.caption() + same + m.cutOff(policies) + note},
		Width: canvas.Width, Height: canvas.HeadHeight(keys) + float64(rows)*tall + plot.AxisName + canvas.Margin,
		Paint: func(c draw.Canvas) {
			c = canvas.Head(c, title, keys)
			if m.ordinate != "" {
				c = beside(c, m.ordinate)
			}
			top := least
			for _, f := range m.facets {
				top = max(top, f.top(policies))
			}
			for i, f := range m.facets {
				if m.ordinate == "" {
					top = max(least, f.top(policies))
				}
				m.panel(canvas.Tile(c, i, m.columns, tall, 4), f, policies, min(top, m.most(policies)))
			}
			st := canvas.Style(canvas.LabelSize, canvas.Ink, false)
			st.XAlign = -0.5
			c.FillText(st, vg.Point{X: (c.Min.X + c.Max.X) / 2, Y: c.Min.Y + 2}, m.x.title())
		},
	}
}

// most returns the value at which the panels end.
func (m multiples) most(policies []string) float64 {
	if !m.bound.Upper {
		return math.Inf(1)
	}
	lowest := math.Inf(1)
	for _, f := range m.facets {
		for _, l := range f.lines {
			for _, i := range l.intervals {
				if stats.Finite(i.Mean) && slices.Contains(policies, l.policy) {
					lowest = min(lowest, i.Mean)
				}
			}
		}
	}
	return max(cut*m.bound.At, cut*lowest)
}

// cutOff returns a sentence with the value at which the panels are cut off; "" if all values are shown.
func (m multiples) cutOff(policies []string) string {
	if slices.ContainsFunc(m.facets, func(f facet) bool { return f.top(policies) > m.most(policies) }) {
		return " The picture is cut off above " + table.Number(m.most(policies)) + "."
	}
	return ""
}

// beside draws a name vertically at the left edge of a canvas, and returns the canvas to the right of it.
func beside(c draw.Canvas, name string) draw.Canvas {
	st := canvas.Style(canvas.LabelSize, canvas.Ink, false)
	st.Rotation, st.XAlign, st.YAlign = math.Pi/2, -0.5, -1
	c.FillText(st, vg.Point{X: c.Min.X, Y: (c.Min.Y + c.Max.Y) / 2}, name)
	return draw.Crop(c, canvas.LabelSize+6, 0, 0, 0)
}

// caption returns sentences that explain the lines.
func (m multiples) caption() string {
	for _, f := range m.facets {
		for _, l := range f.lines {
			if slices.ContainsFunc(l.intervals, func(i stats.Interval) bool { return stats.Finite(i.Low) && i.High > i.Low }) {
				return "Means over the replicates with 95% confidence intervals (t), one line for each policy."
			}
		}
	}
	return "One line for each policy; there is no interval, since each point is one replicate or all replicates agree."
}

// merged returns the labels of the policies' lines. Lines that coincide in all panels have one label, and the note
// names them.
func merged(facets []facet, policies []string) (labels []string, note string) {
	return plot.Merged(policies, func(i, k int) bool {
		return !slices.ContainsFunc(facets, func(f facet) bool { return !f.coincide(policies[i], policies[k], policies) })
	})
}

// coincide reports whether two policies have equal means at all values, as far as can be seen.
func (f facet) coincide(p, q string, policies []string) bool {
	of := func(policy string) []stats.Interval {
		i := slices.IndexFunc(f.lines, func(l line) bool { return l.policy == policy })
		if i < 0 {
			return nil
		}
		return f.lines[i].intervals
	}
	a, b := of(p), of(q)
	const invisible = 1e-3 // in parts of the panel's height
	top := f.top(policies)
	return len(a) == len(b) && len(a) > 0 && !slices.ContainsFunc(a,
		func(i stats.Interval) bool { return !stats.Finite(i.Mean) }) &&
		slices.EqualFunc(a, b, func(x, y stats.Interval) bool { return math.Abs(x.Mean-y.Mean) <= invisible*top })
}

// top returns the greatest value of the given policies in the panel.
func (f facet) top(policies []string) float64 {
	top := 0.0
	for _, l := range f.lines {
		if !slices.Contains(policies, l.policy) {
			continue
		}
		for _, iv := range l.intervals {
			for _, v := range []float64{iv.Mean, iv.High} {
				if stats.Finite(v) {
					top = max(top, v)
				}
			}
		}
	}
	return top
}

// title returns the name of the abscissa, with its unit.
func (x Abscissa) title() string {
	if x.logarithmic() {
		return x.Name + " (logarithmic)"
	}
	return x.Name
}

// panel draws one facet.
func (m multiples) panel(c draw.Canvas, f facet, policies []string, top float64) {
	st := canvas.Style(canvas.TickSize, canvas.Ink, false)
	st.YAlign = -1
	title, room := f.title, c.Size().X.Points()-6
	if f.short != "" && canvas.TextWidth(title, canvas.TickSize) > room {
		title = f.short
	}
	c.FillText(st, vg.Point{X: c.Min.X + 4, Y: c.Max.Y}, canvas.Fit(title, room, canvas.TickSize))
	p := canvas.NewPlot()
	lo, hi := m.x.Values[0], m.x.Values[len(m.x.Values)-1]
	if m.x.logarithmic() {
		p.X.Scale = gonum.LogScale{}
		p.X.Min, p.X.Max = lo/math.Pow(hi/lo, 0.06), hi*math.Pow(hi/lo, 0.06)
	} else {
		p.X.Min, p.X.Max = lo-0.06*(hi-lo), hi+0.06*(hi-lo)
	}
	p.X.Tick.Marker = m.x.Ticks(c.Size().X.Points() - 40)
	p.Y.Min, p.Y.Max = canvas.Nice{Room: 150}.Cover(0, cmp.Or(top, 1))
	p.Y.Tick.Marker = canvas.Nice{Room: 150}
	p.Add(canvas.Grid{Vertical: false, Horizontal: true}, seriesLines{m.x.Values, f.lines, policies, m.look, m.bound.At})
	p.Draw(draw.Crop(c, 0, -4, 0, -13))
}

// logarithmic reports whether the values span a range that needs a logarithmic axis.
func (x Abscissa) logarithmic() bool {
	lo, hi := x.Values[0], x.Values[len(x.Values)-1]
	return lo > 0 && hi/lo >= 8
}

// Ticks returns ticks at the values, at as many as fit. room is the length of the axis in points.
func (x Abscissa) Ticks(room float64) gonum.ConstantTicks {
	wide := 0.0
	for _, l := range x.Labels {
		wide = max(wide, canvas.TextWidth(l, canvas.TickSize)+6)
	}
	step := 1 + int(wide*float64(len(x.Values))/room)
	var out gonum.ConstantTicks
	for i := 0; i < len(x.Values); i += step {
		out = append(out, gonum.Tick{Value: x.Values[i], Label: x.Labels[i]})
	}
	return canvas.Apart(out, room, x.part)
}

// part returns the place of a value between the first and the last value, from 0 to 1.
func (x Abscissa) part(v float64) float64 {
	lo, hi := x.Values[0], x.Values[len(x.Values)-1]
	if x.logarithmic() {
		return math.Log(v/lo) / math.Log(hi/lo)
	}
	return (v - lo) / (hi - lo)
}

// seriesLines draws the lines of a panel, with their intervals.
type seriesLines struct {
	x        []float64
	lines    []line
	policies []string
	look     func(policy string) plot.Look
	bound    float64
}

var boundLine = draw.LineStyle{Color: canvas.Quiet, Width: 1, Dashes: []vg.Length{2, 2}}

// Plot implements plot.Plotter.
func (s seriesLines) Plot(c draw.Canvas, p *gonum.Plot) {
	if _, y := p.Transforms(&c); stats.Finite(s.bound) {
		c.StrokeLine2(boundLine, c.Min.X, y(s.bound), c.Max.X, y(s.bound))
	}
	for _, l := range s.lines {
		i := slices.Index(s.policies, l.policy)
		if i < 0 {
			continue
		}
		canvas.Series(c, l.policy, func() { s.line(c, p, l, i) })
	}
}

// line draws line i.
func (s seriesLines) line(c draw.Canvas, p *gonum.Plot, l line, i int) {
	x, y := p.Transforms(&c)
	// intervals are moved sideways, so that they do not hide each other
	aside := 1.6 * (vg.Length(i) - vg.Length(len(s.policies)-1)/2)
	var path []vg.Point
	for k, iv := range l.intervals {
		if !stats.Finite(iv.Mean) {
			continue
		}
		at := vg.Point{X: x(s.x[k]) + aside, Y: y(iv.Mean)}
		path = append(path, at)
	}
	look := s.look(l.policy)
	lines := [][]vg.Point{path}
	if slices.ContainsFunc(path, func(at vg.Point) bool { return at.Y > c.Max.Y }) {
		lines = c.ClipLinesY(path)
	}
	c.StrokeLines(look.Line(), lines...)
	for _, at := range path {
		if at.Y > c.Max.Y {
			continue
		}
		c.DrawGlyph(draw.GlyphStyle{Color: look.Ink(), Radius: 2.2, Shape: draw.CircleGlyph{}}, at)
	}
	for k, iv := range l.intervals {
		if stats.Finite(iv.Low) && stats.Finite(iv.High) && y(iv.Low) < c.Max.Y {
			canvas.Interval(c, look.Ink(), x(s.x[k])+aside, y(max(iv.Low, 0)), min(y(iv.High), c.Max.Y))
		}
	}
}
