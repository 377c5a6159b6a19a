// Package servers draws the pictures of servers that come and go: their lives and revocations, what they cost, and how
// fast they train together.
package servers

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/stages/plot/canvas"
)

// line is points that are joined, marked, or both.
type line struct {
	x, y []float64
	// low and high are bounds of y; nil for none.
	low, high []float64
	style     draw.LineStyle // of a width of 0: not joined
	radius    vg.Length      // of the marks; 0: none
	steps     bool           // joined by steps
	labels    []string       // beside the marks; nil: none
}

// mark is an upright line at a value, with a text at its top.
type mark struct {
	at    float64
	label string
	style draw.LineStyle
}

// panel is lines over the same axes.
type panel struct {
	title, x, y    string
	lines          []line
	marks          []mark
	logX, fromZero bool
	topY           float64 // 0: by the lines
}

const panelHeight = 190.0

// paint draws panels in rows of columns.
func paint(c draw.Canvas, panels []panel, columns int) {
	wide := c.Size().X / vg.Length(columns)
	for i, p := range panels {
		left := c.Min.X + wide*vg.Length(i%columns)
		high := c.Max.Y - vg.Length(panelHeight*float64(i/columns))
		p.paint(draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
			Min: vg.Point{X: left, Y: high - panelHeight}, Max: vg.Point{X: left + wide - 8, Y: high},
		}})
	}
}

// height is that of all panels.
func height(panels, columns int) float64 { return panelHeight * float64((panels+columns-1)/columns) }

// within bounds what is drawn.
func (p panel) within() (x0, x1, y0, y1 float64) {
	x0, x1, y0, y1 = math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, l := range p.lines {
		for i := range l.x {
			x0, x1 = min(x0, l.x[i]), max(x1, l.x[i])
			y0, y1 = min(y0, l.y[i]), max(y1, l.y[i])
			if l.high != nil {
				y0, y1 = min(y0, l.low[i]), max(y1, l.high[i])
			}
		}
	}
	for _, m := range p.marks {
		x0, x1 = min(x0, m.at), max(x1, m.at)
	}
	if x0 == x1 {
		x0, x1 = x0-0.5, x1+0.5
	}
	if p.fromZero || y0 == y1 {
		y0 = min(0, y0)
	}
	if p.topY > 0 {
		y1 = p.topY
	}
	if y1 <= y0 {
		y1 = y0 + 1
	}
	return x0, x1, y0, y1
}

func (p panel) paint(c draw.Canvas) {
	if p.title != "" {
		st := canvas.Style(canvas.LabelSize, canvas.Ink, false)
		st.YAlign = -1
		c.FillText(st, vg.Point{X: c.Min.X + 4, Y: c.Max.Y}, canvas.Fit(p.title, c.Size().X.Points()-6,
			canvas.LabelSize))
		c = draw.Crop(c, 0, 0, 0, -14)
	}
	x0, x1, y0, y1 := p.within()
	q := canvas.NewPlot()
	q.X.Label.Text, q.Y.Label.Text = p.x, p.y
	q.Y.Min, q.Y.Max = y0, y1+0.08*(y1-y0)
	if !p.fromZero {
		q.Y.Min = y0 - 0.08*(y1-y0)
	}
	if p.topY > 0 {
		q.Y.Max = p.topY
	}
	q.Y.Tick.Marker = canvas.Nice{Room: 140}
	q.X.Tick.Marker = canvas.Nice{Room: c.Size().X.Points() - 60}
	room := max(0.05*(x1-x0), 1e-9)
	q.X.Min, q.X.Max = x0-room, x1+room
	if p.fromZero && x0 >= 0 {
		q.X.Min = max(0, q.X.Min)
	}
	if p.logX && x0 > 0 {
		q.X.Scale, q.X.Tick.Marker = plot.LogScale{}, canvas.Decades{}
		q.X.Min, q.X.Max = x0/1.2, x1*1.2
	}
	q.Add(canvas.Grid{Vertical: true, Horizontal: true}, drawing(p))
	q.Draw(draw.Crop(c, 0, -4, 0, -4))
}

// drawing draws the lines of a panel.
type drawing panel

