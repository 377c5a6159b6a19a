package tuning

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/estimator/surrogate"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
	pictures "github.com/tfexp/tfexp/stages/plot"
	"github.com/tfexp/tfexp/stages/plot/canvas"
	"github.com/tfexp/tfexp/stages/tuning/trial"
)

// Surrogate is the name of the pictures of a model of trials.
const Surrogate = "surrogate"

var _ = pictures.Register(pictures.Kind{
	PictureKind: table.PictureKind{
		Rank: 141, Name: Surrogate,
		Doc: "the objective that a model of the trials expects for each setting, and over the two most " +
			"important settings",
	},
	Draw: surrogates,
})

// landscape is a model of the objective, fitted to the trials of one replicate.
type landscape struct {
	t       *trial.Tuning
	name    string // of files
	title   string
	space   surrogate.Space
	process *surrogate.Process
	scale   surrogate.Scale
	at      [][]float64 // points of the successful trials
	value   []float64   // the trials' values, in the unit of the objective
	counts  []bool
	best    []float64 // the best trial's point, through which the model is drawn
}

// fewestTrials is the least number of trials for which a model is drawn.
const fewestTrials = 4

func surrogates(d *pictures.Data, _ pictures.Ask) ([]pictures.Figure, error) {
	var out []pictures.Figure
	for i := range trial.Asked.Of(&d.Plan) {
		l, err := read(d.Experiment, i)
		if err != nil {
			return nil, err
		}
		if l == nil {
			continue
		}
		out = append(out, l.cuts())
		if f, ok := l.plane(); ok {
			out = append(out, f)
		}
	}
	return out, nil
}

// read fits a model to the trials of the first replicate; nil if there are too few trials.
func read(d *record.Experiment, tuning int) (*landscape, error) {
	t := &trial.Asked.Of(&d.Plan)[tuning]
	l := &landscape{t: t, name: t.Name, title: t.Name, space: trial.Space(t), scale: surrogate.Log}
	if len(trial.Asked.Of(&d.Plan)) > 1 {
		l.name += fmt.Sprintf("-%d-%s", tuning+1, t.Method)
		l.title += ", " + t.Method
	}
	least := math.Inf(1)
	var modelled []float64
	for _, c := range trial.Cells(d) {
		if c.Trial.Tuning != tuning || c.Replicate != 1 || c.Outcome == nil {
			continue
		}
		at, err := trial.Point(t, c.Trial.Settings)
		if err != nil {
			continue
		}
		one := trial.ForModel(t, at, c.Outcome)
		if one.State != surrogate.Done {
			continue
		}
		l.at, l.value = append(l.at, at), append(l.value, t.Value(c.Outcome))
		l.counts = append(l.counts, t.Counts(c.Trial.Settings))
		modelled = append(modelled, one.Objective)
		l.scale = l.scale.Fits(one.Objective)
		if t.Counts(c.Trial.Settings) && t.Feasible(c.Outcome) && one.Objective < least {
			least, l.best = one.Objective, at
		}
	}
	if len(l.at) < fewestTrials {
		return nil, nil
	}
	if l.best == nil {
		l.best = l.space.ToGoal(l.at[0])
	}
	y := schema.Each(modelled, l.scale.Modelled)
	var err error
	l.process, err = surrogate.New(l.at, y, surrogate.Options{Categorical: l.space.Categorical()})
	return l, err
}

// natural converts a value of the model to the unit of the objective.
func (l *landscape) natural(v float64) float64 { return trial.Natural(l.t, l.scale.Natural(v)) }

// objective returns the objective with its unit, for an axis.
func (l *landscape) objective() string {
	name := strings.ReplaceAll(l.t.Objective, "_", " ")
	if unit := trial.FindObjective(l.t.Objective).Unit; unit != "" {
		return name + " (" + unit + ")"
	}
	return name
}

// valued returns a value of the model as text with the unit of the objective.
func (l *landscape) valued(v float64) string {
	return strings.TrimSpace(short(l.natural(v)) + " " + trial.FindObjective(l.t.Objective).Unit)
}

