// Package servers has rented servers: when they come and go, their prices, and the pictures of their lives, revocations
// and costs.
package servers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/table"
	pictures "github.com/tfexp/tfexp/stages/plot"
	"github.com/tfexp/tfexp/stages/plot/canvas"
	"github.com/tfexp/tfexp/stages/plot/panels"
)

// CostTime is the name of the picture of costs and times.
const CostTime = "cost_time"

var _ = pictures.Register(pictures.Kind{
	PictureKind: table.PictureKind{
		Rank: 112, Name: CostTime,
		Doc: "cost and time of each configuration; the ones that no other configuration beats in both " +
			"are marked",
	},
	Draw: costTime,
})

// option is a configuration with its mean time and cost.
type option struct {
	hardware, short string
	time, cost      stats.Interval
	front           bool
}

// costTime draws a point for each variant of each workload and hardware. If servers cost nothing, there is no picture,
// and no note about it.
func costTime(d *pictures.Data, _ pictures.Ask) ([]pictures.Figure, error) {
	var all []option
	for _, v := range d.Variants {
		o := option{hardware: v.Hardware}
		o.time = stats.MeanInterval(v.Values(measure.Makespan), analysis.DefaultLevel)
		o.cost = stats.MeanInterval(v.Values(measure.Cost), analysis.DefaultLevel)
		if !stats.Finite(o.time.Mean) || !stats.Finite(o.cost.Mean) {
			continue
		}
		var parts []string
		if len(d.Plan.Hardware) > 1 {
			parts = append(parts, v.Hardware)
		}
		if len(d.Plan.Policies) > 1 {
			parts = append(parts, v.Policy)
		}
		for _, a := range v.Axes {
			parts = append(parts, a.Value)
		}
		o.short = strings.Join(parts, " ")
		all = append(all, o)
	}
	if !slices.ContainsFunc(all, func(o option) bool { return o.cost.Mean > 0 }) || len(all) < 2 {
		return nil, nil
	}
	front(all)
	return []pictures.Figure{costFigure(all)}, nil
}

// front marks the options for which no other option is both faster and cheaper.
func front(all []option) {
	for i := range all {
		a := &all[i]
		a.front = !slices.ContainsFunc(all, func(b option) bool {
			return b.time.Mean <= a.time.Mean && b.cost.Mean <= a.cost.Mean &&
				(b.time.Mean < a.time.Mean || b.cost.Mean < a.cost.Mean)
		})
	}
}

// frontOf returns the marked options, the fastest first.
func frontOf(all []option) []option {
	on := slices.DeleteFunc(slices.Clone(all), func(o option) bool { return !o.front })
	slices.SortStableFunc(on, func(a, b option) int { return cmp.Compare(a.time.Mean, b.time.Mean) })
	return on
}

// numbered draws a point with a number in it.
func numbered(n int) func(draw.Canvas, vg.Rectangle) {
	return func(c draw.Canvas, box vg.Rectangle) {
		st := canvas.Aligned(canvas.SmallSize, canvas.Ink, true, -1, -0.5)
		c.FillText(st, vg.Point{X: box.Max.X, Y: (box.Min.Y + box.Max.Y) / 2}, fmt.Sprint(n))
	}
}

func costFigure(all []option) pictures.Figure {
	const title = "Cost against time"
	most := 0.0
	for _, o := range all {
		most = max(most, o.time.Mean)
	}
	per, unit := canvas.TimeUnit(most)
	var hardware []string
	p := panels.Panel{X: "makespan (" + unit + ")", Y: "cost (" + measure.Currency() + ")", FromZero: true}
	var best panels.Line
	for _, o := range all {
		i := slices.Index(hardware, o.hardware)
		if i < 0 {
			i = len(hardware)
			hardware = append(hardware, o.hardware)
			p.Lines = append(p.Lines, panels.Line{Radius: 2.6, Style: draw.LineStyle{Color: canvas.Hue(i)}})
		}
		l := &p.Lines[i]
		if o.front {
			best.X, best.Y = append(best.X, o.time.Mean/per), append(best.Y, o.cost.Mean)
		}
		l.X, l.Y = append(l.X, o.time.Mean/per), append(l.Y, o.cost.Mean)
	}
	best.Sort()
	for i := range best.X {
		best.Labels = append(best.Labels, fmt.Sprint(i+1))
	}
	best.Style, best.Steps = draw.LineStyle{Color: canvas.Quiet, Width: 0.9, Dashes: []vg.Length{3, 2}}, true
	p.Lines = append(p.Lines, best)
	var keys []canvas.Key
	for i, h := range hardware {
		if len(hardware) == 1 {
			break // there is only one point
		}
		keys = append(keys, canvas.Key{Label: h, Swatch: canvas.Dotted(canvas.Hue(i))})
	}
	about := "Number 1 is both the fastest and the cheapest."
	if len(best.X) > 1 {
		keys = append(keys, canvas.Key{Label: "Pareto front:", Swatch: canvas.Stroked(best.Style)})
		about = fmt.Sprintf("The %d on the line are numbered: no other is both faster and cheaper.", len(best.X))
	}
	for i, o := range frontOf(all) {
		keys = append(keys, canvas.Key{Label: o.short, Swatch: numbered(i + 1)})
	}
	return pictures.Figure{
		Picture: pictures.Picture{Name: CostTime, Kind: CostTime, Title: title,
			Caption: fmt.Sprintf("A point is the mean of a configuration over its replicates, %d in all. %s", len(all), about)},
		Width: canvas.Width, Height: canvas.HeadHeight(keys) + 2*panels.Tall,
		Paint: func(c draw.Canvas) { p.Paint(canvas.Head(c, title, keys)) },
	}
}
