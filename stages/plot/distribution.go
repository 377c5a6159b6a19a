package plot

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/results/picture"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/stages/plot/canvas"
)

// JCT is the name of this kind of picture.
const JCT = "jct"

func init() {
	Register(Kind{
		Kind: picture.Kind{
			Rank: 20, Name: JCT,
			Doc: "the distribution of completion times",
		},
		Draw: func(d *Data, _ Ask) ([]Figure, error) { return d.distributions() },
	})
}

// mostLines is the number of variants that one picture tells apart.
const mostLines = 7

// completion is what the pictures show.
const completion = "job completion time (JCT)"

// curve is a variant's distribution: sorted values.
type curve struct {
	label  string
	values []float64
}

// distributions draws, for each workload and hardware, the share of jobs that
// are done within a time, a line a policy, all replicates together.
func (d *Data) distributions() ([]Figure, error) {
	title := "Distribution of " + completion + " by policy"
	var out []Figure
	for _, s := range d.settings() {
		var curves []curve
		jobs := 0
		all, pooled := s.lines()
		for _, group := range all[:min(len(all), mostLines)] {
			cu := curve{label: group.label}
			for _, c := range group.cells {
				t, err := d.jobTimes(c)
				if err != nil {
					return nil, err
				}
				cu.values = slices.Grow(cu.values, len(t.jobs))
				for _, j := range t.jobs {
					if x := j.jct; j.finished && known(x) && x >= 0 {
						cu.values = append(cu.values, x)
					}
				}
			}
			jobs += len(cu.values)
			slices.Sort(cu.values)
			if len(cu.values) > 0 {
				curves = append(curves, cu)
			}
		}
		name, t := "jct"+d.suffix(s), title+d.place(s)
		if jobs == 0 {
			out = append(out, Skipped(JCT, name, t, "no job has finished, or the cells recorded only their metrics")...)
			continue
		}
		over, noun := "", "policy variant"
		if pooled {
			over, noun = " and values of the axes", "policy"
		}
		caption := fmt.Sprintf("The share of finished jobs whose %s is at most the time below, over all replicates%s (%s). "+
			"Further left is shorter.",
			completion, over, Plural(jobs, "job")) + someOf(mostLines, len(all), noun) + d.Sampled()
		out = append(out, ecdf(name, t, caption, curves))
	}
	if len(out) == 0 {
		return Skipped(JCT, "jct", title, "no cell is complete yet"), nil
	}
	return out, nil
}

// group is the cells whose jobs one line is about.
type group struct {
	label string
	cells []record.Cell
}

// lines has a group for each variant; where these are too many to be told
// apart, for each policy with all values of its axes together (pooled).
func (s setting) lines() (groups []group, pooled bool) {
	pooled = len(s.variants) > mostLines
	for _, v := range s.variants {
		label := v.Label
		if pooled {
			label = v.Policy
		}
		i := slices.IndexFunc(groups, func(g group) bool { return g.label == label })
		if i < 0 {
			i = len(groups)
			groups = append(groups, group{label: label})
		}
		groups[i].cells = append(groups[i].cells, v.Cells...)
	}
	return groups, pooled
}

func ecdf(name, title, caption string, curves []curve) Figure {
	top, low, middle := 0.0, math.Inf(1), 0.0
	var keys []canvas.Key
	styles := make([]draw.LineStyle, len(curves))
	for i, c := range curves {
		top = max(top, c.values[len(c.values)-1])
		low = min(low, stats.Quantile(c.values, 0.05))
		middle = max(middle, stats.Quantile(c.values, 0.5))
		styles[i] = draw.LineStyle{Color: canvas.Hue(i), Width: 1.8, Dashes: canvas.Dashes(i)}
		keys = append(keys, canvas.Key{Label: c.label, Swatch: canvas.Stroked(styles[i]), Series: c.label})
	}
	logarithmic := low > 0 && top/low > 100 // times over several orders of magnitude
	per, unit := canvas.TimeUnit(top)
	if logarithmic {
		per, unit = canvas.TimeUnit(middle)
	}
	return Figure{
		Picture: Picture{Name: name, Kind: JCT, Title: title, Caption: caption},
		Width:   canvas.Width, Height: canvas.HeadHeight(keys) + 210,
		Paint: func(c draw.Canvas) {
			c = canvas.Head(c, title, keys)
			p := canvas.NewPlot()
			p.X.Label.Text = completion
			if unit != "" {
				p.X.Label.Text += " (" + unit + ")"
			}
			p.Y.Label.Text = "share of jobs"
			p.Y.Min, p.Y.Max = 0, 1
			p.Y.Tick.Marker = plot.ConstantTicks{
				{Value: 0, Label: "0%"}, {Value: 0.25, Label: "25%"}, {Value: 0.5, Label: "50%"},
				{Value: 0.75, Label: "75%"}, {Value: 1, Label: "100%"},
			}
			p.X.Min, p.X.Max = 0, top/per*1.02
			if logarithmic {
				p.X.Min = low / per / 2
				p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, canvas.Decades{}
				p.X.Label.Text += ", logarithmic"
			}
			if p.X.Max <= p.X.Min {
				p.X.Max = p.X.Min + 1
			}
			p.Add(canvas.Grid{Vertical: true, Horizontal: true}, steps{curves, styles, per})
			p.Draw(draw.Crop(c, 0, -6, 0, -4))
		},
	}
}

// steps draws the curves of a distribution.
type steps struct {
	curves []curve
	styles []draw.LineStyle
	per    float64
}

// mostSteps bounds the steps of one line: more cannot be seen.
const mostSteps = 400

// Plot implements plot.Plotter.
func (s steps) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for i, cu := range s.curves {
		n := len(cu.values)
		line := []vg.Point{{X: c.Min.X, Y: y(0)}}
		for k := range min(n, mostSteps) {
			at := k
			if n > mostSteps {
				at = k * (n - 1) / (mostSteps - 1)
			}
			px := max(c.Min.X, x(max(cu.values[at]/s.per, p.X.Min)))
			line = append(line, vg.Point{X: px, Y: line[len(line)-1].Y}, vg.Point{X: px, Y: y(float64(at+1) / float64(n))})
		}
		line = append(line, vg.Point{X: c.Max.X, Y: y(1)})
		canvas.Series(c, cu.label, func() { c.StrokeLines(s.styles[i], line) })
	}
}