// ticks returns at most `most` values of setting d at which the model is drawn: their coordinates and their labels.
func (l *landscape) ticks(d, most int) (at []float64, labels []string) {
	dim := l.space[d]
	if n := dim.Size(); n > 0 && n <= most {
		at = dim.All()
	} else {
		for k := range most {
			at = append(at, dim.Coordinate(dim.Value(float64(k)/float64(most-1))))
		}
	}
	if dim.Categories == 0 {
		slices.Sort(at)
	}
	for _, u := range slices.Compact(at) {
		probe := slices.Clone(l.best)
		probe[d] = u
		label := trial.Values(l.t, probe)[d]
		if v, err := strconv.ParseFloat(label, 64); err == nil {
			label = strconv.FormatFloat(v, 'g', 3, 64)
		}
		labels = append(labels, label)
	}
	return slices.Compact(at), labels
}

// mostPanels is the greatest number of settings in a picture, one panel each.
const mostPanels = 6

const (
	z90       = 1.6448536269514722 // half the width of the 90% interval, in standard deviations
	cutHeight = 150.0
	cutPoints = 41
)

// cuts draws the model along each setting; the other settings are as in the best trial.
func (l *landscape) cuts() pictures.Figure {
	n := min(len(l.space), mostPanels)
	keys := []canvas.Key{
		{Label: "model, through the best trial", Swatch: canvas.Stroked(draw.LineStyle{Color: canvas.Hue(0), Width: 1.8})},
		{Label: "90% interval", Swatch: canvas.Filled(canvas.Shade(canvas.Hue(0), 0.75))},
		{Label: "trials", Swatch: canvas.Dotted(canvas.Hue(1))}, {Label: "best", Swatch: canvas.Dotted(canvas.Ink)},
	}
	lo, hi := l.bounds()
	title := "The objective by setting – " + l.title
	columns := min(2, n)
	rows := (n + 1) / 2
	return pictures.Figure{
		Picture: pictures.Picture{Name: Surrogate + "-" + l.name, Kind: Surrogate, Title: title,
			Caption: fmt.Sprintf("What a Gaussian process that was fitted to the trials of the first replicate expects of "+
				"the %s, "+
				"along each setting with the others as in the best trial. Dots are all trials, whose other settings "+
				"differ.", l.t.Objective)},
		Width: canvas.Width, Height: canvas.HeadHeight(keys) + float64(rows)*cutHeight,
		Paint: func(c draw.Canvas) {
			c = canvas.Head(c, title, keys)
			w, h := (c.Max.X-c.Min.X)/vg.Length(columns), (c.Max.Y-c.Min.Y)/vg.Length(rows)
			for d := range n {
				x, y := c.Min.X+vg.Length(d%2)*w, c.Max.Y-vg.Length(d/2)*h
				panel := draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
					Min: vg.Point{X: x, Y: y - h + 4}, Max: vg.Point{X: x + w - 8, Y: y - 2},
				}}
				l.cut(d, lo, hi, panel.Size().X.Points()-60).Draw(panel)
			}
		},
	}
}

// bounds returns the least and the greatest value on the axis of the objective.
func (l *landscape) bounds() (lo, hi float64) {
	lo, hi = slices.Min(l.value), slices.Max(l.value)
	room := 0.1 * max(hi-lo, 1e-9)
	return lo - room, hi + room
}

// cut draws the model along setting d. lo and hi bound the objective; room is the length of the axis in points.
func (l *landscape) cut(d int, lo, hi, room float64) *plot.Plot {
	at, labels := l.ticks(d, cutPoints)
	points := make([][]float64, len(at))
	for k, u := range at {
		points[k] = slices.Clone(l.best)
		points[k][d] = u
	}
	mean, sd := l.process.Predict(points)
	p := canvas.NewPlot()
	p.X.Label.Text, p.Y.Label.Text = l.space[d].Name, l.objective()
	p.X.Min, p.X.Max = at[0]-0.04*span(at), at[len(at)-1]+0.04*span(at)
	p.Y.Min, p.Y.Max = lo, hi
	if lo, hi := slices.Min(l.value), slices.Max(l.value); l.scale == surrogate.Log && lo > 0 && hi/lo > 20 {
		p.Y.Min, p.Y.Max = lo/1.3, hi*1.3
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, canvas.Decades{}
	}
	p.X.Tick.Marker = canvas.Apart(marks(l.space[d], at, labels, 1), room, func(v float64) float64 {
		return (v - p.X.Min) / (p.X.Max - p.X.Min)
	})
	p.Add(canvas.Grid{Horizontal: true}, section{l, d, at, mean, sd})
	return p
}

// span returns the length of an axis in its own unit, at least 0.5.
func span(at []float64) float64 { return max(at[len(at)-1]-at[0], 0.5) }

