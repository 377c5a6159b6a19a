package plot

import (
	"errors"
	"fmt"
	"image/color"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/picture"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/ledger"
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

// held is a span of time in which a job holds cores and GPUs.
type held struct {
	from, to    float64
	cores, gpus scheduler.CoreSet
}

// lane is what happened to one job.
type lane struct {
	record.JobRow
	held []held
	// resizes and epochs are instants: of resizes, and of the ends of epochs.
	resizes, epochs []float64

	color color.NRGBA
	end   float64 // when it ended, or the trace did
}

// chart is a Gantt chart of one cell.
type chart struct {
	lanes   []lane
	classes []string
	cores   int
	gpus    int     // that were held by some job; drawn under the cores
	until   float64 // the time axis ends here
	from    float64
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
		return skipped(Gantt, "gantt", title, "no cell is complete yet"), nil
	}
	type axis struct {
		workload, hardware string
		replicate          int
	}
	longest := map[axis]float64{}
	axisOf := func(c record.Cell) axis { return axis{c.Workload, c.Hardware, c.Replicate} }
	charts := make([]*chart, len(cells))
	for i, c := range cells {
		ch, err := d.chart(c)
		if err != nil {
			return nil, err
		}
		charts[i] = ch
		if ch != nil {
			longest[axisOf(c)] = max(longest[axisOf(c)], ch.until)
		}
	}
	var out []Figure
	for i, c := range cells {
		t := fmt.Sprintf("Schedule of %s, replicate %d%s", c.Variant(), c.Replicate,
			d.place(setting{workload: c.Workload, hardware: c.Hardware}))
		name := "gantt-" + c.Cell
		if charts[i] == nil {
			reason := crowded(c)
			if reason == "" {
				reason = "the cell recorded only its metrics"
			}
			f := skipped(Gantt, name, t, reason)
			f[0].Cell = c.Cell
			out = append(out, f...)
			continue
		}
		charts[i].until = longest[axisOf(c)]
		charts[i].thinEpochs()
		out = append(out, charts[i].figure(c, name, t, note))
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

// chart reads what a Gantt chart shows; nil when the cell kept no events, or
// has too much in it.
func (d *Data) chart(c record.Cell) (*chart, error) {
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
	ch := &chart{cores: c.Cores, classes: classes(rows), lanes: make([]lane, len(rows))}
	at := make(map[string]int, len(rows))
	inClass := make([]int, len(ch.classes))
	ch.from = math.Inf(1)
	for i, r := range rows {
		k := index(ch.classes, r.Class)
		// Shades come back after four jobs: neighbours differ, and all stay readable.
		ch.lanes[i] = lane{JobRow: r, color: shade(hue(k), []float64{0, 0.3, 0.15, 0.45}[inClass[k]%4])}
		inClass[k]++
		at[r.Job] = i
		ch.from = min(ch.from, r.Arrival)
	}
	ch.from = min(0, ch.from)
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
		ch.lanes[i].event(e, replay, i)
		ch.until = max(ch.until, e.At)
		for _, s := range e.Cores {
			ch.cores = max(ch.cores, int(s.Hi))
		}
		for _, s := range e.GPUs {
			ch.gpus = max(ch.gpus, int(s.Hi))
		}
	}
	progress, err := d.Progress(c.CellRef)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, p := range progress {
		if i, ok := at[p.Job]; ok && p.Epoch > 0 {
			ch.lanes[i].epochs = append(ch.lanes[i].epochs, p.At)
		}
	}
	for i := range ch.lanes {
		ch.lanes[i].close(ch.until)
		if ch.lanes[i].end == 0 {
			ch.lanes[i].end = ch.until
		}
	}
	return ch, nil
}

// event takes the next event of the lane's job, which has this number in the replay.
func (l *lane) event(e record.EventRow, replay *ledger.Ledger, number int) {
	ev := e.Of(number)
	step := replay.Event(&ev)
	if step.Ended {
		l.close(e.At)
	}
	if step.Began {
		l.held = append(l.held, held{from: e.At, to: -1, cores: e.Cores, gpus: e.GPUs})
	}
	if step.Ended && step.Began {
		l.resizes = append(l.resizes, e.At)
	}
	if replay.Job(number).Over() && l.end == 0 {
		l.end = e.At
	}
}

// close ends the present span of holding cores, if there is one.
func (l *lane) close(at float64) {
	if n := len(l.held); n > 0 && l.held[n-1].to < 0 {
		l.held[n-1].to = at
	}
}

// Heights in points.
const (
	coresHeight   = 190.0 // at most, for all cores
	coreHeight    = 34.0  // at most, for one
	lanesHeight   = 260.0
	laneHeight    = 13.0
	laneGap       = 14.0
	leastLane     = 0.25 // below this the lanes are left out
	axisHeight    = 34.0
	labelledLanes = 8.0 // lanes from this height on are labelled
)

// size is how large a chart is drawn: the height of a core, of a job's lane (0
// leaves the lanes out), and of all of them, in points.
type size struct{ core, row, height float64 }

func (ch *chart) size() size {
	s := size{
		core: min(coreHeight, max(coresHeight, min(ch.rows(), 400))/ch.rows()),
		row:  min(laneHeight, lanesHeight/float64(len(ch.lanes))),
	}
	s.height = ch.rows() * s.core
	if s.row < leastLane {
		s.row = 0
	} else {
		s.height += laneGap + s.row*float64(len(ch.lanes))
	}
	return s
}

func (ch *chart) figure(c record.Cell, name, title, note string) Figure {
	size := ch.size()
	caption := "Above, which job holds each core; below, each job from its arrival to its end: solid while it runs, " +
		"pale while it waits, queued or paused."
	if size.row == 0 {
		caption = "Which job holds each core."
	}
	if ch.gpus > 0 {
		caption = strings.Replace(caption, "each core", "each core, and under them each GPU", 1)
	}
	caption += note
	keys := ch.keys(size.row > 0)
	return Figure{
		Picture: Picture{Name: name, Kind: Gantt, Cell: c.Cell, Title: title, Caption: caption},
		Width:   width, Height: headHeight(keys) + size.height + axisHeight + margin,
		Paint: func(c draw.Canvas) { ch.paint(head(c, title, keys), size) },
	}
}

// paint draws the chart with its axes.
func (ch *chart) paint(c draw.Canvas, s size) {
	p := newPlot()
	per, unit := timeUnit(ch.until)
	p.X.Label.Text = "time since the cell's start (" + unit + ")"
	p.X.Min, p.X.Max = ch.from/per, ch.until/per
	if p.X.Max <= p.X.Min {
		p.X.Max = p.X.Min + 1
	}
	p.Y.Min, p.Y.Max = 0, ch.rows()*s.core
	p.Y.LineStyle.Width = 0
	p.Y.Tick.LineStyle.Width = 0
	p.Y.Tick.Length = 2
	var ticks []plot.Tick
	if s.row > 0 {
		p.Y.Min = -laneGap - s.row*float64(len(ch.lanes))
		ticks = append(ticks, ch.laneTicks(s.row)...)
	}
	p.Y.Tick.Marker = plot.ConstantTicks(append(ticks, ch.coreTicks(s.core)...))
	p.Add(grid{vertical: true}, bars{ch, per, s.core, s.row})
	p.Draw(c)
}

func (ch *chart) keys(lanes bool) []key {
	var keys []key
	for i, class := range ch.classes {
		keys = append(keys, key{class, filled(hue(i))})
	}
	if len(keys) > 12 {
		keys = keys[:12]
	}
	if lanes {
		keys = append(keys,
			key{"waiting (queued or paused)", filled(waitingColor(hue(6)))},
			key{"arrival", func(c draw.Canvas, box vg.Rectangle) {
				arrival(c, (box.Min.X+box.Max.X)/2, box.Min.Y, box.Max.Y-box.Min.Y)
			}})
		if slices.ContainsFunc(ch.lanes, func(l lane) bool { return len(l.epochs) > 0 }) {
			keys = append(keys, key{"end of an epoch", func(c draw.Canvas, box vg.Rectangle) {
				filled(hue(0))(c, box)
				epochEnd(c, (box.Min.X+box.Max.X)/2, box.Min.Y, box.Max.Y-box.Min.Y)
			}})
		}
		if slices.ContainsFunc(ch.lanes, func(l lane) bool { return len(l.resizes) > 0 }) {
			keys = append(keys, key{"resize", func(c draw.Canvas, box vg.Rectangle) {
				resized(c, (box.Min.X+box.Max.X)/2, (box.Min.Y+box.Max.Y)/2, 2.5)
			}})
		}
		for _, l := range ch.lanes {
			if l.State == string(scheduler.Failed) || l.State == string(scheduler.Stopped) {
				keys = append(keys, key{"failed", func(c draw.Canvas, box vg.Rectangle) {
					failure(c, (box.Min.X+box.Max.X)/2, (box.Min.Y+box.Max.Y)/2, 3)
				}})
				break
			}
		}
	}
	return keys
}

func waitingColor(c color.NRGBA) color.NRGBA { return shade(c, 0.72) }

// coreTicks label the middle of each core, of as many as have room.
func (ch *chart) coreTicks(core float64) []plot.Tick {
	step := 1
	for float64(step)*core < tickSize+2 {
		step *= 2
	}
	var ticks []plot.Tick
	for i := 0; i < ch.cores; i += step {
		ticks = append(ticks, plot.Tick{Value: (ch.under() + float64(i) + 0.5) * core, Label: "core " + strconv.Itoa(i)})
	}
	for i := 0; i < ch.gpus; i += step {
		ticks = append(ticks, plot.Tick{Value: (float64(i) + 0.5) * core, Label: "GPU " + strconv.Itoa(i)})
	}
	return ticks
}

func (ch *chart) laneTicks(row float64) []plot.Tick {
	var ticks []plot.Tick
	for i, l := range ch.lanes {
		label := ""
		if row >= labelledLanes {
			label = fit(l.Job, 90, tickSize)
		} else if i == 0 || i == len(ch.lanes)-1 {
			label = fmt.Sprintf("job %d", i+1)
		}
		if label != "" {
			ticks = append(ticks, plot.Tick{Value: laneMiddle(i, row), Label: label})
		}
	}
	return ticks
}

func laneMiddle(i int, row float64) float64 { return -laneGap - (float64(i)+0.5)*row }

// bars draws the chart's two parts.
type bars struct {
	*chart
	per, core, row float64
}

// Plot implements plot.Plotter.
func (b bars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	at := func(t float64) vg.Length { return x(t / b.per) }
	base := draw.LineStyle{Color: rule, Width: 0.5}
	for i := 0; i <= b.cores && b.core >= 3; i++ {
		at := y((b.under() + float64(i)) * b.core)
		c.StrokeLine2(base, c.Min.X, at, c.Max.X, at)
	}
	for i := 0; i <= b.gpus && b.gpus > 0 && b.core >= 3; i++ {
		c.StrokeLine2(base, c.Min.X, y(float64(i)*b.core), c.Max.X, y(float64(i)*b.core))
	}
	inset := vg.Length(min(1, b.core*0.04))
	for i := range b.lanes {
		l := &b.lanes[i]
		var path vg.Path
		var last vg.Length = -1
		for _, h := range l.held {
			x0, x1 := at(h.from), at(h.to)
			if x1-last < hairline {
				continue // nothing that could be seen beside what is drawn
			}
			last = x1
			x1 = max(x1, x0+hairline)
			for _, s := range b.stretches(h) {
				path = append(path, rectangle(x0, y(s.low*b.core)+inset, x1, y(s.high*b.core)-inset)...)
			}
		}
		c.SetColor(l.color)
		if len(path) > 0 {
			c.Fill(path)
		}
		b.labels(c, l, at, y)
	}
	if b.row > 0 {
		b.drawLanes(c, at, y)
	}
}

// hairline is the least width that is drawn, in points.
const hairline = 0.2

// labels names the job in its bars that have room.
func (b bars) labels(c draw.Canvas, l *lane, at func(float64) vg.Length, y func(float64) vg.Length) {
	need := vg.Length(textWidth(l.Job, smallSize) + 4)
	st := style(smallSize, readable(l.color), false)
	st.XAlign, st.YAlign = text.XCenter, text.YCenter
	for _, h := range l.held {
		if at(h.to)-at(h.from) < need {
			continue
		}
		for _, s := range b.stretches(h) {
			if (s.high-s.low)*b.core >= smallSize+3 {
				c.FillText(st, vg.Point{X: (at(h.from) + at(h.to)) / 2, Y: y((s.low + s.high) / 2 * b.core)}, l.Job)
			}
		}
	}
}

func (b bars) drawLanes(c draw.Canvas, at func(float64) vg.Length, y func(float64) vg.Length) {
	half := vg.Length(b.row * 0.36)
	for i := range b.lanes {
		l := &b.lanes[i]
		mid := y(laneMiddle(i, b.row))
		c.SetColor(waitingColor(l.color))
		c.Fill(rectangle(at(l.Arrival), mid-half*0.55, max(at(l.end), at(l.Arrival)+hairline), mid+half*0.55))
		var path vg.Path
		var last vg.Length = -1
		for _, h := range l.held {
			x0, x1 := at(h.from), at(h.to)
			if x1-last < hairline {
				continue
			}
			last = x1
			path = append(path, rectangle(x0, mid-half, max(x1, x0+hairline), mid+half)...)
		}
		c.SetColor(l.color)
		if len(path) > 0 {
			c.Fill(path)
		}
		if b.row >= 3 {
			b.marks(c, l, at, mid, half)
			arrival(c, at(l.Arrival), mid-half, 2*half)
		}
		if l.State == string(scheduler.Failed) || l.State == string(scheduler.Stopped) {
			failure(c, at(l.end), mid, min(3, half))
		}
	}
}
