package plot

import (
	"bytes"
	"fmt"
	"html"
	"image/color"
	"image/png"
	"math"
	"regexp"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// width is that of all pictures in points: 7.2 inches fit a printed page.
const width = 518

// Sizes of text in points.
const (
	titleSize = 12
	labelSize = 9.5
	tickSize  = 9
	smallSize = 8
)

var (
	ink   = color.NRGBA{0x22, 0x22, 0x22, 0xff}
	quiet = color.NRGBA{0x5f, 0x5f, 0x5f, 0xff}
	rule  = color.NRGBA{0xdd, 0xdd, 0xdd, 0xff}
	faint = color.NRGBA{0xf3, 0xf3, 0xf3, 0xff}
)

// palette tells apart by people who see colours differently (M. Okabe, K. Ito,
// "Color Universal Design", 2008), its yellow and black left out.
var palette = []color.NRGBA{
	{0x00, 0x72, 0xb2, 0xff}, // blue
	{0xd5, 0x5e, 0x00, 0xff}, // vermilion
	{0x00, 0x9e, 0x73, 0xff}, // green
	{0xcc, 0x79, 0xa7, 0xff}, // purple
	{0xe6, 0x9f, 0x00, 0xff}, // orange
	{0x56, 0xb4, 0xe9, 0xff}, // sky
	{0x7f, 0x7f, 0x7f, 0xff}, // grey
}

func hue(i int) color.NRGBA { return palette[i%len(palette)] }

// shade mixes a colour with white: 0 leaves it, 1 is white.
func shade(c color.NRGBA, white float64) color.NRGBA {
	mix := func(v uint8) uint8 { return uint8(math.Round(float64(v) + (255-float64(v))*white)) }
	return color.NRGBA{mix(c.R), mix(c.G), mix(c.B), c.A}
}

// readable is the colour of text on a background.
func readable(on color.NRGBA) color.NRGBA {
	// Relative luminance with the weights of ITU-R BT.709.
	if 0.2126*float64(on.R)+0.7152*float64(on.G)+0.0722*float64(on.B) > 140 {
		return ink
	}
	return color.NRGBA{0xff, 0xff, 0xff, 0xff}
}

// dashes tells lines apart without colour.
func dashes(i int) []vg.Length {
	patterns := [][]vg.Length{nil, {6, 3}, {2, 2}, {8, 3, 2, 3}, {4, 1.5}}
	return patterns[i%len(patterns)]
}

func style(size float64, c color.Color, bold bool) text.Style {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: font.Points(size)}
	if bold {
		f.Weight = xfont.WeightBold
	}
	return text.Style{Color: c, Font: f, Handler: plot.DefaultTextHandler}
}

// textWidth is how wide a text is in points.
func textWidth(s string, size float64) float64 {
	st := style(size, ink, false)
	return st.Width(s).Points()
}

// newPlot is a plot in the house style.
func newPlot() *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font = style(labelSize, ink, false).Font
		a.Label.TextStyle.Color = ink
		a.Tick.Label.Font = style(tickSize, ink, false).Font
		a.Tick.Label.Color = ink
		a.Color, a.Tick.Color = quiet, quiet
		a.LineStyle.Width, a.Tick.LineStyle.Width = 0.7, 0.7
		a.Tick.Length = 3
		a.Padding = 0
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = nice{300}, nice{150}
	p.X.Label.Padding, p.Y.Label.Padding = 3, 3
	return p
}

// nice are ticks at 1, 2 or 5 times a power of ten, as many as have room, in
// points, beside each other.
type nice struct{ room float64 }

// Ticks implements plot.Ticker.
func (n nice) Ticks(lo, hi float64) []plot.Tick {
	least := math.Pow(10, math.Floor(math.Log10(hi-lo))-1)
	for k := 0; ; k++ {
		step := least * []float64{1, 2, 5}[k%3] * math.Pow(10, float64(k/3))
		digits := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
		var ticks []plot.Tick
		needed := 0.0
		for i := math.Ceil(lo/step - 1e-9); i*step <= hi*(1+1e-9) && needed <= n.room; i++ {
			label := fmt.Sprintf("%.*f", digits, i*step+0) // +0: no "-0"
			ticks = append(ticks, plot.Tick{Value: i * step, Label: label})
			needed += textWidth(label, tickSize) + 14
		}
		if needed <= n.room || len(ticks) <= 1 {
			return ticks
		}
	}
}

