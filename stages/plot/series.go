package plot

import (
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/stages/plot/canvas"
)

// Series is the name of this kind of picture.
const Series = "series"

var _ = Register(Kind{
	PictureKind: table.PictureKind{
		Rank: 40, Name: Series,
		Doc: "metrics against a numeric axis of the matrix, one line for each policy",
		Args: []schema.Arg{
			{Name: "metric", Type: schema.String, DefaultDoc: "those that the experiment compares, and the chief ones",
				Example: `"mean_waiting"`},
			{Name: "x", Type: schema.String, DefaultDoc: "the first axis whose values are numbers or durations",
				Example: `"quantum"`},
			{Name: "by", Type: schema.String, DefaultDoc: "all jobs together", Example: `"class"`},
		},
	},
	Draw: func(d *Data, a Ask) ([]Figure, error) { return d.series(Series, a.Metric, a.X, a.By, unbounded) },
})

// mostFacets bounds the panels of one picture of series.
const mostFacets = 12

// abscissa is the axis of the matrix that a series is drawn against.
type abscissa struct {
	name   string
	values []float64 // distinct, ascending
	labels []string  // of values, as the file writes them
}

// line is one policy over an abscissa: an interval for each of its values.
type line struct {
	policy    string
	intervals []stats.Interval
}

// facet is a panel: the variants that agree on all other axes.
type facet struct {
	title string
	short string // the title without the names of axes, for narrow panels
	first string // the value of the first of the axes in the title
	lines []line
}

// limit is the bound of a metric; upper is set for the largest allowed value.
type limit struct {
	at    float64 // NaN for none
	upper bool
}

var unbounded = limit{at: math.NaN()}

// per is the limit in a unit.
func (l limit) per(u table.Unit) limit { return limit{l.at / u.Per, l.upper} }

// cut is the value from which on a picture is cut off, so that the values near an upper limit can be seen.
const cut = 5

// Bounded draws a metric against an axis, with a line at its bound; upper is set for the largest allowed value.
func (d *Data) Bounded(kind, metric, axis string, at float64, upper bool) ([]Figure, error) {
	bound := limit{at, upper}
	return d.series(kind, metric, axis, "", bound)
}

// series draws metrics against a numeric axis, one line for each policy. Other axes
// make small multiples: one picture for each metric, a panel for each combination of
// their values, and of each group of jobs if by names a way to divide them. Without either, each metric has a panel of
// one picture.
func (d *Data) series(kind, metric, axis, by string, bound limit) ([]Figure, error) {
	others := d.chief(measure.InSeries)
	if by != "" {
		others = []measure.Metric{measure.MeanJCT}
	}
	metrics, err := metricsOr(metric, others)
	if err != nil {
		return nil, err
	}
	var out []Figure
	for _, s := range d.settings() {
		x, ok := d.abscissa(s, axis)
		if !ok {
			if axis != "" {
				out = append(out, Skipped(kind, kind+"-"+axis+d.suffix(s), "Metrics by "+axis+d.place(s),
					"the axis has fewer than two values that are numbers")...)
			}
			continue // most experiments have no such axis, without a note
		}
		var panels [][]facet // by metric
		for _, m := range metrics {
			panels = append(panels, facets(s, x, m, by))
		}
		name, over := kind+"-"+x.name, " by "+x.name+d.place(s)
		if by != "" {
			name, over = name+"-"+by, " by "+x.name+" and "+by+d.place(s)
			if len(panels[0]) == 0 {
				out = append(out, Skipped(kind, name+d.suffix(s), capital(metrics[0].Title)+over, "all jobs are of one "+by)...)
				continue
			}
		}
		best, chosen := analysis.BestPolicies(d.Plan, s.variants, mostLines)
		if len(panels[0]) == 1 && by == "" {
			one := multiples{kind: kind, x: x, policies: best, look: d.policyLook, columns: d.columns(min(2, len(metrics)))}
			for i, m := range metrics {
				f := panels[i][0]
				u := unitOf(m, s.variants)
				f.in(u)
				f.title, one.bound = u.Label(m.Title), bound.per(u)
				one.facets = append(one.facets, f)
			}
			if metric != "" {
				name += "-" + metric
			}
			title := "Metrics" + over
			if len(metrics) == 1 {
				title = capital(metrics[0].Title) + over
			}
			out = append(out, one.figure(name+d.suffix(s), title, chosen))
			continue
		}
		for i, m := range metrics {
			all, u := panels[i], unitOf(m, s.variants)
			for k := range all {
				all[k].in(u)
			}
			many := multiples{
				kind: kind, bound: bound.per(u), x: x, policies: best, look: d.policyLook,
				facets: all[:min(len(all), mostFacets)], columns: d.columns(columnsOf(all)),
				ordinate: u.Label(m.Title),
			}
			out = append(out, many.figure(name+"-"+m.Name+d.suffix(s), capital(u.Label(m.Title))+over,
				chosen+SomeOf(mostFacets, len(all), "panel")))
		}
	}
	return out, nil
}

