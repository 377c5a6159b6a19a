package losscurve

import (
	"math"
	"math/rand/v2"
	"slices"
)

// selfTF is the curve of SelfTF (arXiv 1810.02935), with an interval by how well
// it would have predicted the window itself.
var selfTF = Model{
	Name: "selftf",
	Doc:  "step(l) = (h/l)·ln(d/l) + j0, with d the greatest loss and j0 the first step, without outliers",
	draw: func(w window, n int, rng *rand.Rand) []float64 {
		return around(selfTFLeft(w), backtest(w, selfTFLeft, 1.2, priorWeight), w.horizon(), n, rng)
	},
	point: selfTFLeft,
}

// selfTFLeft returns the steps that are left by SelfTF's curve. Its factor h is
// fitted by least squares, h = (xx·yy)/(xx·xx) with xx = (1/l)·ln(d/l) and yy =
// step − j0; losses that are three median deviations or more away from the median
// are dropped. The curve counts from j0, what is returned from the last point.
func selfTFLeft(w window) float64 {
	losses := make([]float64, len(w.points))
	for i, p := range w.points {
		losses[i] = p.Loss
	}
	middle := median(losses)
	deviations := make([]float64, len(losses))
	for i, l := range losses {
		deviations[i] = math.Abs(l - middle)
	}
	kept := w.points
	if mad := median(deviations); mad > 0 {
		kept = slices.DeleteFunc(slices.Clone(kept), func(p Point) bool { return math.Abs(p.Loss-middle)/mad >= 3 })
	}
	d, j0 := 0.0, kept[0].Step
	for _, p := range kept {
		d = math.Max(d, p.Loss)
	}
	xy, xx := 0.0, 0.0
	for _, p := range kept {
		x := math.Log(d/p.Loss) / p.Loss
		xy += x * (p.Step - j0)
		xx += x * x
	}
	if xx == 0 || d <= w.target {
		return w.horizon()
	}
	return math.Max(xy/xx/w.target*math.Log(d/w.target)+j0-w.last().Step, 0)
}
