package axes

import (
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/stages/plot"
	"github.com/tfexp/tfexp/stages/plot/canvas"
	"github.com/tfexp/tfexp/stages/plot/lines"
)

// Heatmap is the name of these pictures in experiment files.
const Heatmap = "heatmap"

var _ = plot.Register(plot.Kind{
	PictureKind: table.PictureKind{
		Rank: 80, Name: Heatmap,
		Doc: "a metric over two axes of the matrix as tiles",
		Args: []schema.Arg{
			{Name: "metric", Type: schema.String, DefaultDoc: "`mean_jct`", Example: `"mean_waiting"`},
			{Name: "x", Type: schema.String, DefaultDoc: "the first two axes whose values are numbers", Example: `"quantum"`},
			{Name: "y", Type: schema.String, DefaultDoc: "the next such axis", Example: `"intra"`},
		},
	},
	Draw: func(d *plot.Data, a plot.Ask) ([]plot.Figure, error) { return heatmaps(d, a.Metric, a.X, a.Y) },
})

// mostTiles is the largest number of values of an axis in a heat map.
const mostTiles = 24

// heat is a panel of a heat map: one metric over two axes, for variants that are equal otherwise.
type heat struct {
	title string
	means [][]float64 // means by value of y, then of x; NaN if unknown
}

// heatmaps draws a metric over two axes, with a tile for each pair of values. If no axes are named, it takes the first
// two with numbers.
func heatmaps(d *plot.Data, metric, across, up string) ([]plot.Figure, error) {
	metrics, err := plot.MetricsOr(metric, []measure.Metric{measure.MeanJCT})
	if err != nil {
		return nil, err
	}
	m := metrics[0]
	var out []plot.Figure
	for _, s := range d.Settings() {
		asked := across != "" || up != ""
		x, xOK := tiles(d, s, across, asked, up)
		y, yOK := tiles(d, s, up, asked, x.Name)
		if !xOK || !yOK {
			if asked {
				out = append(out, plot.Skipped(Heatmap, "heatmap-"+across+"-"+up+d.Suffix(s), plot.Capital(m.Title)+d.Where(s),
					"it needs two axes with at least two values each")...)
			}
			continue // no picture and no note: most experiments lack such axes
		}
		all, u := heats(s, x, y, m), plot.UnitOf(m, s.Variants)
		drawn := heatmap{x: x, y: y, metric: m, unit: u, heats: all[:min(len(all), plot.MostFacets)]}
		out = append(out, drawn.figure("heatmap-"+m.Name+"-"+x.Name+"-"+y.Name+d.Suffix(s),
			plot.Capital(u.Label(m.Title))+" by "+x.Name+" and "+y.Name+d.Where(s), plot.SomeOf(plot.MostFacets, len(all), "panel")))
	}
	return out, nil
}

// tiles returns an axis with at least two values, other than the axis not. It is the named axis, or else the first one;
// unless any is set, its values must be numbers.
func tiles(d *plot.Data, s plot.Setting, name string, any bool, not string) (lines.Abscissa, bool) {
	for _, axis := range d.Plan.Axes {
		if name != "" && axis != name || axis == not {
			continue
		}
		if x, ok := lines.AbscissaOf(d, s, axis); ok {
			cut(&x)
			return x, true
		}
		x := lines.Abscissa{Name: axis}
		for _, v := range s.Variants {
			if text, read := lines.ValueOf(v, axis); read && !slices.Contains(x.Labels, text) {
				x.Labels = append(x.Labels, text)
			}
		}
		if any && len(x.Labels) >= 2 {
			cut(&x)
			return x, true
		}
	}
	return lines.Abscissa{}, false
}

// cut removes the values that do not fit.
func cut(x *lines.Abscissa) {
	x.Labels = x.Labels[:min(len(x.Labels), mostTiles)]
	x.Values = x.Values[:min(len(x.Values), mostTiles)]
}

// heats groups the variants by policy and other axes, in the order of the plan. If a policy does not depend on an axis,
// it has the same value along that axis.
func heats(s plot.Setting, x, y lines.Abscissa, m measure.Metric) []heat {
	policies := map[string]bool{}
	for _, v := range s.Variants {
		policies[v.Policy] = true
	}
	var out []heat
	for _, v := range s.Variants {
		atX, readX := lines.ValueOf(v, x.Name)
		atY, readY := lines.ValueOf(v, y.Name)
		if !readX && !readY {
			continue // the metric is the same everywhere
		}
		var parts []string
		if len(policies) > 1 {
			parts = append(parts, v.Policy)
		}
		for _, a := range v.Axes {
			if a.Name != x.Name && a.Name != y.Name {
				parts = append(parts, a.Name+" "+a.Value)
			}
		}
		title := strings.Join(parts, ", ")
		k := slices.IndexFunc(out, func(h heat) bool { return h.title == title })
		if k < 0 {
			k = len(out)
			h := heat{title: title}
			for range y.Labels {
				h.means = append(h.means, slices.Repeat([]float64{math.NaN()}, len(x.Labels)))
			}
			out = append(out, h)
		}
		mean := meanOf(v.Values(m))
		for j := range y.Labels {
			for i := range x.Labels {
				if (!readX || x.Labels[i] == atX) && (!readY || y.Labels[j] == atY) {
					out[k].means[j][i] = mean
				}
			}
		}
	}
	return out
}

// meanOf returns the mean of the finite values; NaN without finite values.
func meanOf(values []float64) float64 {
	sum, n := 0.0, 0
	for _, v := range values {
		if stats.Finite(v) {
			sum += v
			n++
		}
	}
	return sum / float64(n)
}