// marks returns the ticks of a setting: round numbers, or some of the listed values. length is the length of the unit
// interval of coordinates, in points.
func marks(d surrogate.Dimension, at []float64, labels []string, length float64) plot.ConstantTicks {
	if d.Size() > 0 {
		return named(at, labels, d.Categories > 0)
	}
	var ticks plot.ConstantTicks
	for _, v := range rounds(d.Value(0), d.Value(1), d.Log) {
		ticks = append(ticks, plot.Tick{Value: length * d.Coordinate(v), Label: short(v)})
	}
	return ticks
}

// rounds returns up to seven round numbers in a range. They have equal distances; on a logarithmic scale they are 1, 2
// and 5 times powers of ten, or only some of these.
func rounds(lo, hi float64, log bool) (list []float64) {
	if !log || hi < 10*lo {
		for _, t := range (canvas.Nice{Room: 220}).Ticks(lo, hi) {
			list = append(list, t.Value)
		}
		return list
	}
	first, last := int(math.Floor(math.Log10(lo))), int(math.Ceil(math.Log10(hi)))
	for _, of := range [][]float64{{1, 2, 5}, {1, 3}, {1}} {
		list = nil
		for k := first; k <= last; k++ {
			for _, f := range of {
				if v := f * math.Pow(10, float64(k)); v >= lo*(1-1e-9) && v <= hi*(1+1e-9) {
					list = append(list, v)
				}
			}
		}
		if len(list) <= 7 {
			break
		}
	}
	return list
}

// named returns ticks labelled with values of a setting: about five, or all if `all` is set, as for categories.
func named(at []float64, labels []string, all bool) plot.ConstantTicks {
	step := max(1, (len(at)+3)/5)
	if all && len(at) <= 8 {
		step = 1
	}
	var ticks plot.ConstantTicks
	for k := 0; k < len(at); k += step {
		ticks = append(ticks, plot.Tick{Value: at[k], Label: canvas.Fit(labels[k], 46, canvas.TickSize)})
	}
	return ticks
}

// section draws the model along one setting.
type section struct {
	l        *landscape
	d        int
	at       []float64
	mean, sd []float64
}

// Plot implements plot.Plotter.
func (s section) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	place := func(u, v float64) vg.Point {
		return vg.Point{X: x(u), Y: y(min(max(v, p.Y.Min), p.Y.Max))}
	}
	var area vg.Path
	var line []vg.Point
	for k, u := range s.at {
		at := place(u, s.l.natural(s.mean[k]+z90*s.sd[k]))
		if k == 0 {
			area.Move(at)
		} else {
			area.Line(at)
		}
		line = append(line, place(u, s.l.natural(s.mean[k])))
	}
	for k := len(s.at) - 1; k >= 0; k-- {
		area.Line(place(s.at[k], s.l.natural(s.mean[k]-z90*s.sd[k])))
	}
	area.Close()
	c.SetColor(canvas.Shade(canvas.Hue(0), 0.75))
	c.Fill(area)
	c.StrokeLines(draw.LineStyle{Color: canvas.Hue(0), Width: 1.8}, line)
	for k, at := range s.l.at {
		if s.l.counts[k] {
			s.l.dot(c, place(at[s.d], s.l.value[k]), slices.Equal(at, s.l.best))
		}
	}
}

// dot draws a trial as a dot.
func (l *landscape) dot(c draw.Canvas, at vg.Point, best bool) {
	style := draw.GlyphStyle{Color: canvas.Hue(1), Radius: 2.2, Shape: draw.CircleGlyph{}}
	if best {
		style.Color, style.Radius = canvas.Ink, font.Length(3.4)
	}
	c.DrawGlyph(style, at)
}

