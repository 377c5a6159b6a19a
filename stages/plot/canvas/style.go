// Package canvas has the common parts of all pictures: colors, text, axes and legends. It also encodes a painting as
// SVG, PNG or PDF.
package canvas

import (
	"image/color"
	"math"
	"strconv"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/results/table"
)

// Width is the width of all pictures in points: 7.2 inches fit a printed page.
const Width = 518

// Sizes of text in points.
const (
	TitleSize = 12
	LabelSize = 9.5
	TickSize  = 9
	SmallSize = 8
)

// Colors of text and lines, the darkest first.
var (
	Ink   = color.NRGBA{0x22, 0x22, 0x22, 0xff}
	Quiet = color.NRGBA{0x5f, 0x5f, 0x5f, 0xff}
	Rule  = color.NRGBA{0xdd, 0xdd, 0xdd, 0xff}
	Faint = color.NRGBA{0xf3, 0xf3, 0xf3, 0xff}
)

// Hue returns the color of item i.
func Hue(i int) color.NRGBA { return table.Hue(i) }

// Shade mixes a color with white; white is its part, from 0 to 1.
func Shade(c color.NRGBA, white float64) color.NRGBA {
	mix := func(v uint8) uint8 { return uint8(math.Round(float64(v) + (255-float64(v))*white)) }
	return color.NRGBA{mix(c.R), mix(c.G), mix(c.B), c.A}
}

// Readable returns the color of text that can be read on a background. On dark pages, background and text change
// together.
func Readable(on color.NRGBA) color.NRGBA {
	switch {
	case !light(on):
		return color.NRGBA{0xff, 0xff, 0xff, 0xff}
	case light(darkened(on)):
		return onColor
	}
	return onPale
}

// light reports whether text on this color must be dark. It compares relative luminance (weights of ITU-R BT.709).
func light(c color.NRGBA) bool {
	return 0.2126*float64(c.R)+0.7152*float64(c.G)+0.0722*float64(c.B) > 140
}

// Dashes returns the dash pattern of line i, which distinguishes lines also without color.
func Dashes(i int) []vg.Length {
	patterns := [][]vg.Length{nil, {6, 3}, {2, 2}, {8, 3, 2, 3}, {4, 1.5}}
	return patterns[i%len(patterns)]
}

// Style returns a style of text: its size in points, its color, and whether it is bold.
func Style(size float64, c color.Color, bold bool) text.Style {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: font.Points(size)}
	if bold {
		f.Weight = xfont.WeightBold
	}
	return text.Style{Color: c, Font: f, Handler: plot.DefaultTextHandler}
}

// Aligned is Style with an alignment. At 0 the text is to the right of and above its point; at −1 it is to the left of
// and below it.
func Aligned(size float64, c color.Color, bold bool, x text.XAlignment, y text.YAlignment) text.Style {
	st := Style(size, c, bold)
	st.XAlign, st.YAlign = x, y
	return st
}

// TextWidth returns the width of a text in points.
func TextWidth(s string, size float64) float64 {
	st := Style(size, Ink, false)
	return st.Width(s).Points()
}

// NewPlot returns an empty plot in the style of all pictures.
func NewPlot() *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font = Style(LabelSize, Ink, false).Font
		a.Label.TextStyle.Color = Ink
		a.Tick.Label.Font = Style(TickSize, Ink, false).Font
		a.Tick.Label.Color = Ink
		a.Color, a.Tick.Color = Quiet, Quiet
		a.LineStyle.Width, a.Tick.LineStyle.Width = 0.7, 0.7
		a.Tick.Length = 3
		a.Padding = 0
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = Nice{Room: 300}, Nice{Room: 150}
	p.X.Label.Padding, p.Y.Label.Padding = 3, 3
	return p
}

// DrawPlot draws a plot. It draws the name of a logarithmic axis itself, since gonum would leave too much space for it
// at the right.
func DrawPlot(p *plot.Plot, c draw.Canvas) {
	name := p.X.Label.Text
	if _, logarithmic := p.X.Scale.(plot.LogScale); !logarithmic || name == "" {
		p.Draw(c)
		return
	}
	p.X.Label.Text = ""
	p.Draw(draw.Crop(c, 0, 0, LabelSize+6, 0))
	st := Aligned(LabelSize, Ink, false, text.XCenter, text.YBottom)
	c.FillText(st, vg.Point{X: (c.Min.X + c.Max.X) / 2, Y: c.Min.Y + 2}, name)
}