// grid draws quiet lines behind the data at the labelled ticks.
type grid struct{ vertical, horizontal bool }

// Plot implements plot.Plotter.
func (g grid) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	line := draw.LineStyle{Color: rule, Width: 0.5}
	if g.vertical {
		for _, t := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
			if !t.IsMinor() && x(t.Value) > c.Min.X+0.5 && x(t.Value) <= c.Max.X {
				c.StrokeLine2(line, x(t.Value), c.Min.Y, x(t.Value), c.Max.Y)
			}
		}
	}
	if g.horizontal {
		for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
			if !t.IsMinor() && y(t.Value) > c.Min.Y+0.5 && y(t.Value) <= c.Max.Y {
				c.StrokeLine2(line, c.Min.X, y(t.Value), c.Max.X, y(t.Value))
			}
		}
	}
}

// key is an entry of a legend; swatch paints its sign into a box.
type key struct {
	label  string
	swatch func(c draw.Canvas, box vg.Rectangle)
}

const (
	swatchWidth = 14.0
	keyHeight   = 13.0
	margin      = 8.0
)

// filled is the sign of an area.
func filled(fill color.Color) func(draw.Canvas, vg.Rectangle) {
	return func(c draw.Canvas, box vg.Rectangle) {
		c.SetColor(fill)
		c.Fill(rectangle(box.Min.X, box.Min.Y+1.5, box.Max.X, box.Max.Y-1.5))
	}
}

// stroked is the sign of a line.
func stroked(st draw.LineStyle) func(draw.Canvas, vg.Rectangle) {
	return func(c draw.Canvas, box vg.Rectangle) {
		y := (box.Min.Y + box.Max.Y) / 2
		c.StrokeLine2(st, box.Min.X, y, box.Max.X, y)
	}
}

// dotted is the sign of points.
func dotted(fill color.Color) func(draw.Canvas, vg.Rectangle) {
	return func(c draw.Canvas, box vg.Rectangle) {
		at := vg.Point{X: (box.Min.X + box.Max.X) / 2, Y: (box.Min.Y + box.Max.Y) / 2}
		c.DrawGlyph(draw.GlyphStyle{Color: fill, Radius: 3, Shape: draw.CircleGlyph{}}, at)
	}
}

func rectangle(x0, y0, x1, y1 vg.Length) vg.Path {
	var p vg.Path
	p.Move(vg.Point{X: x0, Y: y0})
	p.Line(vg.Point{X: x1, Y: y0})
	p.Line(vg.Point{X: x1, Y: y1})
	p.Line(vg.Point{X: x0, Y: y1})
	p.Close()
	return p
}

// headHeight is the room that head takes.
func headHeight(keys []key) float64 {
	h := margin + titleSize + 6
	if rows := keyRows(keys); len(rows) > 0 {
		h += float64(len(rows))*keyHeight + 4
	}
	return h
}

// keyRows breaks a legend into rows that fit.
func keyRows(keys []key) [][]key {
	var rows [][]key
	room := 0.0
	for _, k := range keys {
		w := swatchWidth + 4 + textWidth(k.label, tickSize) + 14
		if len(rows) == 0 || w > room {
			rows = append(rows, nil)
			room = width - 2*margin
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], k)
		room -= w
	}
	return rows
}

