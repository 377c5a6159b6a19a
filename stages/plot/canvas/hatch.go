package canvas

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/results/table"
)

// hatchGap is the distance between the lines of a pattern, in points.
const hatchGap vg.Length = 4

// Hatch draws the pattern of item i over an area. The pattern distinguishes items with the same color: no lines, rising
// lines, falling lines, or both.
func Hatch(c draw.Canvas, i int, fill color.NRGBA, x0, y0, x1, y1 vg.Length) {
	pattern := i / table.Hues % 4
	if !Patterned(i) || x1-x0 < 1 || y1-y0 < 1 {
		return
	}
	var path vg.Path
	line := func(ax, ay, bx, by vg.Length) {
		path.Move(vg.Point{X: ax, Y: ay})
		path.Line(vg.Point{X: bx, Y: by})
	}
	// Lines begin at multiples of the gap, so that the lines of adjacent areas join.
	if pattern != 2 { // x − y = k
		for k := multiple(x0 - y1); k < x1-y0; k += hatchGap {
			if a, b := max(x0, y0+k), min(x1, y1+k); a < b {
				line(a, a-k, b, b-k)
			}
		}
	}
	if pattern != 1 { // x + y = k
		for k := multiple(x0 + y0); k < x1+y1; k += hatchGap {
			if a, b := max(x0, k-y1), min(x1, k-y0); a < b {
				line(a, k-a, b, k-b)
			}
		}
	}
	c.SetLineStyle(draw.LineStyle{Color: Readable(fill), Width: 0.7})
	c.Stroke(path)
}

// Patterned reports whether item i has a pattern.
func Patterned(i int) bool { return i/table.Hues%4 != 0 }

// multiple returns the first multiple of the gap after a length.
func multiple(v vg.Length) vg.Length {
	n := vg.Length(int(v / hatchGap))
	if n*hatchGap <= v {
		n++
	}
	return n * hatchGap
}

// Hatched returns a function that draws the legend's sign of the area of item i.
func Hatched(i int) func(draw.Canvas, vg.Rectangle) {
	return func(c draw.Canvas, box vg.Rectangle) {
		Filled(Hue(i))(c, box)
		Hatch(c, i, Hue(i), box.Min.X, box.Min.Y+1.5, box.Max.X, box.Max.Y-1.5)
	}
}

// Mark returns the shape of the points of item i. Shapes differ between items with the same color.
func Mark(i int) draw.GlyphDrawer {
	shapes := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.TriangleGlyph{}, draw.SquareGlyph{}, draw.PlusGlyph{}}
	return shapes[i/table.Hues%len(shapes)]
}

// Marked returns a function that draws the legend's sign of the points of item i.
func Marked(i int) func(draw.Canvas, vg.Rectangle) {
	return func(c draw.Canvas, box vg.Rectangle) {
		at := vg.Point{X: (box.Min.X + box.Max.X) / 2, Y: (box.Min.Y + box.Max.Y) / 2}
		c.DrawGlyph(draw.GlyphStyle{Color: Hue(i), Radius: 3, Shape: Mark(i)}, at)
	}
}
