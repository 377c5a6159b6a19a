package canvas

import (
	"image/color"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Look is the purpose of pictures.
type Look string

// The looks.
const (
	// Screen is for pages: dark for readers who prefer that, if the format supports it.
	Screen Look = "screen"
	// Paper is for print: black on white, without the title, which is in the caption, and with denser PNGs.
	Paper Look = "paper"
	// Dark is for dark pages and slides.
	Dark Look = "dark"
)

// Styles lists the styles.
func Styles() []string { return []string{string(Screen), string(Paper), string(Dark)} }

// The formats of pictures.
const (
	SVG = "svg"
	PNG = "png"
	PDF = "pdf"
)

// Formats lists the formats.
func Formats() []string { return []string{SVG, PNG, PDF} }

// Layout is the layout of pictures.
type Layout struct {
	// Width in points; 0: as painted.
	Width float64
	// FontSize is the size of the labels of axes' ticks, in points; other text and lines scale with it; 0:
	// TickSize.
	FontSize float64
	Style    Look
}

// scale is the factor by which text and lines are enlarged.
func (l Layout) scale() float64 {
	if l.FontSize == 0 {
		return 1
	}
	return l.FontSize / TickSize
}

// sheet is a canvas of a layout.
type sheet struct {
	vg.Canvas
	dark, bare bool
	outlined   bool     // text is drawn as the outlines of its glyphs
	groups     *grouped // where the format has groups
	more       float64  // height that legends and titles need beyond the usual
}

// FillString implements vg.Canvas.
func (s *sheet) FillString(f font.Face, at vg.Point, text string) {
	if !s.outlined {
		s.Canvas.FillString(f, at, text)
		return
	}
	if path := outlines(f, at, text); len(path) > 0 {
		s.Fill(path)
	}
}

// SetColor implements vg.Canvas.
func (s *sheet) SetColor(c color.Color) {
	if s.dark && c != nil {
		c = darkened(color.NRGBAModel.Convert(c).(color.NRGBA))
	}
	s.Canvas.SetColor(c)
}

// Tile is the place of the i-th of panels in rows of columns, from the top, with a gap at its right.
func Tile(c draw.Canvas, i, columns int, height, gap float64) draw.Canvas {
	wide := c.Size().X / vg.Length(columns)
	left, high := c.Min.X+wide*vg.Length(i%columns), c.Max.Y-vg.Length(height*float64(i/columns))
	return draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
		Min: vg.Point{X: left, Y: high - vg.Length(height)}, Max: vg.Point{X: left + wide - vg.Length(gap), Y: high},
	}}
}
