// The chart of a cell's jobs over time: a Gantt chart of its cores and GPUs, and a lane for each job.

package plot

import (
	"fmt"
	"image/color"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages/plot/canvas"
)

// Lane is one job with its color.
type Lane struct {
	analysis.ScheduledJob
	Color color.NRGBA
	class int // index of its class, for the color
}

// Chart is a Gantt chart of one cell. GPUs are drawn below the cores, or alone. Servers are drawn behind the jobs.
type Chart struct {
	Lanes []Lane
	*analysis.Schedule
	// Nodes are the nodes of the cell. If there are several, their names and borders are drawn.
	Nodes []record.NodeRef
	// Origin is the start of the cell in seconds since 1970; 0 means unknown.
	Origin float64

	hues    []int   // index of each class's color
	gpuRows float64 // height of a GPU, in rows of cores
}

// New returns a chart of a schedule.
func New(s *analysis.Schedule, p *analysis.Palette) *Chart {
	ch := &Chart{Schedule: s, Lanes: make([]Lane, len(s.Jobs)), gpuRows: 1}
	ch.hues = append(ch.hues, schema.Each(s.Classes, p.Class)...)
	inClass := make([]int, len(s.Classes))
	for i, j := range s.Jobs {
		k := slices.Index(s.Classes, j.Class)
		// The shade repeats after four jobs, so that neighbors differ and text remains readable.
		ch.Lanes[i] = Lane{ScheduledJob: j, Color: canvas.Shade(canvas.Hue(ch.hues[k]), []float64{0, 0.3, 0.15, 0.45}[inClass[k]%4]),
			class: ch.hues[k]}
		inClass[k]++
	}
	ch.showOnce()
	return ch
}

// showOnce removes duplicates from the chart. It removes the GPUs of rented servers, whose lives are drawn behind the
// cores. It removes the cores if every job that holds cores also holds GPUs.
func (ch *Chart) showOnce() {
	spans := 0
	for _, l := range ch.Lanes {
		spans += len(l.Held)
		if slices.ContainsFunc(l.Held, func(h analysis.Span) bool { return len(h.GPUs) == 0 }) {
			return
		}
	}
	if ch.GPUs == 0 || spans == 0 {
		return
	}
	all := *ch.Schedule
	if ch.Schedule = &all; len(ch.Servers) > 0 {
		ch.GPUs = 0
	} else {
		ch.Cores = 0
	}
}

// AxisHeight is the height of the time axis in points.
const AxisHeight = 34.0

// Heights in points.
const (
	coresHeight   = 190.0 // greatest height of all cores
	coreHeight    = 34.0  // greatest height of one core
	leastGPU      = 5.0   // least height of one GPU, if all GPUs then stay below gpusHeight
	gpusHeight    = 200.0 // height of all GPUs, if there are many
	lanesHeight   = 260.0
	laneHeight    = 13.0
	laneGap       = 14.0
	leastLane     = 0.25 // thinner lanes are not drawn
	labelledLanes = 8.0  // lanes of at least this height have labels
)

// Size is the size of a chart in points: the height of a core, the height of a job's lane (0: no lanes), and the total
// height.
type Size struct{ core, Row, Height float64 }

// Size returns the size with which the chart fits a page.
func (ch *Chart) Size() Size {
	s := Size{
		core: min(coreHeight, max(coresHeight, min(ch.rows(), 400))/ch.rows()),
		Row:  min(laneHeight, lanesHeight/float64(len(ch.Lanes))),
	}
	ch.gpuRows = max(1, min(leastGPU, gpusHeight/float64(max(ch.GPUs, 1)))/s.core)
	s.Height = ch.rows() * s.core
	if s.Row < leastLane {
		s.Row = 0
	} else {
		s.Height += laneGap + s.Row*float64(len(ch.Lanes))
	}
	return s
}

