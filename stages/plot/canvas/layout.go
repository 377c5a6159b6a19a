package canvas

import (
	"image/color"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Look is the use of a picture, which determines its colors.
type Look string

// The uses of pictures.
const (
	// Screen is for web pages. The picture is dark for readers who prefer that, if its format supports this.
	Screen Look = "screen"
	// Paper is for print: black on white, without a title, since the caption has it; PNGs have more dots per inch.
	Paper Look = "paper"
	// Dark is for dark pages and slides.
	Dark Look = "dark"
)

// Styles returns the names of all looks.
func Styles() []string { return []string{string(Screen), string(Paper), string(Dark)} }

// The file formats of pictures.
const (
	SVG = "svg"
	PNG = "png"
	PDF = "pdf"
)

// Formats returns the names of all file formats.
func Formats() []string { return []string{SVG, PNG, PDF} }

// Layout is the size and the look of pictures.
type Layout struct {
	// Width is in points; 0 means the width of the painting.
	Width float64
	// FontSize is the size of the labels of ticks in points; other text and lines scale with it. 0 means TickSize.
	FontSize float64
	Style    Look
}

// scale returns the factor by which text and lines are enlarged.
func (l Layout) scale() float64 {
	if l.FontSize == 0 {
		return 1
	}
	return l.FontSize / TickSize
}

// sheet is a canvas that applies a layout.
type sheet struct {
	vg.Canvas
	dark, bare bool
	outlined   bool     // text is drawn as the outlines of its glyphs
	groups     *grouped // nil if the format has no groups
	more       float64  // additional height that legends and titles need
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

// Tile returns the place of panel i. Panels are in rows of `columns` panels, from the top; gap is the space to the
// right of each.
func Tile(c draw.Canvas, i, columns int, height, gap float64) draw.Canvas {
	wide := c.Size().X / vg.Length(columns)
	left, high := c.Min.X+wide*vg.Length(i%columns), c.Max.Y-vg.Length(height*float64(i/columns))
	return draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
		Min: vg.Point{X: left, Y: high - vg.Length(height)}, Max: vg.Point{X: left + wide - vg.Length(gap), Y: high},
	}}
}
