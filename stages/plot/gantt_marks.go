package plot

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/stages/plot/canvas"
)

// leastEpoch is the least mean width of a job's epochs, in points, at which their ends are drawn. More marks would hide
// the color of the job.
const leastEpoch = 3

// ThinEpochs removes the epochs of jobs whose epochs are too short to see.
func (ch *Chart) ThinEpochs() {
	scale := canvas.Width / max(ch.Until-ch.From, 1e-9) // greatest number of points per second
	for i := range ch.Lanes {
		l := &ch.Lanes[i]
		ran := 0.0
		for _, h := range l.Held {
			ran += h.To - h.From
		}
		if ran*scale < leastEpoch*float64(len(l.Epochs)) {
			l.Epochs = nil
		}
	}
}

// marks draws the resizes in a job's lane, and those ends of epochs that can be seen.
func (b bars) marks(c draw.Canvas, l *Lane, at func(float64) vg.Length, mid, half vg.Length) {
	last := vg.Length(-1)
	for _, t := range l.Epochs {
		if x := at(t); x-last >= 2 {
			epochEnd(c, x, mid-half, 2*half)
			last = x
		}
	}
	last = -1
	for _, t := range l.Resizes {
		if x := at(t); x-last >= 1 {
			resized(c, x, mid, min(2.5, half))
			last = x
		}
	}
}

// epochEnd draws the end of an epoch as a white line across the bar.
func epochEnd(c draw.Canvas, x, bottom, height vg.Length) {
	c.StrokeLine2(draw.LineStyle{Color: color.White, Width: 0.8}, x, bottom, x, bottom+height)
}

// resized draws a resize as a diamond.
func resized(c draw.Canvas, x, y, r vg.Length) {
	var path vg.Path
	path.Move(vg.Point{X: x - r, Y: y})
	path.Line(vg.Point{X: x, Y: y + r})
	path.Line(vg.Point{X: x + r, Y: y})
	path.Line(vg.Point{X: x, Y: y - r})
	path.Close()
	c.SetColor(canvas.Ink)
	c.Fill(path)
}

// arrival draws a job's arrival as a vertical line.
func arrival(c draw.Canvas, x, bottom, height vg.Length) {
	c.StrokeLine2(draw.LineStyle{Color: canvas.Ink, Width: 1}, x, bottom, x, bottom+height)
}

// failure draws the failure of a job as a cross.
func failure(c draw.Canvas, x, y, r vg.Length) {
	line := draw.LineStyle{Color: canvas.Ink, Width: 1.2}
	c.StrokeLine2(line, x-r, y-r, x+r, y+r)
	c.StrokeLine2(line, x-r, y+r, x+r, y-r)
}