// Paint draws the chart and its axes.
func (ch *Chart) Paint(c draw.Canvas, s Size) {
	p := canvas.NewPlot()
	per, unit := canvas.TimeUnit(ch.Until)
	p.X.Min, p.X.Max = ch.From/per, ch.Until/per
	if p.X.Max <= p.X.Min {
		p.X.Max = p.X.Min + 1
	}
	canvas.TimeAxis(p, ch.Origin, per, unit)
	p.Y.Min, p.Y.Max = 0, ch.rows()*s.core
	p.Y.LineStyle.Width = 0
	p.Y.Tick.LineStyle.Width = 0
	p.Y.Tick.Length = 2
	var ticks []plot.Tick
	if s.Row > 0 {
		p.Y.Min = -laneGap - s.Row*float64(len(ch.Lanes))
		ticks = append(ticks, ch.laneTicks(s.Row)...)
	}
	p.Y.Tick.Marker = plot.ConstantTicks(append(ticks, ch.coreTicks(s.core)...))
	p.Add(canvas.Grid{Vertical: true}, bars{ch, per, s.core, s.Row})
	p.Draw(c)
}

// mostKeys is the greatest number of classes in the legend.
const mostKeys = 14

// Keys returns the entries of the legend. lanes reports whether lanes are drawn.
func (ch *Chart) Keys(lanes bool) []canvas.Key {
	var keys []canvas.Key
	for i, class := range ch.Classes {
		keys = append(keys, canvas.Key{Label: class, Swatch: canvas.Hatched(ch.hues[i])})
	}
	if n := len(keys) - mostKeys; n > 0 {
		keys = append(keys[:mostKeys], canvas.Key{Label: fmt.Sprintf("… and %d more", n),
			Swatch: func(draw.Canvas, vg.Rectangle) {}})
	}
	keys = append(keys, ch.serverKeys()...)
	if lanes {
		keys = append(keys,
			canvas.Key{Label: "waiting (queued or paused)", Swatch: canvas.Filled(waitingColor(canvas.Hue(6)))},
			canvas.Key{Label: "arrival", Swatch: func(c draw.Canvas, box vg.Rectangle) {
				arrival(c, (box.Min.X+box.Max.X)/2, box.Min.Y, box.Max.Y-box.Min.Y)
			}})
		if slices.ContainsFunc(ch.Lanes, func(l Lane) bool { return len(l.Epochs) > 0 }) {
			keys = append(keys, canvas.Key{Label: "end of an epoch", Swatch: func(c draw.Canvas, box vg.Rectangle) {
				canvas.Filled(canvas.Hue(0))(c, box)
				epochEnd(c, (box.Min.X+box.Max.X)/2, box.Min.Y, box.Max.Y-box.Min.Y)
			}})
		}
		if slices.ContainsFunc(ch.Lanes, func(l Lane) bool { return len(l.Resizes) > 0 }) {
			keys = append(keys, canvas.Key{Label: "resize", Swatch: func(c draw.Canvas, box vg.Rectangle) {
				resized(c, (box.Min.X+box.Max.X)/2, (box.Min.Y+box.Max.Y)/2, 2.5)
			}})
		}
		if slices.ContainsFunc(ch.Lanes, Lane.sampled) {
			keys = append(keys, canvas.Key{Label: "sample of a job", Swatch: func(c draw.Canvas, box vg.Rectangle) {
				canvas.Filled(canvas.Hue(0))(c, box)
				sampled(c, canvas.Hue(0), box.Min.X, box.Min.Y, box.Max.X, box.Max.Y)
			}})
		}
		for _, l := range ch.Lanes {
			if l.State == scheduler.Failed.String() || l.State == scheduler.Stopped.String() {
				keys = append(keys, canvas.Key{Label: "failed", Swatch: func(c draw.Canvas, box vg.Rectangle) {
					failure(c, (box.Min.X+box.Max.X)/2, (box.Min.Y+box.Max.Y)/2, 3)
				}})
				break
			}
		}
	}
	return keys
}

