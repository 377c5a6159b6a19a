package plot

import (
	"errors"
	"fmt"
	"io/fs"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/picture"
	"github.com/tfexp/tfexp/stages/plot/canvas"
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

// cores draws, for each workload and hardware, the cores held over time in the
// first replicate, a panel a policy.
func (d *Data) cores() ([]Figure, error) {
	const title = "Cores in use over time"
	var out []Figure
	for _, s := range d.settings() {
		var panels []canvas.Usage
		replicate := s.variants[0].Cells[0].Replicate
		for i, v := range s.variants[:min(len(s.variants), mostPanels)] {
			var rows []canvas.Level
			err := d.EachOccupancy(v.Cells[0].CellRef, sampleStep(v.Cells[0]), func(o *measure.Occupancy) bool {
				rows = append(rows, canvas.Level{At: o.At, Held: float64(o.CoresHeld)})
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
				panels = append(panels, canvas.Usage{Label: label, Rows: rows, Cores: v.Cells[0].Cores, Ink: canvas.Hue(i)})
			}
		}
		name, t := "cores"+d.suffix(s), fmt.Sprintf("%s, replicate %d%s", title, replicate, d.place(s))
		if len(panels) == 0 {
			out = append(out, Skipped(Cores, name, t, "the cells recorded only their metrics")...)
			continue
		}
		caption := "Filled: cores held by running jobs. Dashed line: all cores." +
			someOf(mostPanels, len(s.variants), "policy variant")
		out = append(out, coresFigure(name, t, caption, panels))
	}
	if len(out) == 0 {
		return Skipped(Cores, "cores", title, "no cell is complete yet"), nil
	}
	return out, nil
}

func coresFigure(name, title, caption string, panels []canvas.Usage) Figure {
	const tall = 62.0
	until, wide := 0.0, 0.0
	for _, u := range panels {
		until = max(until, u.Rows[len(u.Rows)-1].At)
		wide = max(wide, canvas.TextWidth(u.Label, canvas.TickSize))
	}
	per, unit := canvas.TimeUnit(until)
	return Figure{
		Picture: Picture{Name: name, Kind: Cores, Title: title, Caption: caption},
		Width:   canvas.Width, Height: canvas.HeadHeight(nil) + tall*float64(len(panels)) + 32 + canvas.Margin,
		Paint: func(c draw.Canvas) {
			c = canvas.Head(c, title, nil)
			for i, u := range panels {
				last := i == len(panels)-1
				top := c.Max.Y - vg.Length(tall*float64(i))
				bottom := top - tall
				if last {
					bottom = c.Min.Y
				}
				st := canvas.Style(canvas.TickSize, canvas.Ink, false)
				st.YAlign = -1
				c.FillText(st, vg.Point{X: c.Min.X + 22, Y: top}, canvas.Fit(u.Label, canvas.Width-60, canvas.TickSize))
				p := canvas.NewPlot()
				p.X.Min, p.X.Max = 0, max(until/per, 1e-9)
				p.Y.Min, p.Y.Max = 0, float64(u.Cores)*1.08
				p.Y.Tick.Marker = plot.ConstantTicks{{Value: 0, Label: "0"}, {Value: float64(u.Cores), Label: fmt.Sprint(u.Cores)}}
				if last {
					p.X.Label.Text = "time since the cell's start (" + unit + ")"
				} else {
					p.X.Tick.Marker = canvas.Blank{}
					p.X.Tick.Length = 0
				}
				p.Add(canvas.Area{Usage: u, Per: per})
				p.Draw(draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
					Min: vg.Point{X: c.Min.X, Y: bottom}, Max: vg.Point{X: c.Max.X - 6, Y: top - 11},
				}})
			}
		},
	}
}
