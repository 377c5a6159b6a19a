package plot

import (
	"errors"
	"fmt"
	"image/color"
	"io/fs"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/picture"
)

// Cores is the name of this kind of picture.
const Cores = "cores"

func init() {
	Register(Kind{
		Kind: picture.Kind{
			Rank: 50, Name: Cores,
			Doc: "cores in use",
		},
		Draw: func(d *Data, _ Ask) ([]Figure, error) { return d.cores() },
	})
}

// mostPanels bounds the variants of one picture of cores.
const mostPanels = 8

// usage is what one cell held over time.
type usage struct {
	label string
	rows  []level
	cores int
	ink   color.NRGBA
}

// cores draws, for each workload and hardware, the cores held over time in the
// first replicate, a panel a policy.
func (d *Data) cores() ([]Figure, error) {
	const title = "Cores in use over time"
	var out []Figure
	for _, s := range d.settings() {
		var panels []usage
		replicate := s.variants[0].Cells[0].Replicate
		for i, v := range s.variants[:min(len(s.variants), mostPanels)] {
			var rows []level
			err := d.EachOccupancy(v.Cells[0].CellRef, sampleStep(v.Cells[0]), func(o *measure.Occupancy) bool {
				rows = append(rows, level{o.At, float64(o.CoresHeld)})
				return true
			})
			rows = thin(rows, mostBins)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
			if len(rows) > 0 {
				label := v.Label
				if r := v.Cells[0].Replicate; r != replicate {
					label += fmt.Sprintf(" (replicate %d)", r)
				}
				panels = append(panels, usage{label, rows, v.Cells[0].Cores, hue(i)})
			}
		}
		name, t := "cores"+d.suffix(s), fmt.Sprintf("%s, replicate %d%s", title, replicate, d.place(s))
		if len(panels) == 0 {
			out = append(out, skipped(Cores, name, t, "the cells recorded only their metrics")...)
			continue
		}
		caption := "Filled: cores held by running jobs. Dashed line: all cores." +
			someOf(mostPanels, len(s.variants), "policy variant")
		out = append(out, coresFigure(name, t, caption, panels))
	}
	if len(out) == 0 {
		return skipped(Cores, "cores", title, "no cell is complete yet"), nil
	}
	return out, nil
}

func coresFigure(name, title, caption string, panels []usage) Figure {
	const tall = 62.0
	until, wide := 0.0, 0.0
	for _, u := range panels {
		until = max(until, u.rows[len(u.rows)-1].At)
		wide = max(wide, textWidth(u.label, tickSize))
	}
	per, unit := timeUnit(until)
	return Figure{
		Picture: Picture{Name: name, Kind: Cores, Title: title, Caption: caption},
		Width:   width, Height: headHeight(nil) + tall*float64(len(panels)) + 32 + margin,
		Paint: func(c draw.Canvas) {
			c = head(c, title, nil)
			for i, u := range panels {
				last := i == len(panels)-1
				top := c.Max.Y - vg.Length(tall*float64(i))
				bottom := top - tall
				if last {
					bottom = c.Min.Y
				}
				st := style(tickSize, ink, false)
				st.YAlign = -1
				c.FillText(st, vg.Point{X: c.Min.X + 22, Y: top}, fit(u.label, width-60, tickSize))
				p := newPlot()
				p.X.Min, p.X.Max = 0, max(until/per, 1e-9)
				p.Y.Min, p.Y.Max = 0, float64(u.cores)*1.08
				p.Y.Tick.Marker = plot.ConstantTicks{{Value: 0, Label: "0"}, {Value: float64(u.cores), Label: fmt.Sprint(u.cores)}}
				if last {
					p.X.Label.Text = "time since the cell's start (" + unit + ")"
				} else {
					p.X.Tick.Marker = blank{}
					p.X.Tick.Length = 0
				}
				p.Add(area{u, per})
				p.Draw(draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
					Min: vg.Point{X: c.Min.X, Y: bottom}, Max: vg.Point{X: c.Max.X - 6, Y: top - 11},
				}})
			}
		},
	}
}

// blank is an axis without labels.
type blank struct{}

// Ticks implements plot.Ticker.
func (blank) Ticks(float64, float64) []plot.Tick { return nil }

// area fills what is held over time.
type area struct {
	usage
	per float64
}

// mostBins is the number of stretches of time beyond which they are averaged:
// narrower ones cannot be seen.
const mostBins = 600

// Plot implements plot.Plotter.
func (a area) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	rows := a.rows
	var path vg.Path
	path.Move(vg.Point{X: x(rows[0].At / a.per), Y: y(0)})
	for i, r := range rows {
		path.Line(vg.Point{X: x(r.At / a.per), Y: y(r.held)})
		if i+1 < len(rows) {
			path.Line(vg.Point{X: x(rows[i+1].At / a.per), Y: y(r.held)})
		}
	}
	path.Line(vg.Point{X: x(rows[len(rows)-1].At / a.per), Y: y(0)})
	path.Close()
	c.SetColor(shade(a.ink, 0.35))
	c.Fill(path)
	c.StrokeLine2(draw.LineStyle{Color: quiet, Width: 0.6, Dashes: []vg.Length{3, 2}},
		c.Min.X, y(float64(a.cores)), c.Max.X, y(float64(a.cores)))
}

// level is what is held from an instant on.
type level struct {
	At, held float64
}

// thin averages over n equal stretches of time when there are more changes.
func thin(rows []level, n int) []level {
	if len(rows) <= n {
		return rows
	}
	var out []level
	from, until := rows[0].At, rows[len(rows)-1].At
	step := (until - from) / float64(n)
	at := 0
	for i := range n {
		lo, hi := from+float64(i)*step, from+float64(i+1)*step
		sum := 0.0
		for k := at; k < len(rows) && rows[k].At < hi; k++ {
			end := until
			if k+1 < len(rows) {
				end = rows[k+1].At
			}
			sum += rows[k].held * math.Max(0, math.Min(end, hi)-math.Max(rows[k].At, lo))
			if end <= hi {
				at = k + 1
			}
		}
		out = append(out, level{lo, sum / step})
	}
	return append(out, level{until, rows[len(rows)-1].held})
}