// sampled reports whether the job ran as a sample.
func (l Lane) sampled() bool {
	return slices.ContainsFunc(l.Held, func(h analysis.Span) bool { return h.Sample })
}

func waitingColor(c color.NRGBA) color.NRGBA { return canvas.Shade(c, 0.72) }

// coreTicks returns labels at the middle of cores, for as many cores as fit.
func (ch *Chart) coreTicks(core float64) []plot.Tick {
	if len(ch.Nodes) > 0 {
		return ch.nodeTicks(core)
	}
	step := 1
	for float64(step)*core < canvas.TickSize+2 {
		step *= 2
	}
	var ticks []plot.Tick
	each := func(name string, n int, at func(low, high float64) stretch) {
		for i := 0; i < n; i += step {
			ticks = append(ticks, plot.Tick{Value: at(0, float64(i)+0.5).low * core, Label: name + " " + strconv.Itoa(i)})
		}
	}
	each("core", ch.Cores, ch.coresAt)
	each("GPU", ch.GPUs, ch.gpusAt)
	return ticks
}

func (ch *Chart) laneTicks(row float64) []plot.Tick {
	var ticks []plot.Tick
	for i, l := range ch.Lanes {
		label := ""
		if row >= labelledLanes {
			label = canvas.Fit(l.JobRow.Job, 90, canvas.TickSize)
		} else if i == 0 || i == len(ch.Lanes)-1 {
			label = fmt.Sprintf("job %d", i+1)
		}
		if label != "" {
			ticks = append(ticks, plot.Tick{Value: laneMiddle(i, row), Label: label})
		}
	}
	return ticks
}

func laneMiddle(i int, row float64) float64 { return -laneGap - (float64(i)+0.5)*row }

// bars draws the cores and GPUs, and the lanes.
type bars struct {
	*Chart
	per, core, row float64
}

// Plot implements plot.Plotter.
func (b bars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	at := func(t float64) vg.Length { return x(t / b.per) }
	base := draw.LineStyle{Color: canvas.Rule, Width: 0.5}
	for i := 0; i <= b.Cores && b.core >= 3; i++ {
		at := y((b.under() + float64(i)) * b.core)
		c.StrokeLine2(base, c.Min.X, at, c.Max.X, at)
	}
	for i := 0; i <= b.GPUs && b.GPUs > 0 && b.gpuRows*b.core >= 3; i++ {
		at := y(float64(i) * b.gpuRows * b.core)
		c.StrokeLine2(base, c.Min.X, at, c.Max.X, at)
	}
	b.drawServers(c, at, y)
	for _, guests := range []bool{false, true} { // guests, which share GPUs with an earlier job, are drawn over it
		for i := range b.Lanes {
			b.held(c, &b.Lanes[i], guests, at, y)
		}
	}
	b.drawNodes(c, y)
	b.drawLosses(c, at, y)
	if b.row > 0 {
		b.drawLanes(c, at, y)
	}
}

// held draws the resources that a job holds alone, or those that it shares as a guest.
func (b bars) held(c draw.Canvas, l *Lane, guest bool, at, y func(float64) vg.Length) {
	inset := vg.Length(min(1, b.core*0.04))
	var path vg.Path
	var last vg.Length = -1
	for _, h := range l.Held {
		x0, x1 := at(h.From), at(h.To)
		if h.Guest != guest || x1-last < hairline {
			continue // too small to see
		}
		last = x1
		x1 = max(x1, x0+hairline)
		for _, s := range b.stretches(h) {
			path = append(path, canvas.Rectangle(x0, y(s.low*b.core)+inset, x1, y(s.high*b.core)-inset)...)
		}
	}
	if len(path) == 0 {
		return
	}
	c.SetColor(l.Color)
	c.Fill(path)
	b.hatch(c, l, guest, at, y)
	b.samples(c, l, guest, at, y)
	b.labels(c, l, guest, at, y)
}