// head draws the title and the legend above the data, and returns what is
// left of the canvas.
func head(c draw.Canvas, title string, keys []key) draw.Canvas {
	st := style(titleSize, ink, true)
	st.YAlign = text.YTop
	top := c.Max.Y - margin
	// A long title becomes smaller before it loses its end, which tells cells apart.
	for st.Font.Size > labelSize && st.Width(title) > width-2*margin {
		st.Font.Size -= 0.5
	}
	if excess := st.Width(title) - (width - 2*margin); excess > 0 {
		title = fit(title, textWidth(title, labelSize)-excess.Points()-2, labelSize)
	}
	c.FillText(st, vg.Point{X: c.Min.X + margin, Y: top}, title)
	top -= titleSize + 6
	label := style(tickSize, ink, false)
	label.YAlign = text.YCenter
	for _, row := range keyRows(keys) {
		x := c.Min.X + margin
		for _, k := range row {
			k.swatch(c, vg.Rectangle{Min: vg.Point{X: x, Y: top - keyHeight + 2}, Max: vg.Point{X: x + swatchWidth, Y: top - 2}})
			c.FillText(label, vg.Point{X: x + swatchWidth + 4, Y: top - keyHeight/2 + 0.5}, k.label)
			x += vg.Length(swatchWidth + 4 + textWidth(k.label, tickSize) + 14)
		}
		top -= keyHeight
	}
	return draw.Crop(c, margin, -margin, margin, vg.Length(-headHeight(keys)))
}

// fit shortens a text to a width in points.
func fit(s string, room, size float64) string {
	if textWidth(s, size) <= room {
		return s
	}
	r := []rune(s)
	for len(r) > 1 && textWidth(string(r)+"…", size) > room {
		r = r[:len(r)-1]
	}
	return strings.TrimRight(string(r), " ") + "…"
}

// timeUnit is the unit in which times up to max seconds are shown.
func timeUnit(max float64) (seconds float64, unit string) {
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

// svg paints the figure as SVG: small, with fonts that exist everywhere, and
// with its title and caption for those who cannot see it.
func (f *Figure) svg() ([]byte, error) {
	c := vgsvg.New(font.Points(f.Width), font.Points(f.Height))
	f.Paint(draw.New(c))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("encode svg: %w", err)
	}
	return shrink(b.Bytes(), f.Title, f.Caption), nil
}

var (
	svgSize   = regexp.MustCompile(`width="[^"]*" height="[^"]*" viewBox="[^"]*"`)
	svgStart  = regexp.MustCompile(`(?s)^.*?<svg[^>]*>`)
	svgBlank  = regexp.MustCompile(`\s*\n\s*`)
	svgFamily = regexp.MustCompile(`font-family:[^;"]*`)
)

// shrink makes gonum's SVG smaller: it says the defaults, breaks lines, and
// names a font that few machines have. Liberation Sans has the metrics of Arial.
func shrink(raw []byte, title, caption string) []byte {
	box := svgSize.Find(raw)
	body := svgStart.ReplaceAll(raw, nil)
	body = svgFamily.ReplaceAll(body, []byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif"))
	for _, s := range []string{"font-variant:none;", "font-variant:normal;", "font-weight:normal;", "font-style:normal;"} {
		body = bytes.ReplaceAll(body, []byte(s), nil)
	}
	body = svgBlank.ReplaceAll(body, []byte("\n"))
	body = bytes.ReplaceAll(body, []byte("\nstyle="), []byte(" style="))
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" %s role="img" aria-label="%s"><title>%s</title><desc>%s</desc>`,
		box, html.EscapeString(title), html.EscapeString(title), html.EscapeString(caption))
	b.WriteByte('\n')
	b.Write(bytes.TrimSpace(body))
	b.WriteByte('\n')
	return b.Bytes()
}

// dpi of the PNGs: sharp on a screen of twice the usual density.
const dpi = 144

func (f *Figure) png() ([]byte, error) {
	c := vgimg.NewWith(vgimg.UseWH(font.Points(f.Width), font.Points(f.Height)), vgimg.UseDPI(dpi),
		vgimg.UseBackgroundColor(color.White))
	f.Paint(draw.New(c))
	var b bytes.Buffer
	enc := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := enc.Encode(&b, c.Image()); err != nil {
		return nil, fmt.Errorf("encode png: %w", err)
	}
	return b.Bytes(), nil
}
