package plot

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/stages/plot/canvas"
)

// Names of pictures over time.
const (
	Cores = "cores"
	Queue = "queue"
)

// overTime is a quantity that is drawn over time for each variant.
type overTime struct {
	kind, title, caption string
	// of returns the quantity of a row. most returns its limit in the cell; 0 means no limit.
	of   func(*measure.Occupancy) float64
	most func(record.Cell) int
}

var _ = Register(Kind{
	PictureKind: table.PictureKind{
		Rank: 50, Name: Cores,
		Doc: "cores in use",
	},
	Draw: func(d *Data, _ Ask) ([]Figure, error) {
		return d.overTime(overTime{
			kind: Cores, title: "Cores in use over time", caption: "Filled: cores held by running jobs. Dashed line: all " +
				"cores.",
			of:   func(o *measure.Occupancy) float64 { return float64(o.CoresHeld) },
			most: func(c record.Cell) int { return c.Cores },
		})
	},
})

var _ = Register(Kind{
	PictureKind: table.PictureKind{
		Rank: 52, Name: Queue,
		Doc:       "the number of jobs that wait, before their start or paused",
		OnRequest: "few experiments are about the queue",
	},
	Draw: func(d *Data, _ Ask) ([]Figure, error) {
		return d.overTime(overTime{
			kind: Queue, title: "Length of the queue over time",
			caption: "Filled: waiting jobs, queued or paused. If the queue keeps growing, jobs arrive faster than they finish.",
			of:      func(o *measure.Occupancy) float64 { return float64(o.Queued + o.Paused) },
			most:    func(record.Cell) int { return 0 },
		})
	},
})

// mostPanels is the greatest number of variants in a picture.
const mostPanels = 8

// overTime draws a quantity over time for each workload and hardware: the first replicate of each policy, one panel
// each. Panels without a limit have the same scale.
func (d *Data) overTime(w overTime) ([]Figure, error) {
	var out []Figure
	for _, s := range d.Settings() {
		var panels []canvas.Usage
		replicate := s.Variants[0].Cells[0].Replicate
		for _, v := range ofEachPolicy(s.Variants, mostPanels) {
			var rows []canvas.Level
			err := d.EachOccupancy(v.Cells[0].CellRef, sampleStep(v.Cells[0]), func(o *measure.Occupancy) bool {
				rows = append(rows, canvas.Level{At: o.At, Held: w.of(o)})
				return true
			})
			rows = canvas.Thin(rows, canvas.MostBins)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
			if len(rows) > 0 {
				label := v.Label
				if r := v.Cells[0].Replicate; r != replicate {
					label += fmt.Sprintf(" (replicate %d)", r)
				}
				panels = append(panels, canvas.Usage{Label: label, Rows: rows, Cores: w.most(v.Cells[0]),
					Ink: canvas.Hue(d.look(v.Policy, v.Label).hue), Origin: d.Origin(s.Workload)})
			}
		}
		name, t := w.kind+d.Suffix(s), fmt.Sprintf("%s, replicate %d%s", w.title, replicate, d.Where(s))
		if len(panels) == 0 {
			out = append(out, Skipped(w.kind, name, t, "the cells recorded only their metrics")...)
			continue
		}
		caption := w.caption
		if len(s.Variants) > mostPanels {
			caption += fmt.Sprintf(" Only %d of %d variants are shown: one of each policy, then others.", mostPanels, len(s.Variants))
		}
		out = append(out, CoresFigure(Picture{Name: name, Kind: w.kind, Title: t, Caption: caption}, panels, 0, canvas.Thousands))
	}
	if len(out) == 0 {
		return Skipped(w.kind, w.kind, w.title, "no cell is complete yet"), nil
	}
	return out, nil
}

// ofEachPolicy returns at most n variants in their order: first the first variant of each policy, then the second of
// each, and so on.
func ofEachPolicy(variants []analysis.Variant, n int) []analysis.Variant {
	if len(variants) <= n {
		return variants
	}
	seen, place := map[string]int{}, map[string]int{}
	for _, v := range variants {
		place[v.Label] = seen[v.Policy]
		seen[v.Policy]++
	}
	order := slices.SortedStableFunc(slices.Values(variants), func(a, b analysis.Variant) int {
		return cmp.Compare(place[a.Label], place[b.Label])
	})
	return order[:n]
}

// CoresFigure draws panels over the same time, one below the other, with the axis of time below the last one.
func CoresFigure(p Picture, panels []canvas.Usage, top float64, tick func(float64) string) Figure {
	const tall = 68.0
	until, highest := 1e-9, 1.0
	for _, u := range panels {
		for _, r := range u.Rows {
			until, highest = max(until, r.At), max(highest, r.Held)
		}
	}
	per, unit := canvas.TimeUnit(until)
	return Figure{
		Picture: p,
		Width:   canvas.Width, Height: canvas.HeadHeight(nil) + tall*float64(len(panels)) + 32 + canvas.Margin,
		Paint: func(c draw.Canvas) {
			c = canvas.Head(c, p.Title, nil)
			for i, u := range panels {
				last := i == len(panels)-1
				edge := c.Max.Y - vg.Length(tall*float64(i))
				bottom := edge - tall
				if last {
					bottom = c.Min.Y
				}
				st := canvas.Style(canvas.TickSize, canvas.Ink, false)
				st.YAlign = -1
				c.FillText(st, vg.Point{X: c.Min.X + 30, Y: edge - 4}, canvas.Fit(u.Label, canvas.Width-60, canvas.TickSize))
				q := canvas.NewPlot()
				q.X.Min, q.X.Max = 0, until/per
				marked := cmp.Or(float64(u.Cores), math.Ceil(highest))
				q.Y.Min, q.Y.Max = 0, max(marked, top)*1.08
				q.Y.Tick.Marker = plot.ConstantTicks{{Value: 0, Label: tick(0)}, {Value: marked, Label: tick(marked)}}
				if last {
					canvas.TimeAxis(q, panels[0].Origin, per, unit)
				} else {
					q.X.Tick.Marker = canvas.Blank{}
					q.X.Tick.Length = 0
				}
				if len(u.Rows) > 0 {
					q.Add(canvas.Area{Usage: u, Per: per})
				}
				q.Draw(draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
					Min: vg.Point{X: c.Min.X, Y: bottom}, Max: vg.Point{X: c.Max.X - 6, Y: edge - 16},
				}})
			}
		},
	}
}
