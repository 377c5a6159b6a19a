package canvas

import (
	"bytes"
	"fmt"
	"html"
	"image/color"
	"image/png"
	"regexp"
	"strconv"
	"unicode/utf8"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Painting is something that can be painted, and its size in points.
type Painting struct {
	// Paint is called once for each format.
	Paint         func(draw.Canvas)
	Width, Height float64
}

// SVG returns the painting as SVG: small, with fonts that exist everywhere, and
// with a title and a caption for those who cannot see it.
func (p Painting) SVG(title, caption string) ([]byte, error) {
	c := vgsvg.New(font.Points(p.Width), font.Points(p.Height))
	p.Paint(draw.New(c))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("encode svg: %w", err)
	}
	return shrink(b.Bytes(), title, caption), nil
}

var (
	svgSize   = regexp.MustCompile(`width="[^"]*" height="[^"]*" viewBox="[^"]*"`)
	svgStart  = regexp.MustCompile(`(?s)^.*?<svg[^>]*>`)
	svgBlank  = regexp.MustCompile(`\s*\n\s*`)
	svgFamily = regexp.MustCompile(`font-family:[^;"]*`)
	svgText   = regexp.MustCompile(`<text ([^>]*)>([^<]*)</text>`)
	svgPoints = regexp.MustCompile(`font-size:([0-9.]+)px`)
)

// shortText is the number of letters below which a text needs no measure.
const shortText = 4

// fitted gives longer texts the width that they were measured with: where none of their
// fonts is installed, the one that takes their place may be wider, and texts would
// overlap.
func fitted(body []byte) []byte {
	return svgText.ReplaceAllFunc(body, func(tag []byte) []byte {
		parts := svgText.FindSubmatch(tag)
		words := html.UnescapeString(string(parts[2]))
		size := svgPoints.FindSubmatch(parts[1])
		if utf8.RuneCountInString(words) < shortText || size == nil {
			return tag
		}
		points, err := strconv.ParseFloat(string(size[1]), 64)
		if err != nil {
			return tag
		}
		st := Style(points, Ink, bytes.Contains(parts[1], []byte("font-weight:bold")))
		return fmt.Appendf(nil, `<text textLength="%.5g" lengthAdjust="spacingAndGlyphs" %s>%s</text>`,
			st.Width(words).Points(), parts[1], parts[2])
	})
}

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
	body = fitted(bytes.ReplaceAll(body, []byte("\nstyle="), []byte(" style=")))
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

// PNG returns the painting as PNG.
func (p Painting) PNG() ([]byte, error) {
	c := vgimg.NewWith(vgimg.UseWH(font.Points(p.Width), font.Points(p.Height)), vgimg.UseDPI(dpi),
		vgimg.UseBackgroundColor(color.White))
	p.Paint(draw.New(c))
	var b bytes.Buffer
	enc := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := enc.Encode(&b, c.Image()); err != nil {
		return nil, fmt.Errorf("encode png: %w", err)
	}
	return b.Bytes(), nil
}
