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
	// Rate is the rate of learning of the steps up to it; 0 where it is not known. Where all points have one, and it
	// changes, the model combined follows it.
	Rate float64
}

// Forecast is the remaining length of a training until its loss is at or below a
// target. It counts from the last point, in the unit of the points' steps.
type Forecast struct {
	// Steps is the prediction, at most the horizon of Ahead.
	Steps float64
	// Low and High bound the interval; High is +Inf when the target may not be
	// reached at all.
	Low, High float64
	// Never is the chance that the target is not reached within Ask.Most steps.
	Never float64
}

// Ask is the question to predict.
type Ask struct {
	// Target is the loss to be reached; above 0.
	Target float64
	// Level is the chance that the interval holds: 0.9.
	Level float64
	// Most is the greatest number of further steps; 0: the horizon of Ahead.
	Most float64
	// Seed is the seed of the drawn continuations.
	Seed uint64
}

// Model is a way to predict.
type Model struct {
	Name string
	// draw returns the steps that are left in possible continuations, all alike
	// in chance; +Inf where the target is not reached.
	draw func(w window, n int, rng *rand.Rand) []float64
	// point returns the prediction itself. Without it, that is the value whose
	// expected relative error over the continuations is least.
	point func(w window) float64
	// early, if it is set, returns the factor on the upper bound of the continuations by the number of points.
	early func(points int) float64
}

// The models. Combined is the one to use; the others are for comparison.
var models = []Model{combined, trend, inverse, exponential, selfTF}

// Default is the name of the model that is used where none is named.
const Default = "combined"

// Models returns the models, the default first.
func Models() []Model { return slices.Clone(models) }

// ByName returns the model of a name.
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
	// Ahead is the horizon: continuations are followed until the training is
	// this many times its present length.
	Ahead = 60
	// draws is the number of continuations.
	draws = 400
	// most bounds the number of points that are fitted; of more points, groups are averaged (their logarithms).
	most = 300
)

// Forecast predicts the steps until a loss of at most the target. The same points and question give the same
// forecast. It reports false when the points are fewer than Least, or when the target is not above 0: all models
// are of losses above 0, and other points do not count. Once a loss was at the target, nothing is left.
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

// window is the input of a model: losses above 0 and above the target, in the
// order of their steps, which are counted in units.
type window struct {
	points []Point
	target float64
	unit   float64 // steps from one report to the next
	before float64 // steps before the points: of earlier regimes
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

// thin averages the logarithms of neighboring losses when there are many.
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

// horizon is the number of steps for which continuations are followed.
func (w window) horizon() float64 { return (Ahead - 1) * (w.before + w.last().Step) }

// until returns the beginning of the window up to point n, with another target.
func (w window) until(n int, target float64) window {
	w.points, w.target = w.points[:n], target
	return w
}

// shortest is the part of the continuations, the shortest, that count as long as the next one:
// a few that end at once would outweigh all others where errors are relative.
const shortest = 0.05

// relativeMedian returns the value whose mean relative error, |value − truth| /
// truth, over the continuations is least: their median, each weighted by one over
// its length, which is least at least. Those that never end count as the horizon.
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
