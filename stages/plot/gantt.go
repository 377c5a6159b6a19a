package plot

import (
	"fmt"
	"strings"

	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/stages/plot/canvas"
)

// Gantt is the name of the picture of a cell's schedule.
const Gantt = "gantt"

var _ = Register(Kind{
	PictureKind: table.PictureKind{
		Rank: 10, Name: Gantt,
		Doc:     "cores over time with a color for each job",
		OfCells: "schedules", Schedule: true,
	},
	Draw: func(d *Data, a Ask) ([]Figure, error) { return d.gantts(a.MaxCells) },
})

// mostShared bounds the lengths of cells that share a time axis: the longest is at most twice as long as each other
// cell.
const mostShared = 2

// gantts draws one chart for each cell. If there are many cells, it draws one for each variant. Charts of the same
// replicate have the same time axis, so that they can be compared.
func (d *Data) gantts(most int) ([]Figure, error) {
	const title = "Schedules"
	cells := d.Cells
	note := ""
	if len(cells) > most {
		cells = nil
		for _, v := range d.Variants {
			if len(v.Cells) > 0 && len(cells) < most {
				cells = append(cells, v.Cells[0])
			}
		}
		note = fmt.Sprintf(" Drawn for %d of %d cells: the first replicate of a policy.", len(cells), len(d.Cells))
	}
	if len(cells) == 0 {
		return Skipped(Gantt, "gantt", title, "no cell is complete yet"), nil
	}
	type axis struct {
		workload, hardware string
		replicate          int
	}
	longest := map[axis]float64{}
	axisOf := func(c record.Cell) axis { return axis{c.Workload, c.Hardware, c.Replicate} }
	charts := make([]*Chart, len(cells))
	for i, c := range cells {
		ch, err := d.Chart(c)
		if err != nil {
			return nil, err
		}
		charts[i] = ch
		if ch != nil {
			longest[axisOf(c)] = max(longest[axisOf(c)], ch.Until)
		}
	}
	var out []Figure
	for i, c := range cells {
		t := fmt.Sprintf("Schedule of %s, replicate %d%s", c.Variant(), c.Replicate,
			d.Where(Setting{Workload: c.Workload, Hardware: c.Hardware}))
		name := "gantt-" + c.Cell
		if charts[i] == nil {
			reason := analysis.Crowded(c)
			if reason == "" {
				reason = "the cell recorded only its metrics"
			}
			f := Skipped(Gantt, name, t, reason)
			f[0].Cell = c.Cell
			out = append(out, f...)
			continue
		}
		about := note
		if all := longest[axisOf(c)]; all <= mostShared*charts[i].Until {
			charts[i].Until = all
		} else {
			about = " Its time axis ends with the cell; other cells of the replicate have a longer one." + note
		}
		charts[i].ThinEpochs()
		for _, h := range d.Plan.Hardware {
			if h.Name == c.Hardware {
				charts[i].Nodes = h.Nodes
			}
		}
		charts[i].Origin = d.Origin(c.Workload)
		out = append(out, ganttFigure(charts[i], c, name, t, about))
	}
	return out, nil
}

// Chart returns the Gantt chart of a cell; nil if the cell recorded no events, or has too many jobs to draw.
func (d *Data) Chart(c record.Cell) (*Chart, error) {
	if !d.serversRead {
		var err error
		if d.servers, err = record.Servers.Read(d.Dir); err != nil {
			return nil, err
		}
		d.serversRead = true
	}
	s, err := analysis.ReadSchedule(d.Experiment, c, d.servers)
	if s == nil || err != nil {
		return nil, err
	}
	return New(s, &d.palette), nil
}

// ganttFigure returns the picture of a chart.
func ganttFigure(ch *Chart, c record.Cell, name, title, note string) Figure {
	size := ch.Size()
	caption := "Above, which job holds each core; below, each job from its arrival to its end: solid while it runs, " +
		"pale while it waits, queued or paused."
	if size.Row == 0 {
		caption = "Which job holds each core."
	}
	switch {
	case ch.GPUs > 0 && ch.Cores == 0:
		caption = strings.Replace(caption, "each core", "each GPU", 1)
	case ch.GPUs > 0:
		caption = strings.Replace(caption, "each core", "each core, and under them each GPU", 1)
	}
	if ch.Shares() {
		caption += " Of a GPU that two jobs share, the one that came later has the upper half."
	}
	if len(ch.Servers) > 0 {
		caption += " Behind the cores are the lives of their servers."
	}
	caption += note
	keys := ch.Keys(size.Row > 0)
	return Figure{
		Picture: Picture{Name: name, Kind: Gantt, Cell: c.Cell, Title: title, Caption: caption},
		Width:   canvas.Width, Height: canvas.HeadHeight(keys) + size.Height + AxisHeight + canvas.Margin,
		Paint: func(c draw.Canvas) { ch.Paint(canvas.Head(c, title, keys), size) },
	}
}
