package canvas

import (
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// outlines returns a text as the outlines of its glyphs. It looks the same without the font, in every alphabet of the
// font.
func outlines(f font.Face, at vg.Point, text string) vg.Path {
	const exact = 64 // outlines are computed in 1/64 of the font's unit
	size := f.Font.Size
	ppem := fixed.I(exact * 16)
	per := size / (exact * 16) // points per part of a unit
	point := func(p fixed.Point26_6) vg.Point {
		return vg.Point{X: at.X + vg.Length(p.X)/64*per, Y: at.Y - vg.Length(p.Y)/64*per}
	}
	var (
		path   vg.Path
		buffer sfnt.Buffer
		before sfnt.GlyphIndex
	)
	for i, r := range text {
		glyph, err := f.Face.GlyphIndex(&buffer, r)
		if err != nil {
			continue
		}
		if i > 0 {
			if kern, err := f.Face.Kern(&buffer, before, glyph, ppem, 0); err == nil {
				at.X += vg.Length(kern) / 64 * per
			}
		}
		before = glyph
		segments, err := f.Face.LoadGlyph(&buffer, glyph, ppem, nil)
		if err != nil {
			continue
		}
		for k, s := range segments {
			switch s.Op {
			case sfnt.SegmentOpMoveTo:
				if k > 0 {
					path.Close()
				}
				path.Move(point(s.Args[0]))
			case sfnt.SegmentOpLineTo:
				path.Line(point(s.Args[0]))
			case sfnt.SegmentOpQuadTo:
				path.QuadTo(point(s.Args[0]), point(s.Args[1]))
			case sfnt.SegmentOpCubeTo:
				path.CubeTo(point(s.Args[0]), point(s.Args[1]), point(s.Args[2]))
			}
		}
		if len(segments) > 0 {
			path.Close()
		}
		if wide, err := f.Face.GlyphAdvance(&buffer, glyph, ppem, 0); err == nil {
			at.X += vg.Length(wide) / 64 * per
		}
	}
	return path
}