// plane draws the model over the two settings on which the objective depends most: the settings with the shortest
// length scales. It returns false if there are fewer than two settings.
func (l *landscape) plane() (pictures.Figure, bool) {
	var order []int
	for d := range l.space {
		if !l.space[d].Context && l.space[d].Size() != 1 {
			order = append(order, d)
		}
	}
	if len(order) < 2 {
		return pictures.Figure{}, false
	}
	length := l.process.Hyper().Length
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(length[a], length[b]) })
	m := &tiles{l: l, across: order[0], up: order[1]}
	m.x, m.xLabels = l.ticks(m.across, 24)
	m.y, m.yLabels = l.ticks(m.up, 24)
	var points [][]float64
	for _, v := range m.y {
		for _, u := range m.x {
			at := slices.Clone(l.best)
			at[m.across], at[m.up] = u, v
			points = append(points, at)
		}
	}
	m.mean, _ = l.process.Predict(points)
	var keys []canvas.Key
	lo, hi := slices.Min(m.mean), slices.Max(m.mean)
	for _, part := range []float64{0, 0.5, 1} {
		keys = append(keys, canvas.Key{
			Label: l.valued(lo + part*(hi-lo)), Swatch: canvas.Filled(shade(part)),
		})
	}
	keys = append(keys, canvas.Key{Label: "trials", Swatch: canvas.Dotted(canvas.Hue(1))})
	title := fmt.Sprintf("The objective over %s and %s – %s", l.space[m.across].Name, l.space[m.up].Name, l.title)
	return pictures.Figure{
		Picture: pictures.Picture{Name: Surrogate + "-plane-" + l.name, Kind: Surrogate, Title: title,
			Caption: fmt.Sprintf("What the model expects of the %s over the two settings to which it is most sensitive, "+
				"with the "+
				"others as in the best trial: from %s (light) to %s (dark). Dots are the trials, the black one the best.",
				l.t.Objective, l.valued(lo), l.valued(hi))},
		Width: canvas.Width, Height: canvas.HeadHeight(keys) + 300,
		Paint: func(c draw.Canvas) { m.paint(canvas.Head(c, title, keys)) },
	}, true
}

func short(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }

// tiles draws the model over two settings as a grid of colored rectangles.
type tiles struct {
	l                *landscape
	across, up       int
	x, y             []float64
	xLabels, yLabels []string
	mean             []float64 // by row, from the first: mean[row*columns+column]
}

func (m *tiles) paint(c draw.Canvas) {
	p := canvas.NewPlot()
	p.X.Label.Text, p.Y.Label.Text = m.l.space[m.across].Name, m.l.space[m.up].Name
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = -0.5, float64(len(m.x))-0.5, -0.5, float64(len(m.y))-0.5
	p.X.Tick.Marker = marks(m.l.space[m.across], counted(m.x), m.xLabels, float64(len(m.x)-1))
	p.Y.Tick.Marker = marks(m.l.space[m.up], counted(m.y), m.yLabels, float64(len(m.y)-1))
	p.Add(m)
	p.Draw(draw.Crop(c, 0, -6, 4, 0))
}

// shade returns the color of a tile: light for the least value (part 0), dark for the greatest (part 1).
func shade(part float64) color.Color { return canvas.Shade(canvas.Hue(0), 0.95-0.75*part) }

// counted returns the indices of the values, as the positions of tiles.
func counted(at []float64) []float64 {
	places := make([]float64, len(at))
	for k := range places {
		places[k] = float64(k)
	}
	return places
}

// Plot implements plot.Plotter.
func (m *tiles) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	lo, hi := slices.Min(m.mean), slices.Max(m.mean)
	for r := range m.y {
		for k := range m.x {
			v := m.mean[r*len(m.x)+k]
			c.SetColor(shade((v - lo) / max(hi-lo, 1e-12)))
			u, w := float64(k), float64(r)
			c.Fill(canvas.Rectangle(x(u-0.5), y(w-0.5), x(u+0.5)+0.3, y(w+0.5)+0.3))
		}
	}
	most := map[[2]int]int{}
	for k, at := range m.l.at {
		if !m.l.counts[k] {
			continue
		}
		i, j := nearest(m.x, at[m.across]), nearest(m.y, at[m.up])
		n := most[[2]int{i, j}] // trials in the same tile are drawn side by side
		most[[2]int{i, j}]++
		shift := vg.Length([]float64{0, 5, -5, 10, -10}[n%5])
		m.l.dot(c, vg.Point{X: x(float64(i)) + shift, Y: y(float64(j)) - vg.Length(5*(n/5))}, slices.Equal(at, m.l.best))
	}
	for k, at := range m.l.at {
		if slices.Equal(at, m.l.best) && m.l.counts[k] {
			st := canvas.Style(canvas.SmallSize, canvas.Ink, true)
			st.XAlign, st.YAlign = text.XCenter, text.YBottom
			i, j := nearest(m.x, at[m.across]), nearest(m.y, at[m.up])
			c.FillText(st, vg.Point{X: x(float64(i)), Y: y(float64(j)) + 5}, "best")
			break
		}
	}
}

// nearest returns the index of the value that is nearest to u.
func nearest(at []float64, u float64) int {
	best := 0
	for k, v := range at {
		if math.Abs(v-u) < math.Abs(at[best]-u) {
			best = k
		}
	}
	return best
}
