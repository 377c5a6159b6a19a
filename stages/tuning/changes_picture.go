package tuning

import (
	"errors"
	"fmt"
	"io/fs"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
	pictures "github.com/tfexp/tfexp/stages/plot"
	"github.com/tfexp/tfexp/stages/plot/canvas"
	"github.com/tfexp/tfexp/stages/steering"
	"github.com/tfexp/tfexp/stages/tuning/trial"
)

// Changes is the name of this kind of picture.
const Changes = "changes"

var _ = pictures.Register(pictures.Kind{
	PictureKind: table.PictureKind{
		Rank: 142, Name: Changes, Section: "answer",
		Doc: "the loss of a job over time, with the changes of its settings while it trained",
	},
	Draw: changes,
})

// changed is a job whose settings were changed while it trained.
type changed struct {
	loss  [][2]float64 // points: seconds from the cell's start, and the loss
	marks []mark
}

// mark is the line that marks one change of settings.
type mark struct {
	at       float64
	settings string
	restart  bool
}

func changes(d *pictures.Data, _ pictures.Ask) ([]pictures.Figure, error) {
	var out []pictures.Figure
	for _, c := range trial.Cells(d.Experiment) {
		if trial.Asked.Of(&d.Plan)[c.Trial.Tuning].Mode == "" {
			continue
		}
		x, err := jobOf(d.Experiment, c.CellRef)
		if err != nil {
			return nil, err
		}
		if len(x.loss) > 1 {
			out = append(out, changesFigure(c.CellRef, x))
		}
	}
	return out, nil
}

// jobOf reads the losses of the first job of a cell, and the changes of its settings.
func jobOf(e *record.Experiment, c record.CellRef) (x changed, err error) {
	rows, err := record.ReadLive(e, c, record.Progress)
	if errors.Is(err, fs.ErrNotExist) {
		return x, nil
	}
	if err != nil {
		return x, err
	}
	for _, r := range rows {
		if r.Job == rows[0].Job && r.Loss > 0 {
			x.loss = append(x.loss, [2]float64{r.At, r.Loss})
		}
	}
	made, err := steering.Decisions.Read(e.Dir, record.CellsDir, c.Cell)
	for _, r := range made {
		if r.How != "" && r.How != "refused" {
			x.marks = append(x.marks, mark{r.At, r.After, r.How == "restart"})
		}
	}
	return x, err
}

func changesFigure(c record.CellRef, x changed) pictures.Figure {
	keys := []canvas.Key{
		{Label: "loss", Swatch: canvas.Stroked(lineOf(0))},
		{Label: "change in place", Swatch: canvas.Stroked(markLine(false))},
		{Label: "change by a restart", Swatch: canvas.Stroked(markLine(true))},
	}
	p := canvas.NewPlot()
	p.X.Label.Text, p.Y.Label.Text = "time (s)", "loss"
	p.X.Min, p.X.Max = 0, x.loss[len(x.loss)-1][0]
	p.Y.Min, p.Y.Max = math.Inf(1), 0
	for _, l := range x.loss {
		p.Y.Min, p.Y.Max = math.Min(p.Y.Min, l[1]), math.Max(p.Y.Max, l[1])
	}
	p.Y.Min, p.Y.Max = p.Y.Min*0.9, p.Y.Max*1.1
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, canvas.Decades{}
	p.Add(canvas.Grid{Horizontal: true}, x)
	title := "Loss and changes – " + c.Cell
	return pictures.Figure{
		Picture: pictures.Picture{Name: Changes + "-" + c.Cell, Kind: Changes, Cell: c.Cell, Title: title,
			Caption: fmt.Sprintf("The training loss over time, and the %d changes of settings; beside each stands what holds "+
				"from then on.", len(x.marks))},
		Width: canvas.Width, Height: canvas.HeadHeight(keys) + 260,
		Paint: func(c draw.Canvas) { p.Draw(draw.Crop(canvas.Head(c, title, keys), 0, -6, 4, 0)) },
	}
}

func markLine(restart bool) draw.LineStyle {
	s := draw.LineStyle{Color: canvas.Hue(1), Width: 1, Dashes: []vg.Length{3, 2}}
	if restart {
		s.Color, s.Dashes = canvas.Hue(2), nil
	}
	return s
}

// Plot implements plot.Plotter. The labels of changes are in rows, one below the other, so that labels of changes that
// are close in time do not overlap.
func (x changed) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	line := schema.Each(x.loss, func(l [2]float64) vg.Point { return vg.Point{X: tx(l[0]), Y: ty(l[1])} })
	c.StrokeLines(lineOf(0), line)
	const size, rows = 8.0, 8
	for i, m := range x.marks {
		at, row := tx(m.at), vg.Length(i%rows)
		// ends below the labels of earlier changes
		c.StrokeLine2(markLine(m.restart), at, c.Min.Y, at, c.Max.Y-(size+3)*row)
		text := canvas.Fit(m.settings, 170, size)
		width := vg.Length(canvas.TextWidth(text, size))
		left := at + 3
		if left+width > c.Max.X {
			left = at - 3 - width
		}
		c.FillText(canvas.Style(size, canvas.Ink, false), vg.Point{X: left, Y: c.Max.Y - (size+3)*(row+1)}, text)
	}
}
