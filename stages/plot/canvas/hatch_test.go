package canvas

import (
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"

	"github.com/tfexp/tfexp/results/table"
)

// TestHatch: where colors repeat, patterns distinguish areas, and stay within them.
func TestHatch(t *testing.T) {
	lines := func(i int) (n int) {
		var rec recorder.Canvas
		Hatch(draw.NewCanvas(&rec, 100, 100), i, Hue(i), 10, 20, 40, 50)
		for _, a := range rec.Actions {
			stroke, ok := a.(*recorder.Stroke)
			if !ok {
				continue
			}
			for _, c := range stroke.Path {
				const e = 1e-6
				if p := c.Pos; p.X < 10-e || p.X > 40+e || p.Y < 20-e || p.Y > 50+e {
					t.Errorf("pattern %d leaves its area: %v", i, p)
				}
				if c.Type == vg.LineComp {
					n++
				}
			}
		}
		return n
	}
	none, rising, falling, both := lines(0), lines(table.Hues), lines(2*table.Hues), lines(3*table.Hues)
	if none != 0 || rising < 10 || falling < 10 || both != rising+falling {
		t.Errorf("%d, %d, %d and %d lines", none, rising, falling, both)
	}
}