// samples marks the periods in which a job ran as a sample, by a pale inner area.
func (b bars) samples(c draw.Canvas, l *Lane, guest bool, at, y func(float64) vg.Length) {
	for _, h := range l.Held {
		if !h.Sample || h.Guest != guest {
			continue
		}
		for _, s := range b.stretches(h) {
			sampled(c, l.Color, at(h.From), y(s.low*b.core), at(h.To), y(s.high*b.core))
		}
	}
}

// sampled marks a bar as a sample.
func sampled(c draw.Canvas, color color.NRGBA, x0, y0, x1, y1 vg.Length) {
	edge := min((y1-y0)*0.2, (x1-x0)*0.2, 2)
	c.SetColor(waitingColor(color))
	c.Fill(canvas.Rectangle(x0+edge, y0+edge, x1-edge, y1-edge))
}

// hairline is the least width of a bar that is drawn, in points.
const hairline = 0.2

// hatch draws the pattern of the job's class over its bars.
func (b bars) hatch(c draw.Canvas, l *Lane, guest bool, at, y func(float64) vg.Length) {
	for _, h := range l.Held {
		if h.Guest != guest {
			continue
		}
		for _, s := range b.stretches(h) {
			canvas.Hatch(c, l.class, l.Color, at(h.From), y(s.low*b.core), at(h.To), y(s.high*b.core))
		}
	}
}

// labels writes the job's name into its bars, if they have room for it.
func (b bars) labels(c draw.Canvas, l *Lane, guest bool, at, y func(float64) vg.Length) {
	need := vg.Length(canvas.TextWidth(l.JobRow.Job, canvas.SmallSize) + 4)
	st := canvas.Aligned(canvas.SmallSize, canvas.Readable(l.Color), false, text.XCenter, text.YCenter)
	for _, h := range l.Held {
		if h.Guest != guest || at(h.To)-at(h.From) < need {
			continue
		}
		for _, s := range b.stretches(h) {
			if b.covered(h, s) { // only the lower half of its lowest GPU is visible
				s.high = s.low + b.gpuRows/2
			}
			if (s.high-s.low)*b.core >= canvas.SmallSize+3 {
				if canvas.Patterned(l.class) { // a pattern would make the letters unreadable
					x, y := (at(h.From)+at(h.To))/2, y((s.low+s.high)/2*b.core)
					c.SetColor(l.Color)
					c.Fill(canvas.Rectangle(x-need/2, y-canvas.SmallSize/2, x+need/2, y+canvas.SmallSize/2))
				}
				c.FillText(st, vg.Point{X: (at(h.From) + at(h.To)) / 2, Y: y((s.low + s.high) / 2 * b.core)}, l.JobRow.Job)
			}
		}
	}
}

func (b bars) drawLanes(c draw.Canvas, at func(float64) vg.Length, y func(float64) vg.Length) {
	half := vg.Length(b.row * 0.36)
	for i := range b.Lanes {
		l := &b.Lanes[i]
		mid := y(laneMiddle(i, b.row))
		c.SetColor(waitingColor(l.Color))
		c.Fill(canvas.Rectangle(at(l.Arrival), mid-half*0.55, max(at(l.End), at(l.Arrival)+hairline), mid+half*0.55))
		var path vg.Path
		var last vg.Length = -1
		for _, h := range l.Held {
			x0, x1 := at(h.From), at(h.To)
			if x1-last < hairline {
				continue
			}
			last = x1
			path = append(path, canvas.Rectangle(x0, mid-half, max(x1, x0+hairline), mid+half)...)
		}
		c.SetColor(l.Color)
		if len(path) > 0 {
			c.Fill(path)
		}
		if b.row >= 3 {
			b.marks(c, l, at, mid, half)
			arrival(c, at(l.Arrival), mid-half, 2*half)
		}
		if l.State == scheduler.Failed.String() || l.State == scheduler.Stopped.String() {
			failure(c, at(l.End), mid, min(3, half))
		}
	}
}