// heatmap draws panels over the same two axes.
type heatmap struct {
	x, y   lines.Abscissa
	metric measure.Metric
	unit   table.Unit
	heats  []heat
}

const (
	tileHeight = 24.0
	heatHead   = 17.0 // height of the panel's title
	heatFoot   = 30.0 // height of tick labels and the name of x
)

func (m heatmap) figure(name, title, note string) plot.Figure {
	columns := min(len(m.heats), plot.MostColumns, max(1, 12/len(m.x.Labels)))
	rows := (len(m.heats) + columns - 1) / columns
	tall := heatHead + heatFoot + tileHeight*float64(len(m.y.Labels)) + 6
	better := "Lower"
	if m.metric.HigherBetter {
		better = "Higher"
	}
	return plot.Figure{
		Picture: plot.Picture{Name: name, Kind: Heatmap, Title: title,
			Caption: "Means over the replicates; darker is more, each panel on a scale of its own. " + better +
				" is better: the best has a frame." + note},
		Width: canvas.Width, Height: canvas.HeadHeight(nil) + float64(rows)*tall + canvas.Margin,
		Paint: func(c draw.Canvas) {
			c = canvas.Head(c, title, nil)
			for i, h := range m.heats {
				m.panel(canvas.Tile(c, i, columns, tall, 8), h, i%columns == 0)
			}
		},
	}
}

// panel draws one panel. The first panel of a row has the name of the vertical axis.
func (m heatmap) panel(c draw.Canvas, h heat, first bool) {
	st := canvas.Style(canvas.LabelSize, canvas.Ink, false)
	st.YAlign = -1
	c.FillText(st, vg.Point{X: c.Min.X + 4, Y: c.Max.Y}, canvas.Fit(h.title, c.Size().X.Points()-6, canvas.LabelSize))

	labels := 0.0
	for _, l := range m.y.Labels {
		labels = max(labels, canvas.TextWidth(l, canvas.TickSize))
	}
	left, name := c.Min.X+vg.Length(min(labels, 70)+20), m.y.Name
	top, bottom := c.Max.Y-heatHead, c.Min.Y+heatFoot
	wide := (c.Max.X - left) / vg.Length(len(m.x.Labels))
	if first {
		up := canvas.Style(canvas.LabelSize, canvas.Ink, false)
		up.Rotation, up.XAlign, up.YAlign = math.Pi/2, -0.5, -1
		c.FillText(up, vg.Point{X: c.Min.X, Y: (top + bottom) / 2},
			canvas.Fit(name, (top-bottom).Points()+heatFoot, canvas.LabelSize))
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, row := range h.means {
		for _, v := range row {
			if stats.Finite(v) {
				lo, hi = min(lo, v), max(hi, v)
			}
		}
	}
	best := lo
	if m.metric.HigherBetter {
		best = hi
	}
	tick := canvas.Aligned(canvas.TickSize, canvas.Ink, false, -1, -0.5)
	for j, row := range h.means {
		y := bottom + vg.Length(tileHeight*float64(j)) // the lowest value is at the bottom
		c.FillText(tick, vg.Point{X: left - 4, Y: y + tileHeight/2}, canvas.Fit(m.y.Labels[j], 70, canvas.TickSize))
		for i, v := range row {
			m.tile(c, vg.Rectangle{
				Min: vg.Point{X: left + wide*vg.Length(i) + 0.75, Y: y + 0.75},
				Max: vg.Point{X: left + wide*vg.Length(i+1) - 0.75, Y: y + tileHeight - 0.75},
			}, v, lo, hi, v == best && hi > lo)
		}
	}
	tick.XAlign, tick.YAlign = -0.5, -1
	for i, l := range m.x.Labels {
		c.FillText(tick, vg.Point{X: left + wide*(vg.Length(i)+0.5), Y: bottom - 3},
			canvas.Fit(l, wide.Points()+4, canvas.TickSize))
	}
	under := canvas.Aligned(canvas.LabelSize, canvas.Ink, false, -0.5, -1)
	c.FillText(under, vg.Point{X: (left + c.Max.X) / 2, Y: bottom - 15}, m.x.Name)
}

// tile draws the tile of value v, on a scale from lo to hi. best adds a frame.
func (m heatmap) tile(c draw.Canvas, box vg.Rectangle, v, lo, hi float64, best bool) {
	outline := canvas.Rectangle(box.Min.X, box.Min.Y, box.Max.X, box.Max.Y)
	fill, label := canvas.Faint, "–"
	if stats.Finite(v) {
		part := 0.5
		if hi > lo {
			part = (v - lo) / (hi - lo)
		}
		fill, label = canvas.Shade(canvas.Hue(0), 0.88*(1-part)), m.unit.Number(v)
	}
	c.SetColor(fill)
	c.Fill(outline)
	if best {
		c.SetLineStyle(draw.LineStyle{Color: canvas.Hue(1), Width: 2})
		c.Stroke(canvas.Rectangle(box.Min.X+1, box.Min.Y+1, box.Max.X-1, box.Max.Y-1))
	}
	st := canvas.Aligned(canvas.TickSize, canvas.Readable(fill), best, -0.5, -0.5)
	center := vg.Point{X: (box.Min.X + box.Max.X) / 2, Y: (box.Min.Y + box.Max.Y) / 2}
	if room := box.Size().X.Points() - 2; canvas.TextWidth(label, canvas.TickSize) <= room {
		c.FillText(st, center, label)
	}
}
