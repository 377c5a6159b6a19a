package plot

import (
	"fmt"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/stages/plot/canvas"
)

// Fidelity is the name of the picture of real and simulated schedules.
const Fidelity = "fidelity"

var _ = Register(Kind{
	PictureKind: table.PictureKind{
		Rank: 70, Name: Fidelity,
		Doc:     "real cells above their simulations",
		Section: "fidelity", OfCells: "schedules", AllCells: true,
	},
	Draw: func(d *Data, a Ask) ([]Figure, error) { return fidelity(d, a.MaxCells) },
})

// fidelity draws the schedule of the real cell above the schedule of its simulation, with the same time axis, for the
// first replicate of each variant. Without real cells, there is no picture, and no note about it.
func fidelity(d *Data, most int) ([]Figure, error) {
	const title = "Real and simulated schedules"
	real := false
	for _, c := range d.Plan.Cells {
		real = real || c.Measured()
	}
	if !real {
		return nil, nil
	}
	pairs := map[string]analysis.Pair{}
	for _, p := range analysis.Pairs(d.Experiment) {
		pairs[p.Real.Cell] = p
	}
	var out []Figure
	for _, v := range d.Variants {
		for _, c := range v.Cells {
			p, ok := pairs[c.Cell]
			if !ok {
				continue
			}
			f, err := both(d, p)
			if err != nil {
				return nil, err
			}
			out = append(out, f)
			break
		}
		if len(out) == most {
			break
		}
	}
	if len(out) == 0 {
		return Skipped(Fidelity, "fidelity", title, "no real cell has been simulated yet"), nil
	}
	return out, nil
}

// both returns the picture of a real cell above its simulation.
func both(d *Data, p analysis.Pair) (Figure, error) {
	c := p.Real
	title := fmt.Sprintf("Real and simulated schedule of %s, replicate %d%s", c.Variant(), c.Replicate,
		d.Where(Setting{Workload: c.Workload, Hardware: c.Hardware}))
	name := "fidelity-" + c.Cell
	real, err := d.Chart(c)
	if err != nil {
		return Figure{}, err
	}
	twin, err := d.Chart(p.Twin)
	if err != nil {
		return Figure{}, err
	}
	if real == nil || twin == nil {
		f := Skipped(Fidelity, name, title, "the cell recorded only its metrics")[0]
		f.Cell = c.Cell
		return f, nil
	}
	real.Until = max(real.Until, twin.Until)
	twin.Until = real.Until
	real.ThinEpochs()
	size := real.Size()
	keys := real.Keys(size.Row > 0)
	each := size.Height + AxisHeight + twinHead
	caption := fmt.Sprintf("The real run, and its simulation from the fitted estimates with the same policy and "+
		"arrivals. "+
		"Real and simulated: makespan %s and %s s, mean JCT %s and %s s.",
		table.Number(measure.Makespan.Of(&c.Metrics)), table.Number(measure.Makespan.Of(&p.Twin.Metrics)),
		table.Number(measure.MeanJCT.Of(&c.Metrics)), table.Number(measure.MeanJCT.Of(&p.Twin.Metrics)))
	return Figure{
		Picture: Picture{Name: name, Kind: Fidelity, Cell: c.Cell, Title: title, Caption: caption},
		Width:   canvas.Width, Height: canvas.HeadHeight(keys) + 2*each + canvas.Margin,
		Paint: func(c draw.Canvas) {
			c = canvas.Head(c, title, keys)
			upper := draw.Crop(c, 0, 0, vg.Length(each), 0)
			lower := draw.Crop(c, 0, 0, 0, vg.Length(-each))
			real.Paint(named(upper, "real"), size)
			twin.Paint(named(lower, "simulated"), size)
		},
	}, nil
}

// twinHead is the height of a chart's name, in points.
const twinHead = canvas.TitleSize + 4

// named draws a name above a chart, and returns the canvas below it.
func named(c draw.Canvas, name string) draw.Canvas {
	st := canvas.Style(canvas.LabelSize, canvas.Ink, true)
	st.YAlign = text.YTop
	c.FillText(st, vg.Point{X: c.Min.X, Y: c.Max.Y}, name)
	return draw.Crop(c, 0, 0, 0, -twinHead)
}
