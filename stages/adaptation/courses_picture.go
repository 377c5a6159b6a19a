package adaptation

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/stats"
	pictures "github.com/tfexp/tfexp/stages/plot"
	"github.com/tfexp/tfexp/stages/plot/canvas"
)

// AdaptationCourses is the name of the picture of accuracy over time in real trainings.
const AdaptationCourses = "adaptation_courses"

var _ = picture(129, AdaptationCourses, "accuracy over time in real trainings, one line for each training, with those that "+
	"controllers decided in and their actions marked", func(s deepeningStudy) ([]pictures.Figure, error) {
	return schema.Each(column(s.Courses, func(r CourseRow) string { return r.Scenario }), s.coursesIn), nil
})

// coursesIn draws the trainings of a scenario.
func (s deepeningStudy) coursesIn(scenario string) pictures.Figure {
	c := courses{}
	var names []string
	decided := math.Inf(1)
	for _, r := range s.Courses {
		switch {
		case r.Scenario != scenario || len(r.Times) == 0:
			continue
		case r.Controller == "":
			c.every = append(c.every, r)
		case !slices.Contains(names, r.Controller): // only the first seed of a controller
			names = append(names, r.Controller)
			c.strong = append(c.strong, r)
		}
		for _, at := range r.Decided {
			decided = min(decided, at)
		}
		c.end = max(c.end, r.Budget)
	}
	title := fmt.Sprintf("Accuracy over time in real training – %s, %s", s.name, scenario)
	name := AdaptationCourses + "-" + s.name + "-" + scenario
	if len(c.every)+len(c.strong) == 0 {
		return pictures.Figure{Picture: pictures.Picture{
			Name: name, Kind: AdaptationCourses, Title: title, Skipped: "no program reported accuracies",
		}}
	}
	shown := min(len(c.strong), mostLines)
	more := pictures.SomeOf(shown, len(c.strong), "controller")
	c.strong = c.strong[:shown]
	var keys []canvas.Key
	for i, r := range c.strong {
		keys = append(keys, canvas.Key{Label: r.Controller + " (" + r.Sequence + ")",
			Swatch: canvas.Stroked(courseLine(i))})
	}
	c.low, c.high = c.from(decided)
	p := canvas.NewPlot()
	p.X.Min, p.X.Max = 0, c.end*1.005
	lanes := float64(len(c.strong))
	c.lane = (c.high - c.low) * laneHeight / curvesHeight
	p.Y.Min, p.Y.Max = c.low-c.lane*lanes, c.high
	p.Y.Tick.Marker = ticksAbove{p.Y.Tick.Marker, c.low}
	p.X.Label.Text, p.Y.Label.Text = "service time (s)", "accuracy"
	p.Add(c)
	caption := "The accuracy that programs reported at the end of each epoch: a thin line for each sequence of the table, " +
		"a thick line for each controller's training with its first seed. Curves begin at the first decision; accuracies " +
		"below the scale are not shown. Below the curves, each controller has a row with its decisions: the number of the " +
		"deepened block. The greatest number means no block." + more
	return s.figure(AdaptationCourses, scenario, title, caption, keys, curvesHeight+laneHeight*lanes+48, p)
}

const curvesHeight, laneHeight = 230.0, 14.0

func courseLine(i int) draw.LineStyle {
	return draw.LineStyle{Color: canvas.Hue(i), Width: 1.6, Dashes: canvas.Dashes(i)}
}

// courses draws the trainings of a scenario. Each strong one has a row for its decisions below the curves; lane is the
// height of a row, in the unit of accuracies.
type courses struct {
	every, strong        []CourseRow
	low, high, lane, end float64
}

// from returns the least and the greatest accuracy to show after an instant; the lowest outliers are cut off.
func (c courses) from(instant float64) (low, high float64) {
	var values []float64
	for _, r := range slices.Concat(c.every, c.strong) {
		for i, at := range r.Times {
			if (at >= instant || math.IsInf(instant, 1)) && stats.Finite(r.Accuracies[i]) {
				values = append(values, r.Accuracies[i])
			}
		}
	}
	if len(values) == 0 {
		return 0, 1
	}
	sort.Float64s(values)
	return bounds([]float64{stats.Quantile(values, 0.02), values[len(values)-1]})
}

// Plot implements plot.Plotter.
func (c courses) Plot(in draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&in)
	curves := draw.Crop(in, 0, 0, y(c.low)-in.Min.Y, 0)
	line := func(r CourseRow, style draw.LineStyle) {
		var points []vg.Point
		for i, at := range r.Times {
			points = append(points, vg.Point{X: x(at), Y: y(r.Accuracies[i])})
		}
		curves.StrokeLines(style, curves.ClipLinesXY(points)...)
	}
	for _, r := range c.every {
		line(r, draw.LineStyle{Color: canvas.Shade(canvas.Hue(6), 0.35), Width: 0.6})
	}
	for i := len(c.strong) - 1; i >= 0; i-- { // the first one is drawn last, on top of the others
		line(c.strong[i], courseLine(i))
	}
	for i, r := range c.strong {
		at := y(c.low - c.lane*(float64(i)+0.5))
		color := canvas.Hue(i)
		in.StrokeLine2(draw.LineStyle{Color: canvas.Shade(color, 0.7), Width: 0.8}, in.Min.X, at, in.Max.X, at)
		for d, action := range r.Actions() {
			if d < len(r.Decided) {
				dot(in, vg.Point{X: x(r.Decided[d]), Y: at}, color, action)
			}
		}
	}
}

// ticksAbove are ticks from a value on; the axis below is for other marks.
type ticksAbove struct {
	plot.Ticker
	low float64
}

// Ticks implements plot.Ticker.
func (a ticksAbove) Ticks(_, high float64) []plot.Tick { return a.Ticker.Ticks(a.low, high) }