// Plot implements plot.Plotter.
func (d drawing) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, m := range d.marks {
		c.StrokeLine2(m.style, x(m.at), c.Min.Y, x(m.at), c.Max.Y)
	}
	for _, l := range d.lines {
		var path []vg.Point
		for i := range l.x {
			at := vg.Point{X: x(l.x[i]), Y: y(l.y[i])}
			if l.steps && i > 0 {
				path = append(path, vg.Point{X: at.X, Y: path[len(path)-1].Y})
			}
			path = append(path, at)
		}
		if l.style.Width > 0 {
			c.StrokeLines(l.style, c.ClipLinesXY(path)...)
		}
		if l.high != nil {
			bar := draw.LineStyle{Color: canvas.Quiet, Width: 0.7}
			for i := range l.x {
				c.StrokeLine2(bar, x(l.x[i]), y(l.low[i]), x(l.x[i]), y(l.high[i]))
			}
		}
		if l.radius > 0 {
			for i := range l.x {
				c.DrawGlyph(draw.GlyphStyle{Color: l.style.Color, Radius: l.radius, Shape: draw.CircleGlyph{}},
					vg.Point{X: x(l.x[i]), Y: y(l.y[i])})
			}
		}
	}
	d.texts(c, x, y)
}

// texts writes the labels of marks and points, none over another.
func (d drawing) texts(c draw.Canvas, x, y func(float64) vg.Length) {
	var taken []vg.Rectangle
	free := func(box vg.Rectangle) bool {
		for _, t := range taken {
			if box.Min.X < t.Max.X && t.Min.X < box.Max.X && box.Min.Y < t.Max.Y && t.Min.Y < box.Max.Y {
				return false
			}
		}
		return box.Min.X >= c.Min.X && box.Max.X <= c.Max.X && box.Min.Y >= c.Min.Y && box.Max.Y <= c.Max.Y
	}
	for _, l := range d.lines {
		for i := range l.x {
			if l.radius > 0 {
				taken = append(taken, vg.Rectangle{
					Min: vg.Point{X: x(l.x[i]) - l.radius,
						Y: y(l.y[i]) - l.radius}, Max: vg.Point{X: x(l.x[i]) + l.radius, Y: y(l.y[i]) + l.radius},
				})
			}
		}
	}
	st := canvas.Style(canvas.SmallSize, canvas.Ink, false)
	write := func(text string, corners []vg.Point) {
		w, h := vg.Length(canvas.TextWidth(text, canvas.SmallSize)), vg.Length(canvas.SmallSize)
		for _, at := range corners {
			box := vg.Rectangle{Min: vg.Point{X: at.X, Y: at.Y - h/2}, Max: vg.Point{X: at.X + w, Y: at.Y + h/2}}
			if free(box) {
				taken = append(taken, box)
				st.YAlign = -0.5
				c.FillText(st, at, text)
				return
			}
		}
	}
	for _, m := range d.marks {
		w := vg.Length(canvas.TextWidth(m.label, canvas.SmallSize))
		var corners []vg.Point
		for k := range 4 {
			high := c.Max.Y - 6 - 10*vg.Length(k)
			corners = append(corners, vg.Point{X: x(m.at) + 3, Y: high}, vg.Point{X: x(m.at) - 3 - w, Y: high})
		}
		write(m.label, corners)
	}
	for _, l := range d.lines {
		for i, text := range l.labels {
			if text == "" {
				continue
			}
			w, at := vg.Length(canvas.TextWidth(text, canvas.SmallSize)), vg.Point{X: x(l.x[i]), Y: y(l.y[i])}
			write(text, []vg.Point{
				{X: at.X + 5, Y: at.Y}, {X: at.X + 4, Y: at.Y + 7}, {X: at.X + 4, Y: at.Y - 7}, {X: at.X - 5 - w,
					Y: at.Y},
				{X: at.X - w/2, Y: at.Y + 9}, {X: at.X - w/2, Y: at.Y - 9}, {X: at.X + 4, Y: at.Y + 15}, {X: at.X + 4,
					Y: at.Y - 15},
			})
		}
	}
}