// Nice places ticks at 1, 2 or 5 times a power of ten. Room is the length of the axis in points, which bounds their
// number. Least is the least distance of ticks: 1 for whole numbers, 0 for any.
type Nice struct{ Room, Least float64 }

// Ticks implements plot.Ticker.
func (n Nice) Ticks(lo, hi float64) []plot.Tick {
	least := max(n.Least, math.Pow(10, math.Floor(math.Log10(hi-lo))-1))
	for k := 0; ; k++ {
		step := least * []float64{1, 2, 5}[k%3] * math.Pow(10, float64(k/3))
		digits := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
		var ticks []plot.Tick
		needed := 0.0
		for i := math.Ceil(lo/step - 1e-9); i*step <= hi*(1+1e-9) && needed <= n.Room; i++ {
			label := thousands(strconv.FormatFloat(i*step+0, 'f', digits, 64)) // +0 prevents "-0"
			label = strings.Replace(label, "-", "−", 1)
			ticks = append(ticks, plot.Tick{Value: i * step, Label: label})
			needed += TextWidth(label, TickSize) + 14
		}
		if needed <= n.Room || len(ticks) <= 1 {
			return ticks
		}
	}
}

// Cover widens a range to ticks at both ends, so that each value can be read between two ticks.
func (n Nice) Cover(lo, hi float64) (low, high float64) {
	low, high = lo, hi
	for range 4 { // a wider range can have a longer step
		ticks := n.Ticks(low, high)
		if len(ticks) < 2 {
			return low, high
		}
		step := ticks[1].Value - ticks[0].Value
		low, high = step*math.Floor(lo/step+1e-9), step*math.Ceil(hi/step-1e-9)
	}
	return low, high
}

// Thousands returns a whole number as text, with commas between thousands.
func Thousands(v float64) string { return thousands(strconv.FormatFloat(v, 'f', 0, 64)) }

// thousands adds commas between the thousands of a number: "12,345.6".
func thousands(number string) string {
	whole := len(number)
	if dot := strings.IndexByte(number, '.'); dot >= 0 {
		whole = dot
	}
	first := 0
	if whole > 0 && number[0] == '-' {
		first = 1
	}
	for at := whole - 3; at > first; at -= 3 {
		number = number[:at] + "," + number[at:]
	}
	return number
}

// Grid draws gray lines at the labeled ticks, behind the data.
type Grid struct{ Vertical, Horizontal bool }

// Plot implements plot.Plotter.
func (g Grid) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	line := draw.LineStyle{Color: Rule, Width: 0.5}
	if g.Vertical {
		for _, t := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
			if !t.IsMinor() && x(t.Value) > c.Min.X+0.5 && x(t.Value) <= c.Max.X {
				c.StrokeLine2(line, x(t.Value), c.Min.Y, x(t.Value), c.Max.Y)
			}
		}
	}
	if g.Horizontal {
		for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
			if !t.IsMinor() && y(t.Value) > c.Min.Y+0.5 && y(t.Value) <= c.Max.Y {
				c.StrokeLine2(line, c.Min.X, y(t.Value), c.Max.X, y(t.Value))
			}
		}
	}
}

// Key is an entry of a legend. Swatch draws its sign into a box. Series is the name of its series; "" if it has none.
type Key struct {
	Label  string
	Swatch func(c draw.Canvas, box vg.Rectangle)
	Series string
}

// Margin is the empty space around a picture, in points.
const Margin = 8.0

const (
	titleHeight = TitleSize + 6.0
	swatchWidth = 14.0
	keyHeight   = 13.0
)

// Filled returns a function that draws a filled area as a symbol in a legend.
func Filled(fill color.Color) func(draw.Canvas, vg.Rectangle) {
	return func(c draw.Canvas, box vg.Rectangle) {
		c.SetColor(fill)
		c.Fill(Rectangle(box.Min.X, box.Min.Y+1.5, box.Max.X, box.Max.Y-1.5))
	}
}

// Stroked returns a function that draws a line as a symbol in a legend.
func Stroked(st draw.LineStyle) func(draw.Canvas, vg.Rectangle) {
	return func(c draw.Canvas, box vg.Rectangle) {
		y := (box.Min.Y + box.Max.Y) / 2
		c.StrokeLine2(st, box.Min.X, y, box.Max.X, y)
	}
}

// Dotted returns a function that draws a point as a symbol in a legend.
func Dotted(fill color.Color) func(draw.Canvas, vg.Rectangle) {
	return func(c draw.Canvas, box vg.Rectangle) {
		at := vg.Point{X: (box.Min.X + box.Max.X) / 2, Y: (box.Min.Y + box.Max.Y) / 2}
		c.DrawGlyph(draw.GlyphStyle{Color: fill, Radius: 3, Shape: draw.CircleGlyph{}}, at)
	}
}

