// Package panels draws panels of lines, each with its own axes.
package panels

import (
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/stages/plot/canvas"
)

// Line is a series of points that are joined, marked, or both.
type Line struct {
	X, Y []float64
	// Low and High are the bounds of each y; nil for no bounds.
	Low, High []float64
	Style     draw.LineStyle // a width of 0 does not join the points
	Radius    vg.Length      // of the marks; 0: no marks
	Steps     bool           // joined by steps
	Labels    []string       // text next to each mark; nil: no texts
}

// Upright is a vertical line at a value, with a text at its upper end.
type Upright struct {
	At    float64
	Label string
	Style draw.LineStyle
}

// Panel is a plot of several lines.
type Panel struct {
	Title, X, Y    string
	Lines          []Line
	Marks          []Upright
	LogX, FromZero bool
	TopY           float64 // upper end of the y axis; 0: the greatest value
}

// Columns is the number of panels in a row.
const Columns = 2

// Tall is the height of a panel, in points.
const Tall = 190.0

// Paint draws panels in rows, with the given number of columns.
func Paint(c draw.Canvas, panels []Panel, columns int) {
	for i, p := range panels {
		p.Paint(canvas.Tile(c, i, columns, Tall, 8))
	}
}

// Height returns the height of all panels in points.
func Height(panels, columns int) float64 {
	return Tall * float64((panels+columns-1)/columns)
}

// within returns the least and the greatest x and y of the data.
func (p Panel) within() (x0, x1, y0, y1 float64) {
	x0, x1, y0, y1 = math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, l := range p.Lines {
		for i := range l.X {
			x0, x1 = min(x0, l.X[i]), max(x1, l.X[i])
			y0, y1 = min(y0, l.Y[i]), max(y1, l.Y[i])
			if l.High != nil {
				y0, y1 = min(y0, l.Low[i]), max(y1, l.High[i])
			}
		}
	}
	for _, m := range p.Marks {
		x0, x1 = min(x0, m.At), max(x1, m.At)
	}
	if x0 == x1 {
		x0, x1 = x0-0.5, x1+0.5
	}
	if p.FromZero || y0 == y1 {
		y0 = min(0, y0)
	}
	if p.TopY > 0 {
		y1 = p.TopY
	}
	if y1 <= y0 {
		y1 = y0 + 1
	}
	return x0, x1, y0, y1
}

// least returns the least distance of ticks on the x axis: 1 if all values are whole numbers, such as numbers of
// workers.
func (p Panel) least() float64 {
	for _, l := range p.Lines {
		if slices.ContainsFunc(l.X, func(x float64) bool { return x != math.Trunc(x) }) {
			return 0
		}
	}
	return 1
}

// Paint draws the panel.
func (p Panel) Paint(c draw.Canvas) {
	if p.Title != "" {
		st := canvas.Style(canvas.LabelSize, canvas.Ink, false)
		st.YAlign = -1
		c.FillText(st, vg.Point{X: c.Min.X + 4, Y: c.Max.Y}, canvas.Fit(p.Title, c.Size().X.Points()-6,
			canvas.LabelSize))
		c = draw.Crop(c, 0, 0, 0, -14)
	}
	x0, x1, y0, y1 := p.within()
	q := canvas.NewPlot()
	q.X.Label.Text, q.Y.Label.Text = p.X, p.Y
	ticks := canvas.Nice{Room: 140}
	q.Y.Min, q.Y.Max = ticks.Cover(y0, y1)
	if p.TopY > 0 {
		q.Y.Max = p.TopY
	}
	q.Y.Tick.Marker = ticks
	q.X.Tick.Marker = canvas.Nice{Room: c.Size().X.Points() - 60, Least: p.least()}
	room := max(0.05*(x1-x0), 1e-9)
	q.X.Min, q.X.Max = x0-room, x1+room
	if p.FromZero && x0 >= 0 {
		q.X.Min = max(0, q.X.Min)
	}
	if p.LogX && x0 > 0 {
		q.X.Scale, q.X.Tick.Marker = plot.LogScale{}, canvas.Decades{}
		q.X.Min, q.X.Max = x0/1.2, x1*1.2
	}
	q.Add(canvas.Grid{Vertical: true, Horizontal: true}, drawing(p))
	canvas.DrawPlot(q, draw.Crop(c, 0, -4, 0, -4))
}

