package canvas

import (
	"bytes"
	"fmt"
	"html"
	"image/color"
	"image/png"
	"regexp"

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