// Interval draws a vertical interval with short lines at its ends.
func Interval(c draw.Canvas, ink color.Color, x, low, high vg.Length) {
	line := draw.LineStyle{Color: ink, Width: 0.9}
	c.StrokeLine2(line, x, low, x, high)
	c.StrokeLine2(line, x-1.5, low, x+1.5, low)
	c.StrokeLine2(line, x-1.5, high, x+1.5, high)
}

// Rectangle returns the outline of the box from (x0, y0) to (x1, y1).
func Rectangle(x0, y0, x1, y1 vg.Length) vg.Path {
	var p vg.Path
	p.Move(vg.Point{X: x0, Y: y0})
	p.Line(vg.Point{X: x1, Y: y0})
	p.Line(vg.Point{X: x1, Y: y1})
	p.Line(vg.Point{X: x0, Y: y1})
	p.Close()
	return p
}

// HeadHeight returns the height in points that Head needs in a picture of the usual width.
func HeadHeight(keys []Key) float64 { return headHeight(keys, Width) }

func headHeight(keys []Key, width float64) float64 {
	h := Margin + titleHeight
	if rows := keyRows(keys, width); len(rows) > 0 {
		h += float64(len(rows))*keyHeight + 4
	}
	return h
}

// keyRows divides the entries of a legend into rows that fit the width.
func keyRows(keys []Key, width float64) [][]Key {
	var rows [][]Key
	room := 0.0
	for _, k := range keys {
		w := swatchWidth + 4 + TextWidth(k.Label, TickSize) + 14
		if len(rows) == 0 || w > room {
			rows = append(rows, nil)
			room = width - 2*Margin
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], k)
		room -= w
	}
	return rows
}

// Head draws the title and the legend, and returns the canvas below them.
func Head(c draw.Canvas, title string, keys []Key) draw.Canvas {
	width := c.Size().X
	height := headHeight(keys, width.Points())
	bare := false
	if s, ok := under(c).(*sheet); ok {
		bare = s.bare
		if bare {
			height -= titleHeight
		}
		s.more += height - HeadHeight(keys)
	}
	st := Style(TitleSize, Ink, true)
	st.YAlign = text.YTop
	top := c.Max.Y - Margin
	// A long title gets a smaller font before its end is cut off, since the end distinguishes cells.
	for st.Font.Size > LabelSize && st.Width(title) > width-2*Margin {
		st.Font.Size -= 0.5
	}
	if excess := st.Width(title) - (width - 2*Margin); excess > 0 {
		title = Fit(title, TextWidth(title, LabelSize)-excess.Points()-2, LabelSize)
	}
	if !bare {
		c.FillText(st, vg.Point{X: c.Min.X + Margin, Y: top}, title)
		top -= titleHeight
	}
	label := Style(TickSize, Ink, false)
	label.YAlign = text.YCenter
	for _, row := range keyRows(keys, width.Points()) {
		x := c.Min.X + Margin
		for _, k := range row {
			Series(c, k.Series, func() {
				k.Swatch(c, vg.Rectangle{Min: vg.Point{X: x, Y: top - keyHeight + 2},
					Max: vg.Point{X: x + swatchWidth, Y: top - 2}})
			})
			c.FillText(label, vg.Point{X: x + swatchWidth + 4, Y: top - keyHeight/2 + 0.5}, k.Label)
			x += vg.Length(swatchWidth + 4 + TextWidth(k.Label, TickSize) + 14)
		}
		top -= keyHeight
	}
	return draw.Crop(c, Margin, -Margin, Margin, vg.Length(-height))
}

// Fit shortens a text to a width in points.
func Fit(s string, room, size float64) string {
	if TextWidth(s, size) <= room {
		return s
	}
	r := []rune(s)
	for len(r) > 1 && TextWidth(string(r)+"…", size) > room {
		r = r[:len(r)-1]
	}
	return strings.TrimRight(string(r), " ") + "…"
}

// TimeUnit returns the unit in which times up to max seconds are shown: its name, and its length in seconds.
func TimeUnit(max float64) (seconds float64, unit string) {
	switch {
	case max >= 3*86400:
		return 86400, "d"
	case max >= 3*3600:
		return 3600, "h"
	case max >= 600:
		return 60, "min"
	case max > 0 && max < 0.5:
		return 0.001, "ms"
	}
	return 1, "s"
}