// drawing draws the lines of a panel.
type drawing Panel

// Plot implements plot.Plotter.
func (d drawing) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, m := range d.Marks {
		c.StrokeLine2(m.Style, x(m.At), c.Min.Y, x(m.At), c.Max.Y)
	}
	for _, l := range d.Lines {
		var path []vg.Point
		for i := range l.X {
			at := vg.Point{X: x(l.X[i]), Y: y(l.Y[i])}
			if l.Steps && i > 0 {
				path = append(path, vg.Point{X: at.X, Y: path[len(path)-1].Y})
			}
			path = append(path, at)
		}
		if l.Style.Width > 0 {
			c.StrokeLines(l.Style, c.ClipLinesXY(path)...)
		}
		for i := range l.X {
			if l.Radius > 0 {
				c.DrawGlyph(draw.GlyphStyle{Color: l.Style.Color, Radius: l.Radius, Shape: draw.CircleGlyph{}},
					vg.Point{X: x(l.X[i]), Y: y(l.Y[i])})
			}
			if l.High != nil {
				canvas.Interval(c, canvas.Quiet, x(l.X[i]), y(l.Low[i]), y(l.High[i]))
			}
		}
	}
	d.texts(c, x, y)
}

// texts draws the labels of marks and lines, such that no two overlap.
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
	for _, l := range d.Lines {
		for i := 1; l.Steps && i < len(l.X); i++ { // a text must not cross a step
			from, to := vg.Point{X: x(l.X[i-1]), Y: y(l.Y[i-1])}, vg.Point{X: x(l.X[i]), Y: y(l.Y[i])}
			corner := vg.Point{X: to.X, Y: from.Y}
			taken = append(taken, around(from, corner), around(corner, to))
		}
		for i := range l.X {
			if l.Radius > 0 {
				taken = append(taken, vg.Rectangle{
					Min: vg.Point{X: x(l.X[i]) - l.Radius,
						Y: y(l.Y[i]) - l.Radius}, Max: vg.Point{X: x(l.X[i]) + l.Radius, Y: y(l.Y[i]) + l.Radius},
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
	for _, m := range d.Marks {
		w := vg.Length(canvas.TextWidth(m.Label, canvas.SmallSize))
		var corners []vg.Point
		for k := range 4 {
			high := c.Max.Y - 6 - 10*vg.Length(k)
			corners = append(corners, vg.Point{X: x(m.At) + 3, Y: high}, vg.Point{X: x(m.At) - 3 - w, Y: high})
		}
		write(m.Label, corners)
	}
	for _, l := range d.Lines {
		for i, text := range l.Labels {
			if text == "" {
				continue
			}
			w, at := vg.Length(canvas.TextWidth(text, canvas.SmallSize)), vg.Point{X: x(l.X[i]), Y: y(l.Y[i])}
			write(text, []vg.Point{
				{X: at.X + 5, Y: at.Y}, {X: at.X + 4, Y: at.Y + 7}, {X: at.X + 4, Y: at.Y - 7}, {X: at.X - 5 - w,
					Y: at.Y},
				{X: at.X - w/2, Y: at.Y + 9}, {X: at.X - w/2, Y: at.Y - 9}, {X: at.X + 4, Y: at.Y + 15}, {X: at.X + 4,
					Y: at.Y - 15},
			})
		}
	}
}

// around returns the box that contains a horizontal or vertical stroke.
func around(a, b vg.Point) vg.Rectangle {
	return vg.Rectangle{
		Min: vg.Point{X: min(a.X, b.X) - 1, Y: min(a.Y, b.Y) - 1}, Max: vg.Point{X: max(a.X, b.X) + 1, Y: max(a.Y, b.Y) + 1},
	}
}

// Sort orders the points of a line by x.
func (l *Line) Sort() {
	order := make([]int, len(l.X))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case l.X[a] < l.X[b]:
			return -1
		case l.X[a] > l.X[b]:
			return 1
		}
		return 0
	})
	x, y := make([]float64, len(order)), make([]float64, len(order))
	for i, k := range order {
		x[i], y[i] = l.X[k], l.Y[k]
	}
	l.X, l.Y = x, y
}
