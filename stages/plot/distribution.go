package plot

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"

	"gonum.org/v1/plot"
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

// JCT is the name of the picture of the distribution of job completion times.
const JCT = "jct"

var _ = Register(Kind{
	PictureKind: table.PictureKind{
		Rank: 20, Name: JCT,
		Doc: "the distribution of completion times",
		Args: []schema.Arg{
			{Name: "by", Type: schema.String, DefaultDoc: "all jobs together", Example: `"class"`},
		},
	},
	Draw: func(d *Data, a Ask) ([]Figure, error) { return d.distributions(a.By) },
})

// completion is the quantity that the pictures show.
const completion = "job completion time (JCT)"

// curve is the distribution of one line: its values, sorted.
type curve struct {
	label  string
	look   Look
	values []float64
}

// distributions draws, for each workload and hardware, the share of jobs that finish within a time: one line for each
// policy, over all replicates. If by names a way to divide jobs, each group of jobs has a panel.
func (d *Data) distributions(by string) ([]Figure, error) {
	file, title := "jct", "Distribution of "+completion+" by policy"
	if by != "" {
		file, title = file+"-"+by, title+" and "+by
	}
	var out []Figure
	for _, s := range d.Settings() {
		panels := []distribution{{}}
		if by != "" {
			panels = nil
			for _, g := range analysis.GroupNames(s.Variants, by) {
				panels = append(panels, distribution{group: g, title: GroupTitle(by, g)})
			}
		}
		groups := len(panels)
		panels = panels[:min(groups, mostDistributions)]
		name, t := file+d.Suffix(s), title+d.Where(s)
		all, pooled, chosen := d.Lines(s)
		jobs, err := d.distribute(panels, all, by)
		if err != nil {
			return nil, err
		}
		if jobs == 0 {
			reason := "no job has finished, or the cells recorded only their metrics"
			if by != "" && groups == 0 {
				reason = "all jobs are of one " + by
			}
			out = append(out, Skipped(JCT, name, t, reason)...)
			continue
		}
		over := ""
		if pooled {
			over = " and values of the axes"
		}
		caption := fmt.Sprintf("The share of finished jobs whose %s is at most the time below, over all replicates%s (%s). "+
			"Further left is shorter.",
			completion, over, schema.Plural(jobs, "job")) + chosen +
			SomeOf(mostDistributions, groups, "group") + d.Sampled()
		out = append(out, ecdf(name, t, caption, panels))
	}
	if len(out) == 0 {
		return Skipped(JCT, file, title, "no cell is complete yet"), nil
	}
	return out, nil
}

// mostDistributions is the greatest number of panels in a picture.
const mostDistributions = 6

// distribution is a panel with the jobs of one group, or all jobs.
type distribution struct {
	group, title string
	curves       []curve // one curve for each line; a curve may be empty
}

// distribute sets the curves of each panel, and returns the number of their jobs.
func (d *Data) distribute(panels []distribution, lines []Group, by string) (jobs int, err error) {
	for _, line := range lines {
		for i := range panels {
			panels[i].curves = append(panels[i].curves, curve{label: line.Label, look: line.Look})
		}
		add := func(group string, finished bool, jct float64) {
			at := slices.IndexFunc(panels, func(p distribution) bool { return p.group == group })
			if at >= 0 && finished && stats.Finite(jct) && jct >= 0 {
				c := &panels[at].curves[len(panels[at].curves)-1]
				c.values = append(c.values, jct)
				jobs++
			}
		}
		for _, c := range line.Cells {
			if err := d.eachGrouped(c, by, add); err != nil {
				return 0, err
			}
		}
		for i := range panels {
			slices.Sort(panels[i].curves[len(panels[i].curves)-1].values)
		}
	}
	return jobs, nil
}

