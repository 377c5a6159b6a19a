package plot

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/stages/plot/canvas"
)

// Metrics is the name of the picture of metrics.
const Metrics = "metrics"

var _ = Register(Kind{
	PictureKind: table.PictureKind{
		Rank: 30, Name: Metrics,
		Doc: "metrics with their intervals",
		Args: []schema.Arg{
			{Name: "metric", Type: schema.String, DefaultDoc: "the metrics that the experiment compares, and the main ones",
				Example: `"mean_waiting"`},
			{Name: "by", Type: schema.String, DefaultDoc: "all jobs together", Example: `"class"`},
		},
	},
	Draw: func(d *Data, a Ask) ([]Figure, error) { return d.metrics(a.Metric, a.By) },
})

// mostRows is the greatest number of variants in a picture.
const mostRows = 12

// panel shows one metric of several variants.
type panel struct {
	measure.Metric
	names     []string // of the variants
	inks      []color.NRGBA
	intervals []stats.Interval
	values    [][]float64
	lo, hi    float64
	base      float64 // value at which a line marks the baseline; NaN for no line
}

// metrics draws, for each workload and hardware, the means of metrics with their intervals, and a dot for each
// replicate. If by names a way to divide jobs, it draws one metric, with a panel for each group of jobs.
func (d *Data) metrics(metric, by string) ([]Figure, error) {
	title := "Metrics by policy"
	others := d.Chief(measure.InPanels)
	if by != "" {
		others = []measure.Metric{measure.MeanJCT}
	}
	metrics, err := MetricsOr(metric, others)
	if err != nil {
		return nil, err
	}
	file := "metrics"
	if metric != "" {
		file = "metrics-" + metric
	}
	if by != "" {
		file, title = "metrics-"+metrics[0].Name+"-"+by, Capital(metrics[0].Title)+" by policy and "+by
	}
	var out []Figure
	for _, s := range d.Settings() {
		shown, chosen := analysis.BestOfEach(d.Plan, s.Variants, mostRows)
		inks := make([]color.NRGBA, len(shown))
		for i, v := range shown {
			inks[i] = canvas.Hue(d.look(v.Policy, v.Label).hue)
		}
		var panels []panel
		groups := []string{""}
		if by != "" {
			groups = analysis.GroupNames(shown, by)
		}
		for _, m := range metrics {
			u := UnitOf(m, shown)
			for _, g := range groups {
				if p, ok := newPanel(m, by, g, shown); ok {
					p.inks = inks
					p.in(u)
					panels = append(panels, p)
				}
			}
		}
		panels, same := constant(panels, by)
		differ := len(panels)
		panels = panels[:min(differ, MostFacets)]
		name, t := file+d.Suffix(s), title+d.Where(s)
		if len(panels) == 0 {
			reason := "the metrics are not known in any cell"
			if by != "" {
				reason = "all jobs are of one " + by
			}
			out = append(out, Skipped(Metrics, name, t, reason)...)
			continue
		}
		shareScales(panels, by)
		caption := "Means over the replicates with 95% confidence intervals (t); each pale dot is one replicate."
		if d.Plan.Replicates == 1 {
			caption = "One replicate: a dot for each policy, without an interval."
		}
		caption += chosen + SomeOf(MostFacets, differ, by) + same
		axis := ""
		if by != "" {
			axis = UnitOf(metrics[0], shown).Label(metrics[0].Title)
		}
		out = append(out, d.metricsFigure(Metrics, name, t, caption, axis, shown, panels))
	}
	if len(out) == 0 {
		return Skipped(Metrics, file, title, "no cell is complete yet"), nil
	}
	return out, nil
}

// Chief returns the default metrics of a picture: the compared metrics whose values are known, and the most common
// ones.
func (d *Data) Chief(place func(measure.Shown) int) []measure.Metric {
	list := slices.DeleteFunc(analysis.Compared(d.Plan), func(m measure.Metric) bool {
		return !slices.ContainsFunc(d.Cells, func(c record.Cell) bool { return stats.Finite(m.Of(&c.Metrics)) })
	})
	for _, m := range measure.ShownIn(place) {
		if !slices.ContainsFunc(list, func(o measure.Metric) bool { return o.Name == m.Name }) {
			list = append(list, m)
		}
	}
	return list
}

