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
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Painting is something that can be painted, and its size in points.
type Painting struct {
	// Paint is called once for each format.
	Paint         func(draw.Canvas)
	Width, Height float64
	// Scale makes the painting, its text and lines larger or smaller than they are painted; 0 is 1.
	Scale float64
	// Dark paints on dark paper.
	Dark bool
}

// size is how large the painting comes out.
func (p Painting) size() (width, height vg.Length) {
	return font.Points(p.Width * p.scale()), font.Points(p.Height * p.scale())
}

func (p Painting) scale() float64 {
	if p.Scale == 0 {
		return 1
	}
	return p.Scale
}

// on paints on a canvas.
func (p Painting) on(c vg.Canvas) {
	if p.Dark {
		c = inTheDark{c}
	}
	p.Paint(draw.NewCanvas(c, font.Points(p.Width), font.Points(p.Height)))
}

// Grown is the painting with the height that it needs: where it is not as wide as pictures are, its legend takes more
// rows.
func (p Painting) Grown() Painting {
	if p.Width == Width {
		return p
	}
	m := &measured{}
	p.on(m)
	p.Height += m.more
	return p
}

// SVG returns the painting as SVG: small, with fonts that exist everywhere, and
// with a title and a caption for those who cannot see it. It is dark for readers who ask for that, unless it is for
// paper.
func (p Painting) SVG(title, caption string, paper bool) ([]byte, error) {
	c := vgsvg.New(font.Points(p.Width), font.Points(p.Height))
	p.on(grouped{c})
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("encode svg: %w", err)
	}
	width, height := p.size()
	box := fmt.Sprintf(`width="%.5gpt" height="%.5gpt" viewBox="0 0 %.5g %.5g"`, width.Points(), height.Points(), p.Width, p.Height)
	return shrink(b.Bytes(), box, title, caption, paper || p.Dark), nil
}

// PDF returns the painting as PDF, with the fonts in it.
func (p Painting) PDF() ([]byte, error) {
	c := vgpdf.New(p.size())
	c.EmbedFonts(true)
	if p.Dark {
		c.SetColor(Paper)
		w, h := p.size()
		c.Fill(Rectangle(0, 0, w, h))
	}
	c.Scale(p.scale(), p.scale())
	p.on(c)
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("encode pdf: %w", err)
	}
	return b.Bytes(), nil
}

var (
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
func shrink(raw []byte, box, title, caption string, plain bool) []byte {
	body := svgStart.ReplaceAll(raw, nil)
	body = svgFamily.ReplaceAll(body, []byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif"))
	for _, s := range []string{"font-variant:none;", "font-variant:normal;", "font-weight:normal;", "font-style:normal;"} {
		body = bytes.ReplaceAll(body, []byte(s), nil)
	}
	body = svgBlank.ReplaceAll(body, []byte("\n"))
	body = fitted(ungroup(bytes.ReplaceAll(body, []byte("\nstyle="), []byte(" style="))))
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" %s role="img" aria-label="%s" style="max-width:100%%;height:auto"`,
		box, html.EscapeString(title))
	look := "svg{background:#FFFFFF}"
	if plain {
		b.WriteByte('>')
	} else {
		dark := darkened(body)
		look = darkStyle(dark)
		fmt.Fprintf(&b, ` data-dark="%s">`, darkNames(dark))
	}
	fmt.Fprintf(&b, `<title>%s</title><desc>%s</desc><style>%s</style>`, html.EscapeString(title), html.EscapeString(caption), look)
	b.WriteByte('\n')
	b.Write(bytes.TrimSpace(body))
	b.WriteByte('\n')
	return b.Bytes()
}

// dpi of the PNGs: sharp on a screen of twice the usual density.
const dpi = 144

// PNG returns the painting as PNG.
func (p Painting) PNG() ([]byte, error) {
	paper := color.NRGBA{0xff, 0xff, 0xff, 0xff}
	if p.Dark {
		paper = Paper
	}
	c := vgimg.NewWith(vgimg.UseWH(p.size()), vgimg.UseDPI(dpi), vgimg.UseBackgroundColor(paper))
	c.Scale(p.scale(), p.scale())
	p.on(c)
	var b bytes.Buffer
	enc := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := enc.Encode(&b, c.Image()); err != nil {
		return nil, fmt.Errorf("encode png: %w", err)
	}
	return b.Bytes(), nil
}

// measured is a canvas that shows nothing, and knows how much higher a legend is than where a picture is as wide as
// most are.
type measured struct {
	recorder.Canvas
	more float64
}
