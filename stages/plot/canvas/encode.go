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

// Painting is a picture as a function that paints it, with its size in points.
type Painting struct {
	// Paint is called once for each format.
	Paint         func(draw.Canvas)
	Width, Height float64
	Layout
}

// size returns the final size of the painting.
func (p Painting) size() (width, height vg.Length) {
	return font.Points(p.Width * p.scale()), font.Points(p.Height * p.scale())
}

// on paints on a canvas. It returns the height in points that the painting needs in addition to its own.
func (p Painting) on(c vg.Canvas, groups *grouped) float64 {
	s := &sheet{Canvas: c, dark: p.Style == Dark, bare: p.Style == Paper, groups: groups}
	_, s.outlined = c.(*vgpdf.Canvas)
	p.Paint(draw.NewCanvas(s, font.Points(p.Width), font.Points(p.Height)))
	return s.more
}

// Laid returns the painting with the width of its layout, and the height that follows.
func (p Painting) Laid() Painting {
	if p.Layout.Width > 0 {
		p.Width = p.Layout.Width / p.scale()
	}
	if p.Width != Width || p.Style == Paper {
		p.Height += p.on(&recorder.Canvas{}, nil)
	}
	return p
}

// SVG returns the painting as SVG. It is small, uses fonts that exist everywhere, and has a title and a caption for
// readers who cannot see it. On screens it is dark for readers who prefer that.
func (p Painting) SVG(title, caption string) ([]byte, error) {
	c := vgsvg.New(font.Points(p.Width), font.Points(p.Height))
	if p.Style == Dark {
		p.background(c, p.Width, p.Height)
	}
	p.on(c, &grouped{c})
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("encode svg: %w", err)
	}
	width, height := p.size()
	box := fmt.Sprintf(`width="%.5gpt" height="%.5gpt" viewBox="0 0 %.5g %.5g"`,
		width.Points(), height.Points(), p.Width, p.Height)
	return shrink(b.Bytes(), box, title, caption, p.Style != Screen), nil
}

// background paints the background of a dark painting.
func (p Painting) background(c vg.Canvas, width, height float64) {
	c.SetColor(darkPaper)
	c.Fill(Rectangle(0, 0, font.Points(width), font.Points(height)))
}

// PDF returns the painting as PDF. Text is drawn as outlines, so no fonts are needed.
func (p Painting) PDF() ([]byte, error) {
	c := vgpdf.New(p.size())
	c.Scale(p.scale(), p.scale())
	if p.Style == Dark {
		p.background(c, p.Width, p.Height)
	}
	p.on(c, nil)
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("encode pdf: %w", err)
	}
	return b.Bytes(), nil
}

var (
	svgStart  = regexp.MustCompile(`(?s)^.*?<svg[^>]*>`)
	svgFamily = regexp.MustCompile(`font-family:[^;"]*`)
	svgText   = regexp.MustCompile(`<text ([^>]*)>([^<]*)</text>`)
	svgPoints = regexp.MustCompile(`font-size:([0-9.]+)px`)
	svgStyle  = regexp.MustCompile(` style="([^"]*)"`)
)

// shortText is the number of letters below which a text gets no fixed width.
const shortText = 4

// fitted sets the width of longer texts to the measured one. If none of their fonts is installed, the substitute may be
// wider, and texts would overlap.
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

// attributes replaces style attributes by presentation attributes, since the security policy of some pages forbids
// styles.
func attributes(body []byte) []byte {
	return svgStyle.ReplaceAllFunc(body, func(style []byte) []byte {
		var b []byte
		rules := bytes.TrimSuffix(bytes.TrimPrefix(style, []byte(` style="`)), []byte(`"`))
		for rule := range bytes.SplitSeq(rules, []byte(";")) {
			if name, value, ok := bytes.Cut(rule, []byte(":")); ok {
				b = append(append(append(b, ' '), name...), `="`...)
				b = append(append(b, value...), '"')
			}
		}
		return b
	})
}

// unblank removes empty lines, and spaces at the beginning and the end of lines.
func unblank(body []byte) []byte {
	out := make([]byte, 0, len(body))
	for line := range bytes.Lines(body) {
		if line = bytes.Trim(line, " \t\f\r\n"); len(line) > 0 {
			out = append(append(out, line...), '\n')
		}
	}
	return out
}

// shrink makes an SVG of gonum smaller. It removes default values and line breaks, and replaces a rare font; Liberation
// Sans has the metrics of Arial.
func shrink(raw []byte, box, title, caption string, plain bool) []byte {
	body := svgStart.ReplaceAll(raw, nil)
	body = svgFamily.ReplaceAll(body, []byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif"))
	for _, s := range []string{"font-variant:none;", "font-variant:normal;", "font-weight:normal;", "font-style:normal;"} {
		body = bytes.ReplaceAll(body, []byte(s), nil)
	}
	body = attributes(fitted(ungroup(bytes.ReplaceAll(unblank(body), []byte("\nstyle="), []byte(" style=")))))
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" %s role="img" aria-label="%s"`, box, html.EscapeString(title))
	look := lightStyle
	if plain {
		b.WriteByte('>')
	} else {
		dark := recolored(body)
		look = darkStyle(dark)
		fmt.Fprintf(&b, ` data-dark="%s">`, darkNames(dark))
	}
	fmt.Fprintf(&b, `<title>%s</title><desc>%s</desc><style>%s</style>`,
		html.EscapeString(title), html.EscapeString(caption), look)
	b.WriteByte('\n')
	b.Write(bytes.TrimSpace(body))
	b.WriteByte('\n')
	return b.Bytes()
}

// Dots per inch of PNGs: sharp on a screen with twice the usual density, and in print.
const (
	screenDPI = 144
	paperDPI  = 300
)

// PNG returns the painting as PNG.
func (p Painting) PNG() ([]byte, error) {
	paper, density := color.NRGBA{0xff, 0xff, 0xff, 0xff}, screenDPI
	switch p.Style {
	case Dark:
		paper = darkPaper
	case Paper:
		density = paperDPI
	}
	c := vgimg.NewWith(vgimg.UseWH(p.size()), vgimg.UseDPI(density), vgimg.UseBackgroundColor(paper))
	c.Scale(p.scale(), p.scale())
	p.on(c, nil)
	var b bytes.Buffer
	enc := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := enc.Encode(&b, c.Image()); err != nil {
		return nil, fmt.Errorf("encode png: %w", err)
	}
	return b.Bytes(), nil
}