// MetricsOr returns the metric with the given name; if the name is empty, it returns others.
func MetricsOr(name string, others []measure.Metric) ([]measure.Metric, error) {
	if name == "" {
		return others, nil
	}
	m, ok := measure.MetricByName(name)
	if !ok {
		return nil, fmt.Errorf("there is no metric %q", name)
	}
	return []measure.Metric{m}, nil
}

// newPanel returns a panel of a metric, for a group of jobs or for all jobs. It returns false if no cell has a value.
func newPanel(m measure.Metric, by, group string, variants []analysis.Variant) (panel, bool) {
	p := panel{Metric: m, lo: math.Inf(1), hi: math.Inf(-1), base: math.NaN()}
	if by != "" {
		p.Title, p.Unit = GroupTitle(by, group), "" // the axis has the metric's name
	}
	for _, v := range variants {
		values := ValuesOf(v, m, by, group)
		i := analysis.MeanOf(m, values)
		p.names, p.values, p.intervals = append(p.names, v.Label), append(p.values, values), append(p.intervals, i)
		for _, x := range append([]float64{i.Mean, i.Low, i.High}, values...) {
			if stats.Finite(x) {
				p.lo, p.hi = min(p.lo, x), max(p.hi, x)
			}
		}
	}
	return p, p.hi >= p.lo
}

// GroupTitle returns the title of the panel of a group of jobs.
func GroupTitle(by, group string) string {
	if group != measure.Others {
		return analysis.GroupName(by, group)
	}
	if strings.HasSuffix(by, "s") {
		by += "e"
	}
	return "all other " + by + "s"
}

// in converts the values of a panel to a unit.
func (p *panel) in(u table.Unit) {
	if p.Unit != "" {
		p.Unit = u.Name
	}
	p.lo, p.hi = p.lo/u.Per, p.hi/u.Per
	for i, values := range p.values {
		p.intervals[i] = InUnit(p.intervals[i], u)
		p.values[i] = slices.Clone(values)
		for k := range values {
			p.values[i][k] /= u.Per
		}
	}
}

// constant removes panels with equal values in all rows, and returns a sentence that names them. If all panels are like
// this, it keeps them.
func constant(panels []panel, by string) (differ []panel, same string) {
	var names []string
	for _, p := range panels {
		if p.hi == p.lo && len(p.names) > 1 {
			names = append(names, strings.TrimSpace(p.Title+" "+table.Number(p.lo)+" "+p.Unit))
		} else {
			differ = append(differ, p)
		}
	}
	if len(differ) == 0 || len(names) == 0 {
		return panels, ""
	}
	if by != "" && len(names) > 3 {
		return differ, fmt.Sprintf(" Not shown: %d with the same value in all rows.", len(names))
	}
	return differ, " The same in all rows: " + table.Listed(names) + "."
}

// shareScales gives panels with the same unit the same scale, if each of them then fills at least a quarter of it.
// Without a unit, only panels of groups share a scale.
func shareScales(panels []panel, by string) {
	var order []*panel
	for i := range panels {
		if panels[i].Unit != "" || by != "" {
			order = append(order, &panels[i])
		}
	}
	slices.SortStableFunc(order, func(a, b *panel) int { return cmp.Compare(b.hi, a.hi) })
	most := map[string]float64{} // upper end of the shared scale, by unit
	for _, p := range order {
		if p.hi < most[p.Unit]/4 || most[p.Unit] == 0 {
			most[p.Unit] = p.hi
		}
		p.hi = max(p.hi, most[p.Unit])
	}
}

// UnitOf returns the unit in which a picture shows a metric of the variants.
func UnitOf(m measure.Metric, variants []analysis.Variant) table.Unit {
	var means []float64
	for _, v := range variants {
		means = append(means, stats.MeanInterval(v.Values(m), analysis.DefaultLevel).Mean)
	}
	return table.UnitFor(m.Unit, means...)
}

// InUnit converts an interval to a unit.
func InUnit(i stats.Interval, u table.Unit) stats.Interval {
	i.Mean, i.Low, i.High = i.Mean/u.Per, i.Low/u.Per, i.High/u.Per
	return i
}