// eachGrouped calls add for each job of a cell (or of a sample), with the job's group. The group is "" if by is empty.
func (d *Data) eachGrouped(c record.Cell, by string, add func(group string, finished bool, jct float64)) error {
	if by == "" {
		t, err := d.jobTimes(c)
		for _, j := range t.jobs {
			add("", j.finished, j.jct)
		}
		return err
	}
	named := map[string]bool{}
	for _, g := range c.Groups {
		named[g.Name] = named[g.Name] || g.By == by
	}
	columns := []string{"class", "user", "threads_requested", "gpus", "state", "jct_s"}
	err := d.EachJob(c.CellRef, columns, sampleStep(c), func(r *record.JobRow) bool {
		g := measure.GroupOf(by, r.Class, r.User, r.ThreadsRequested, r.GPUs)
		if !named[g] {
			g = measure.Others
		}
		add(g, r.State == "finished", r.JCT)
		return true
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return err
}

// ecdf draws the panels one below the other. Each panel has its own axis of times.
func ecdf(name, title, caption string, panels []distribution) Figure {
	labels, note := merged(panels)
	for i := range panels {
		kept := slices.Clone(panels[i].curves)
		for k := range kept {
			kept[k].label = labels[k]
		}
		panels[i].curves = slices.DeleteFunc(kept, func(c curve) bool { return c.label == "" })
	}
	caption += note
	var keys []canvas.Key
	styles := make([]draw.LineStyle, len(panels[0].curves))
	for i, c := range panels[0].curves {
		styles[i] = c.look.Line()
		if slices.ContainsFunc(panels, func(p distribution) bool { return len(p.curves[i].values) > 0 }) {
			keys = append(keys, canvas.Key{Label: c.label, Swatch: canvas.Stroked(styles[i]), Series: c.label})
		}
	}
	panels = slices.DeleteFunc(panels, func(p distribution) bool {
		return !slices.ContainsFunc(p.curves, func(c curve) bool { return len(c.values) > 0 })
	})
	return Figure{
		Picture: Picture{Name: name, Kind: JCT, Title: title, Caption: caption},
		Width:   canvas.Width, Height: canvas.HeadHeight(keys) + 210*float64(len(panels)),
		Paint: func(c draw.Canvas) {
			c = canvas.Head(c, title, keys)
			tall := c.Size().Y / vg.Length(len(panels))
			for i, p := range panels {
				above := vg.Length(i) * tall
				p.paint(draw.Crop(c, 0, -6, c.Size().Y-above-tall, -4-above), styles)
			}
		},
	}
}

// merged returns the labels of the lines. Lines that coincide in all panels have one label, and the note names them.
func merged(panels []distribution) (labels []string, note string) {
	names := schema.Each(panels[0].curves, func(c curve) string { return c.label })
	return Merged(names, func(i, k int) bool {
		return !slices.ContainsFunc(panels, func(p distribution) bool { return !p.curves[i].on(p.curves[k]) })
	})
}

// on reports whether two curves look the same: at each share, their times differ by less than 0.5%.
func (c curve) on(o curve) bool {
	const shares = 50
	for i := range shares + 1 {
		share := float64(i) / shares
		if len(c.values) == 0 || len(o.values) == 0 {
			return false
		}
		a, b := stats.Quantile(c.values, share), stats.Quantile(o.values, share)
		if math.Abs(a-b) > 0.005*max(a, b) {
			return false
		}
	}
	return true
}

// paint draws one panel.
func (d distribution) paint(c draw.Canvas, styles []draw.LineStyle) {
	top, low, middle := 0.0, math.Inf(1), 0.0
	for _, cu := range d.curves {
		if len(cu.values) == 0 {
			continue
		}
		top = max(top, cu.values[len(cu.values)-1])
		low = min(low, stats.Quantile(cu.values, 0.05))
		middle = max(middle, stats.Quantile(cu.values, 0.5))
	}
	logarithmic := low > 0 && top/low > 100 // the times span more than two orders of magnitude
	per, unit := canvas.TimeUnit(top)
	if logarithmic {
		per, unit = canvas.TimeUnit(middle)
	}
	p := canvas.NewPlot()
	if d.title != "" {
		p.Title.Text = d.title
		p.Title.TextStyle = canvas.Style(canvas.LabelSize, canvas.Ink, true)
		p.Title.TextStyle.XAlign, p.Title.TextStyle.YAlign = -0.5, -1
	}
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
	p.X.Min, p.X.Max = canvas.Nice{Room: 300}.Cover(0, top/per)
	if logarithmic {
		p.X.Min = low / per / 2
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, canvas.Decades{}
		p.X.Label.Text += ", logarithmic"
	}
	if p.X.Max <= p.X.Min {
		p.X.Max = p.X.Min + 1
	}
	p.Add(canvas.Grid{Vertical: true, Horizontal: true}, steps{d.curves, styles, per})
	canvas.DrawPlot(p, c)
}

// steps draws the curves of a panel as step functions.
type steps struct {
	curves []curve
	styles []draw.LineStyle
	per    float64
}

// mostSteps is the greatest number of steps in a line; more would look the same.
const mostSteps = 400

// Plot implements plot.Plotter.
func (s steps) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for i, cu := range s.curves {
		n := len(cu.values)
		if n == 0 {
			continue
		}
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
