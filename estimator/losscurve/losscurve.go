// Package losscurve predicts how long a training takes until its loss reaches a
// target, from its losses reported so far. Each model is one file.
package losscurve

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Point is one report of a training: its loss after a number of steps (or epochs).
type Point struct {
	Step, Loss float64
	// Rate is the learning rate of the steps up to this point; 0 if unknown. If all points have a rate, and it
	// changes, the model combined uses it.
	Rate float64
}

// Forecast is the predicted number of steps until a training's loss reaches a target. It counts from the last point.
type Forecast struct {
	// Steps is the prediction; at most the horizon of Ahead.
	Steps float64
	// Low and High are the interval; High is +Inf if the target may never be reached.
	Low, High float64
	// Never is the probability that the target is not reached within Ask.Most steps.
	Never float64
}

// Ask is the question that a forecast answers.
type Ask struct {
	// Target is the loss to reach; it must be above 0.
	Target float64
	// Level is the probability that the interval contains the true number, such as 0.9.
	Level float64
	// Most is the largest number of further steps; 0 means the horizon of Ahead.
	Most float64
	// Seed is the seed of the random continuations.
	Seed uint64
}

// Model is a method of prediction.
type Model struct {
	Name string
	// draw draws n possible continuations of equal probability, and returns the remaining steps of each; +Inf if it
	// does not reach the target.
	draw func(w window, n int, rng *rand.Rand) []float64
	// point returns the prediction. If it is nil, the prediction is the value with the smallest expected relative
	// error over the continuations.
	point func(w window) float64
	// early returns a factor on the interval's upper bound for a number of points; nil means 1.
	early func(points int) float64
}

// All models. Combined is the one for use; the others are for comparison.
var models = []Model{combined, trend, inverse, exponential, selfTF}

// Default is the name of the model that is used unless another is named.
const Default = "combined"

// Models returns the models, the default first.
func Models() []Model { return slices.Clone(models) }

// ByName returns the model with the given name.
func ByName(name string) (Model, bool) {
	i := slices.IndexFunc(models, func(m Model) bool { return m.Name == name })
	if i < 0 {
		return Model{}, false
	}
	return models[i], true
}

const (
	// Least is the number of points that a prediction needs.
	Least = 3
	// Ahead limits continuations: they end when the training is this many times as long as now.
	Ahead = 60
	// draws is the number of continuations that are drawn.
	draws = 400
	// most is the largest number of points that are fitted. If there are more, the logarithms of neighbors are
	// averaged.
	most = 300
)

// Forecast predicts the number of steps until the loss is at most the target. Equal points and questions give equal
// forecasts. It returns false with fewer than Least points, or for a target that is not above 0. Points with losses
// of 0 or less are ignored, because all models are of positive losses. If a loss has reached the target, no steps
// remain.
func (m Model) Forecast(points []Point, ask Ask) (Forecast, bool) {
	target := ask.Target
	points = slices.DeleteFunc(slices.Clone(points), func(p Point) bool {
		return !(p.Loss > 0) || math.IsInf(p.Loss, 0) || !(p.Step > 0)
	})
	if len(points) < Least || !(target > 0) {
		return Forecast{}, false
	}
	if slices.ContainsFunc(points, func(p Point) bool { return p.Loss <= target }) {
		return Forecast{}, true
	}
	w := newWindow(points, target)
	left := m.draw(w, draws, rand.New(rand.NewPCG(ask.Seed, uint64(len(points)))))
	slices.Sort(left)
	tail := (1 - ask.Level) / 2
	f := Forecast{Low: quantile(left, tail), High: quantile(left, 1-tail)}
	if m.early != nil {
		f.High *= m.early(len(points))
	}
	most := w.horizon()
	if ask.Most > 0 {
		most = math.Min(most, ask.Most/w.unit)
	}
	for _, v := range left {
		if v > most {
			f.Never += 1 / float64(len(left))
		}
	}
	if m.point != nil {
		f.Steps = math.Min(m.point(w), w.horizon())
	} else {
		f.Steps = relativeMedian(left, quantile(left, shortest), w.horizon())
	}
	unit := w.unit
	f.Steps, f.Low, f.High = f.Steps*unit, f.Low*unit, f.High*unit
	return f, true
}

// window is the input of a model: losses above 0 and above the target, in the order of their steps. Steps are counted
// in units of reports.
type window struct {
	points []Point
	target float64
	unit   float64 // steps between two reports
	before float64 // steps of earlier regimes, before the points
}

func newWindow(points []Point, target float64) window {
	points = thin(points)
	gaps := make([]float64, 0, len(points))
	for i := 1; i < len(points); i++ {
		gaps = append(gaps, points[i].Step-points[i-1].Step)
	}
	unit := median(gaps)
	if !(unit > 0) {
		unit = 1
	}
	for i := range points {
		points[i].Step /= unit
	}
	return window{points: points, target: target, unit: unit}
}

// thin averages the logarithms of neighboring losses until at most `most` points remain.
func thin(points []Point) []Point {
	group := (len(points) + most - 1) / most
	if group <= 1 {
		return points
	}
	var out []Point
	for end := len(points); end > 0; end -= group {
		part := points[max(end-group, 0):end]
		sum := 0.0
		for _, p := range part {
			sum += math.Log(p.Loss)
		}
		last := part[len(part)-1]
		last.Loss = math.Exp(sum / float64(len(part)))
		out = append(out, last)
	}
	slices.Reverse(out)
	return out
}

func (w window) last() Point { return w.points[len(w.points)-1] }

// horizon returns the number of steps after which continuations end.
func (w window) horizon() float64 { return (Ahead - 1) * (w.before + w.last().Step) }

// until returns the first n points of the window, with another target.
func (w window) until(n int, target float64) window {
	w.points, w.target = w.points[:n], target
	return w
}

// shortest is a fraction of the continuations. The shortest ones, up to that fraction, count as long as the next
// longer one; otherwise a few that end at once would dominate relative errors.
const shortest = 0.05

// relativeMedian returns the value with the smallest mean relative error, |value − truth| / truth, over the
// continuations. This is their median with weights 1 / length; lengths below `least` count as least, and those above
// the horizon as the horizon.
func relativeMedian(sorted []float64, least, horizon float64) float64 {
	value := func(v float64) float64 { return min(max(v, least, 1), horizon) }
	total := 0.0
	for _, v := range sorted {
		total += 1 / value(v)
	}
	sum := 0.0
	for _, v := range sorted {
		if sum += 1 / value(v); sum >= total/2 {
			return value(v)
		}
	}
	return horizon
}

func quantile(sorted []float64, p float64) float64 {
	return sorted[min(int(p*float64(len(sorted))), len(sorted)-1)]
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	v = slices.Clone(v)
	slices.Sort(v)
	n := len(v)
	return (v[(n-1)/2] + v[n/2]) / 2
}