// Capital returns a text whose first letter is a capital.
func Capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// ValuesOf returns the values of a metric in the cells of a variant, for a group of jobs or for all jobs.
func ValuesOf(v analysis.Variant, m measure.Metric, by, group string) []float64 {
	if by == "" {
		return v.Values(m)
	}
	return v.GroupValues(m, by, group)
}

const (
	panelRow    = 17.0
	panelExtras = 46.0 // height of the title and the axis
	leastPanel  = 90.0 // least width, in points
	panelGap    = 12.0 // between panels, in points
)

// AxisName is the height of the name of an axis that all panels have in common.
const AxisName = canvas.LabelSize + 6

// metricsFigure returns a picture with a panel for each metric, or for each group of jobs. In the second case, axis is
// the name of the metric, drawn below the panels.
func (d *Data) metricsFigure(
	kind, name, title, caption, axis string, variants []analysis.Variant, panels []panel,
) Figure {
	columns := min(MostColumns, len(panels))
	if len(panels) == 4 {
		columns = 2
	}
	names, room := rowNames(variants)
	labels := room + 8
	if labels > 100 && columns == MostColumns {
		columns--
	}
	least := leastPanel
	for _, p := range panels {
		least = max(least, canvas.TextWidth(p.label(), canvas.SmallSize)+panelGap)
	}
	for columns > 1 && (d.width-labels)/float64(columns) < least {
		columns--
	}
	rows := (len(panels) + columns - 1) / columns
	tall := panelRow*float64(len(variants)) + 10 + panelExtras
	high := canvas.HeadHeight(nil) + float64(rows)*tall + canvas.Margin
	if axis != "" {
		high += AxisName
	}
	return Figure{
		Picture: Picture{Name: name, Kind: kind, Title: title, Caption: caption},
		Width:   canvas.Width, Height: high,
		Paint: func(c draw.Canvas) {
			c = canvas.Head(c, title, nil)
			st := canvas.Style(canvas.LabelSize, canvas.Ink, false)
			st.XAlign = -0.5
			middle := (c.Min.X + vg.Length(labels) + c.Max.X) / 2
			c.FillText(st, vg.Point{X: middle, Y: c.Max.Y - vg.Length(float64(rows)*tall) - canvas.LabelSize/2}, axis)
			tile := func(i int) draw.Canvas {
				return canvas.Tile(draw.Crop(c, vg.Length(labels)+6, 6, 0, 0), i, columns, tall, panelGap)
			}
			size := canvas.LabelSize // font size of the panels' titles
			for i, p := range panels {
				for size > canvas.SmallSize && canvas.TextWidth(p.label(), size) > tile(i).Size().X.Points() {
					size -= 0.5
				}
			}
			for i, p := range panels {
				box := tile(i)
				p.paint(box, size)
				if i%columns == 0 {
					rowLabels(c, names, labels, box)
				}
			}
		},
	}
}

// mostLabel is the greatest width of the names of rows, in points.
const mostLabel = 190.0

// rowNames returns the labels of the variants, and their width. If they are too wide, they have only the values of
// axes, without the names of the axes.
func rowNames(variants []analysis.Variant) (names []string, room float64) {
	for _, v := range variants {
		names = append(names, v.Label)
		room = max(room, canvas.TextWidth(v.Label, canvas.TickSize))
	}
	if room <= mostLabel {
		return names, room
	}
	room = 0
	for i, v := range variants {
		names[i] = v.Policy
		for _, a := range v.Axes {
			names[i] += " " + a.Value
		}
		room = max(room, canvas.TextWidth(names[i], canvas.TickSize))
	}
	return names, min(room, mostLabel)
}

// rowLabels draws the names of variants to the left of a row of panels.
func rowLabels(c draw.Canvas, names []string, room float64, box draw.Canvas) {
	st := canvas.Style(canvas.TickSize, canvas.Ink, false)
	st.YAlign, st.XAlign = -0.5, -1
	for i, name := range names {
		y := box.Max.Y - panelTitle - vg.Length(5+panelRow*(float64(i)+0.5)) + 3 // at the height of the mean; see row
		c.FillText(st, vg.Point{X: c.Min.X + vg.Length(room) - 4, Y: y}, canvas.Fit(name, room-6, canvas.TickSize))
	}
}

const panelTitle vg.Length = 15

