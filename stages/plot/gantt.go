package plot

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"

	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/picture"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler/ledger"
	"github.com/tfexp/tfexp/stages/plot/canvas"
	"github.com/tfexp/tfexp/stages/plot/timeline"
)

// Gantt is the name of this kind of picture.
const Gantt = "gantt"

func init() {
	Register(Kind{
		Kind: picture.Kind{
			Rank: 10, Name: Gantt,
			Doc:     "cores over time with a colour for each job",
			OfCells: "schedules",
		},
		Draw: func(d *Data, a Ask) ([]Figure, error) { return d.gantts(a.MaxCells) },
	})
}

// gantts draws one chart a cell, or one a variant when there are many cells.
// Charts of the same replicate share their time axis, so that they compare.
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
	charts := make([]*timeline.Chart, len(cells))
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
			d.Place(c.CellRef))
		name := "gantt-" + c.Cell
		if charts[i] == nil {
			reason := crowded(c)
			if reason == "" {
				reason = "the cell recorded only its metrics"
			}
			f := Skipped(Gantt, name, t, reason)
			f[0].Cell = c.Cell
			out = append(out, f...)
			continue
		}
		charts[i].Until = longest[axisOf(c)]
		charts[i].ThinEpochs()
		out = append(out, ganttFigure(charts[i], c, name, t, note))
	}
	return out, nil
}

// mostLanes is the number of jobs beyond which a Gantt chart is a grey mass,
// and takes long to draw.
const mostLanes = 5_000

// mostSlices is the number of stretches of running, over all jobs, beyond which
// each is thinner than a line can be: a quantum of a millisecond makes millions.
const mostSlices = 200_000

// crowded says why a cell has too much in it for a Gantt chart; empty when it has not.
func crowded(c record.Cell) string {
	stretches := jobsOf(c) + measure.Preemptions.CountOf(&c.Metrics) + measure.Resizes.CountOf(&c.Metrics)
	switch {
	case jobsOf(c) > mostLanes:
		return fmt.Sprintf("%d jobs cannot be told apart; at most %d are drawn", jobsOf(c), mostLanes)
	case stretches > mostSlices:
		return fmt.Sprintf("%d stretches of running cannot be told apart; at most %d are drawn", stretches, mostSlices)
	}
	return ""
}

// Chart reads what a Gantt chart shows; nil when the cell kept no events, or
// has too much in it.
func (d *Data) Chart(c record.Cell) (*timeline.Chart, error) {
	if crowded(c) != "" {
		return nil, nil
	}
	rows, err := d.Jobs(c.CellRef)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(rows) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	ch := &timeline.Chart{Cores: c.Cores, Classes: classes(rows), Lanes: make([]timeline.Lane, len(rows))}
	at := make(map[string]int, len(rows))
	inClass := make([]int, len(ch.Classes))
	ch.From = math.Inf(1)
	for i, r := range rows {
		k := index(ch.Classes, r.Class)
		// Shades come back after four jobs: neighbours differ, and all stay readable.
		ch.Lanes[i] = timeline.Lane{JobRow: r, Color: canvas.Shade(canvas.Hue(k), []float64{0, 0.3, 0.15, 0.45}[inClass[k]%4])}
		inClass[k]++
		at[r.Job] = i
		ch.From = min(ch.From, r.Arrival)
	}
	ch.From = min(0, ch.From)
	if ch.Servers, err = d.servers(c); err != nil {
		return nil, err
	}
	for _, s := range ch.Servers { // also those on which no job has run
		for _, span := range s.Cores {
			ch.Cores = max(ch.Cores, int(span.Hi))
		}
	}
	replay := ledger.New(len(rows))
	for e, err := range d.Events(c.CellRef) {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		i, ok := at[e.Job]
		if !ok {
			continue
		}
		ch.Lanes[i].Event(e, replay, i)
		ch.Until = max(ch.Until, e.At)
		for _, s := range e.Cores {
			ch.Cores = max(ch.Cores, int(s.Hi))
		}
		for _, s := range e.GPUs {
			ch.GPUs = max(ch.GPUs, int(s.Hi))
		}
	}
	progress, err := d.Progress(c.CellRef)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, p := range progress {
		if i, ok := at[p.Job]; ok && p.Epoch > 0 {
			ch.Lanes[i].Epochs = append(ch.Lanes[i].Epochs, p.At)
		}
	}
	for i := range ch.Lanes {
		ch.Lanes[i].Close(ch.Until)
		if ch.Lanes[i].End == 0 {
			ch.Lanes[i].End = ch.Until
		}
	}
	return ch, nil
}

// servers returns the lives of the servers of a cell.
func (d *Data) servers(c record.Cell) ([]timeline.Server, error) {
	if d.lives == nil {
		rows, err := d.ReadServers()
		if err != nil {
			return nil, err
		}
		d.lives = map[string][]timeline.Server{}
		for _, r := range rows {
			s := timeline.Server{Created: r.Created, Up: r.Up, Down: r.Down, Revoked: r.Revoked > 0}
			if err := s.Cores.UnmarshalText([]byte(r.Cores)); err == nil {
				d.lives[r.Cell] = append(d.lives[r.Cell], s)
			}
		}
	}
	return d.lives[c.Cell], nil
}

// ganttFigure is the picture of a chart.
func ganttFigure(ch *timeline.Chart, c record.Cell, name, title, note string) Figure {
	size := ch.Size()
	caption := "Above, which job holds each core; below, each job from its arrival to its end: solid while it runs, " +
		"pale while it waits, queued or paused."
	if size.Row == 0 {
		caption = "Which job holds each core."
	}
	if ch.GPUs > 0 {
		caption = strings.Replace(caption, "each core", "each core, and under them each GPU", 1)
	}
	if len(ch.Servers) > 0 {
		caption += " Behind the cores are the lives of their servers."
	}
	caption += note
	keys := ch.Keys(size.Row > 0)
	return Figure{
		Picture: Picture{Name: name, Kind: Gantt, Cell: c.Cell, Title: title, Caption: caption},
		Width:   canvas.Width, Height: canvas.HeadHeight(keys) + size.Height + timeline.AxisHeight + canvas.Margin,
		Paint: func(c draw.Canvas) { ch.Paint(canvas.Head(c, title, keys), size) },
	}
}