// unitOf is the unit in which a picture shows a metric of variants.
func unitOf(m measure.Metric, variants []analysis.Variant) table.Unit {
	var means []float64
	for _, v := range variants {
		means = append(means, stats.MeanInterval(v.Values(m), analysis.DefaultLevel).Mean)
	}
	return table.UnitFor(m.Unit, means...)
}

// inUnit is an interval in a unit.
func inUnit(i stats.Interval, u table.Unit) stats.Interval {
	i.Mean, i.Low, i.High = i.Mean/u.Per, i.Low/u.Per, i.High/u.Per
	return i
}

// in shows a facet in a unit.
func (f *facet) in(u table.Unit) {
	for _, l := range f.lines {
		for k, i := range l.intervals {
			l.intervals[k] = inUnit(i, u)
		}
	}
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// abscissa finds the axis, or the first one with at least two numbers; false
// without one.
func (d *Data) abscissa(s setting, axis string) (abscissa, bool) {
	for _, name := range d.Plan.Axes {
		if axis != "" && name != axis {
			continue
		}
		x := abscissa{name: name}
		numeric := true
		for _, v := range s.variants {
			text, read := valueOf(v, name)
			if !read {
				continue
			}
			value, ok := schema.AxisNumber(text)
			numeric = numeric && ok
			if ok && !slices.Contains(x.values, value) {
				i, _ := slices.BinarySearch(x.values, value)
				x.values, x.labels = slices.Insert(x.values, i, value), slices.Insert(x.labels, i, text)
			}
		}
		if numeric && len(x.values) >= 2 {
			return x, true
		}
	}
	return abscissa{}, false
}

func valueOf(v analysis.Variant, axis string) (string, bool) {
	for _, a := range v.Axes {
		if a.Name == axis {
			return a.Value, true
		}
	}
	return "", false
}

// facets groups the variants by their other axes, in the order of the plan. A
// policy that does not read the axis is the same all along it. With a way to divide jobs, each group has its own.
func facets(s setting, x abscissa, m measure.Metric, by string) []facet {
	if by == "" {
		return facetsOf(s, x, m, "", "")
	}
	var out []facet
	for _, g := range analysis.GroupNames(s.variants, by) {
		out = append(out, facetsOf(s, x, m, by, g)...)
	}
	return out
}

// facetsOf are the facets of a group of jobs, or of all.
func facetsOf(s setting, x abscissa, m measure.Metric, by, group string) []facet {
	var out []facet
	for _, v := range s.variants {
		var parts, values []string
		if by != "" {
			parts, values = []string{analysis.GroupName(by, group)}, []string{analysis.GroupName(by, group)}
		}
		for _, a := range v.Axes {
			if a.Name != x.name {
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
			out[f].lines = append(out[f].lines, line{v.Policy, slices.Repeat([]stats.Interval{unknown}, len(x.values))})
		}
		at := analysis.MeanOf(m, valuesOf(v, m, by, group))
		text, read := valueOf(v, x.name)
		for i := range x.values {
			if !read || x.labels[i] == text {
				out[f].lines[l].intervals[i] = at
			}
		}
	}
	return out
}

// columns is the number of columns for n panels.
func (d *Data) columns(n int) int {
	for n > 1 && d.width/float64(n) < leastFacet {
		n--
	}
	return n
}

// leastFacet is the least width of a panel, in points: a column of 84 mm has room for two.
const leastFacet = 125.0

// columnsOf makes a row of panels for each value of the first of the other
// axes, if they fill all rows; else three columns.
func columnsOf(all []facet) int {
	n := 0
	for n < len(all) && all[n].first == all[0].first {
		n++
	}
	if n >= 2 && n <= mostColumns && len(all)%n == 0 {
		return n
	}
	return min(mostColumns, len(all))
}

// multiples are panels over the same abscissa.
type multiples struct {
	kind    string
	bound   limit
	x       abscissa
	facets  []facet
	columns int
	// ordinate names the common quantity of all panels; empty when each has its own, and names it.
	ordinate string
	// policies may have a line, in this order
	policies []string
	look     func(policy string) look
}

func (m multiples) figure(name, title, note string) Figure {
	tall := 132.0
	if len(m.facets) == 1 {
		tall = 220 // it has the picture for itself
	}
	policies := slices.DeleteFunc(slices.Clone(m.policies), func(p string) bool {
		return !slices.ContainsFunc(m.facets, func(f facet) bool {
			return slices.ContainsFunc(f.lines, func(l line) bool { return l.policy == p })
		})
	})
	var keys []canvas.Key
	for _, p := range policies {
		keys = append(keys, canvas.Key{Label: p, Swatch: canvas.Stroked(m.look(p).line()), Series: p})
	}
	least := 0.0 // of the top of each panel
	if known(m.bound.at) {
		least = m.bound.at
		keys = append(keys, canvas.Key{Label: "bound", Swatch: canvas.Stroked(boundLine)})
	}
	rows := (len(m.facets) + m.columns - 1) / m.columns
	return Figure{
		Picture: Picture{Name: name, Kind: m.kind, Title: title,
			Caption: m.caption() + coinciding(m.facets, policies) + m.cutOff(policies) + note},
		Width: canvas.Width, Height: canvas.HeadHeight(keys) + float64(rows)*tall + axisName + canvas.Margin,
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

// most is where the panels are cut off above.
func (m multiples) most(policies []string) float64 {
	if !m.bound.upper {
		return math.Inf(1)
	}
	lowest := math.Inf(1)
	for _, f := range m.facets {
		for _, l := range f.lines {
			for _, i := range l.intervals {
				if known(i.Mean) && slices.Contains(policies, l.policy) {
					lowest = min(lowest, i.Mean)
				}
			}
		}
	}
	return max(cut*m.bound.at, cut*lowest)
}

// cutOff says that panels are cut off; "" if none is.
func (m multiples) cutOff(policies []string) string {
	if slices.ContainsFunc(m.facets, func(f facet) bool { return f.top(policies) > m.most(policies) }) {
		return " The picture is cut off above " + table.Number(m.most(policies)) + "."
	}
	return ""
}

// beside writes a name from bottom to top at the left of a canvas, and returns the rest of it.
func beside(c draw.Canvas, name string) draw.Canvas {
	st := canvas.Style(canvas.LabelSize, canvas.Ink, false)
	st.Rotation, st.XAlign, st.YAlign = math.Pi/2, -0.5, -1
	c.FillText(st, vg.Point{X: c.Min.X, Y: (c.Min.Y + c.Max.Y) / 2}, name)
	return draw.Crop(c, canvas.LabelSize+6, 0, 0, 0)
}

// caption explains the lines.
func (m multiples) caption() string {
	for _, f := range m.facets {
		for _, l := range f.lines {
			if slices.ContainsFunc(l.intervals, func(i stats.Interval) bool { return known(i.Low) && i.High > i.Low }) {
				return "Means over the replicates with 95% confidence intervals (t), one line for each policy."
			}
		}
	}
	return "One line for each policy; there is no interval, since each point is one replicate or all replicates agree."
}

// coinciding names the lines that coincide in every panel, and so look like one.
func coinciding(facets []facet, policies []string) string {
	return lying(policies, func(i, k int) bool {
		return !slices.ContainsFunc(facets, func(f facet) bool { return !f.coincide(policies[i], policies[k], policies) })
	})
}

// lying describes the lines that coincide with earlier ones.
func lying(names []string, on func(i, k int) bool) string {
	var same []string
	for i := range names {
		for k := range i {
			if on(i, k) {
				same = append(same, names[i]+" lies on "+names[k])
				break
			}
		}
	}
	if len(same) == 0 {
		return ""
	}
	return " The line of " + strings.Join(same, ", that of ") + "."
}

// coincide reports whether two of the policies that are drawn have the same means at all values.
func (f facet) coincide(p, q string, policies []string) bool {
	of := func(policy string) []stats.Interval {
		i := slices.IndexFunc(f.lines, func(l line) bool { return l.policy == policy })
		if i < 0 {
			return nil
		}
		return f.lines[i].intervals
	}
	a, b := of(p), of(q)
	const invisible = 1e-3 // of the panel's height
	top := f.top(policies)
	return len(a) == len(b) && len(a) > 0 && !slices.ContainsFunc(a,
		func(i stats.Interval) bool { return !known(i.Mean) }) &&
		slices.EqualFunc(a, b, func(x, y stats.Interval) bool { return math.Abs(x.Mean-y.Mean) <= invisible*top })
}

// top is the largest value that is drawn of policies.
func (f facet) top(policies []string) float64 {
	top := 0.0
	for _, l := range f.lines {
		if !slices.Contains(policies, l.policy) {
			continue
		}
		for _, iv := range l.intervals {
			for _, v := range []float64{iv.Mean, iv.High} {
				if known(v) {
					top = max(top, v)
				}
			}
		}
	}
	return top
}

// title names the abscissa.
func (x abscissa) title() string {
	if x.logarithmic() {
		return x.name + " (logarithmic)"
	}
	return x.name
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
	lo, hi := m.x.values[0], m.x.values[len(m.x.values)-1]
	if m.x.logarithmic() {
		p.X.Scale = plot.LogScale{}
		p.X.Min, p.X.Max = lo/math.Pow(hi/lo, 0.06), hi*math.Pow(hi/lo, 0.06)
	} else {
		p.X.Min, p.X.Max = lo-0.06*(hi-lo), hi+0.06*(hi-lo)
	}
	p.X.Tick.Marker = m.x.ticks(c.Size().X.Points() - 40)
	p.Y.Min, p.Y.Max = 0, max(top*1.05, 1e-9)
	p.Y.Tick.Marker = canvas.Nice{Room: 150}
	p.Add(canvas.Grid{Vertical: false, Horizontal: true}, seriesLines{m.x.values, f.lines, policies, m.look, m.bound.at})
	p.Draw(draw.Crop(c, 0, -4, 0, -13))
}

// logarithmic reports whether the values span a range wide enough for a logarithmic axis.
func (x abscissa) logarithmic() bool {
	lo, hi := x.values[0], x.values[len(x.values)-1]
	return lo > 0 && hi/lo >= 8
}

// ticks are at the values themselves, as many as have room.
func (x abscissa) ticks(room float64) plot.ConstantTicks {
	wide := 0.0
	for _, l := range x.labels {
		wide = max(wide, canvas.TextWidth(l, canvas.TickSize)+6)
	}
	step := 1 + int(wide*float64(len(x.values))/room)
	var out plot.ConstantTicks
	for i := 0; i < len(x.values); i += step {
		out = append(out, plot.Tick{Value: x.values[i], Label: x.labels[i]})
	}
	return canvas.Apart(out, room, x.part)
}

// part is the place of a value between the first and the last, from 0 to 1.
func (x abscissa) part(v float64) float64 {
	lo, hi := x.values[0], x.values[len(x.values)-1]
	if x.logarithmic() {
		return math.Log(v/lo) / math.Log(hi/lo)
	}
	return (v - lo) / (hi - lo)
}

// seriesLines draws the lines of a panel with their intervals.
type seriesLines struct {
	x        []float64
	lines    []line
	policies []string
	look     func(policy string) look
	bound    float64
}

var boundLine = draw.LineStyle{Color: canvas.Quiet, Width: 1, Dashes: []vg.Length{2, 2}}

// Plot implements plot.Plotter.
func (s seriesLines) Plot(c draw.Canvas, p *plot.Plot) {
	if _, y := p.Transforms(&c); known(s.bound) {
		c.StrokeLine2(boundLine, c.Min.X, y(s.bound), c.Max.X, y(s.bound))
	}
	for _, l := range s.lines {
		i := index(s.policies, l.policy)
		if i < 0 {
			continue
		}
		canvas.Series(c, l.policy, func() { s.line(c, p, l, i) })
	}
}

// line draws the i-th line.
func (s seriesLines) line(c draw.Canvas, p *plot.Plot, l line, i int) {
	x, y := p.Transforms(&c)
	aside := 1.6 * (vg.Length(i) - vg.Length(len(s.policies)-1)/2) // so that intervals do not hide each other
	var path []vg.Point
	for k, iv := range l.intervals {
		if !known(iv.Mean) {
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
	c.StrokeLines(look.line(), lines...)
	for _, at := range path {
		if at.Y > c.Max.Y {
			continue
		}
		c.DrawGlyph(draw.GlyphStyle{Color: look.ink(), Radius: 2.2, Shape: draw.CircleGlyph{}}, at)
	}
	for k, iv := range l.intervals {
		if known(iv.Low) && known(iv.High) && y(iv.Low) < c.Max.Y {
			canvas.Interval(c, look.ink(), x(s.x[k])+aside, y(max(iv.Low, 0)), min(y(iv.High), c.Max.Y))
		}
	}
}