// label returns the title of a panel with its unit.
func (p panel) label() string {
	if p.Unit == "" {
		return p.Title
	}
	return p.Title + " (" + p.Unit + ")"
}

// paint draws one panel: its title in the given font size, one row for each variant, and the axis below.
func (p panel) paint(c draw.Canvas, size float64) {
	st := canvas.Style(size, canvas.Ink, false)
	st.YAlign = -1
	c.FillText(st, vg.Point{X: c.Min.X, Y: c.Max.Y - 1}, canvas.Fit(p.label(), c.Size().X.Points(), size))
	n := float64(len(p.intervals))
	left, right := vg.Length(0), vg.Length(0)
	body := draw.Crop(c, left, right, vg.Length(panelExtras)-panelTitle, -panelTitle)
	lo, hi := p.lo, p.hi
	if lo >= 0 { // the axis begins at 0, so that ratios can be seen
		lo = 0
	}
	if hi <= lo {
		hi = lo + 1
	}
	axis := canvas.Nice{Room: body.Size().X.Points()}
	lo, hi = axis.Cover(lo, hi)
	x := func(v float64) vg.Length {
		return body.Min.X + vg.Length((v-lo)/(hi-lo))*body.Size().X
	}
	ticks := axis.Ticks(lo, hi)
	tick := canvas.Aligned(canvas.SmallSize+0.5, canvas.Ink, false, -0.5, -1)
	for _, t := range ticks {
		c.StrokeLine2(draw.LineStyle{Color: canvas.Rule, Width: 0.5}, x(t.Value), body.Min.Y, x(t.Value), body.Max.Y)
		// Labels at both ends stay within the panel, since the next panel has labels there.
		half := vg.Length(canvas.TextWidth(t.Label, canvas.SmallSize+0.5) / 2)
		at := max(body.Min.X-3+half, min(body.Max.X+3-half, x(t.Value)))
		c.FillText(tick, vg.Point{X: at, Y: body.Min.Y - 3}, t.Label)
	}
	c.StrokeLine2(draw.LineStyle{Color: canvas.Quiet, Width: 0.7}, body.Min.X, body.Min.Y, body.Max.X, body.Min.Y)
	if stats.Finite(p.base) {
		line := draw.LineStyle{Color: canvas.Quiet, Width: 1, Dashes: []vg.Length{3, 2}}
		c.StrokeLine2(line, x(p.base), body.Min.Y, x(p.base), body.Max.Y)
	}
	for i, iv := range p.intervals {
		y := body.Max.Y - 5 - vg.Length(panelRow*(float64(i)+0.5))
		if n > 1 && i > 0 {
			c.StrokeLine2(draw.LineStyle{Color: canvas.Faint, Width: 0.5}, body.Min.X, y+panelRow/2, body.Max.X, y+panelRow/2)
		}
		canvas.Series(c, p.names[i], func() { p.row(c, i, iv, x, y) })
	}
}

// row draws the replicates, the interval and the mean of one variant.
func (p panel) row(c draw.Canvas, i int, iv stats.Interval, x func(float64) vg.Length, y vg.Length) {
	ink := p.inks[i]
	for k, v := range p.values[i] {
		if stats.Finite(v) && k < 200 && len(p.values[i]) > 1 {
			c.DrawGlyphNoClip(draw.GlyphStyle{Color: canvas.Shade(ink, 0.6), Radius: 1.7, Shape: draw.CircleGlyph{}},
				vg.Point{X: x(v), Y: y - 5})
		}
	}
	if stats.Finite(iv.Mean) {
		c.DrawGlyphNoClip(draw.GlyphStyle{Color: ink, Radius: 3, Shape: draw.CircleGlyph{}},
			vg.Point{X: x(iv.Mean), Y: y + 1})
	}
	if stats.Finite(iv.Low) && stats.Finite(iv.High) {
		line := draw.LineStyle{Color: canvas.Ink, Width: 0.9}
		lo, hi := x(max(iv.Low, math.Min(p.lo, 0))), x(iv.High)
		c.StrokeLine2(line, lo, y+1, hi, y+1)
		c.StrokeLine2(line, lo, y-1, lo, y+3)
		c.StrokeLine2(line, hi, y-1, hi, y+3)
	}
}
