package losscurve

import (
	"math"
	"math/rand/v2"
)

// rateSchedule is a schedule of the learning rate.
type rateSchedule struct {
	top   float64 // the largest rate so far
	ahead []rateContinuation
}

// rateContinuation is a possible course of the learning rate after the last point, with its weight.
type rateContinuation struct {
	weight float64
	at     func(step float64) float64 // step in units of reports
}

// varying is the smallest ratio of two rates that count as different.
const varying = 1.01

// rates returns the learning-rate schedule of a training. It returns false if a point has no rate, or if all rates
// are equal.
func (w window) rates() (rateSchedule, bool) {
	var s rateSchedule
	least := math.Inf(1)
	for _, p := range w.points {
		least, s.top = math.Min(least, p.Rate), math.Max(s.top, p.Rate)
	}
	if !(least > 0) || s.top <= varying*least {
		return rateSchedule{}, false
	}
	s.ahead = continueRates(w.points)
	return s, true
}

// pick draws a continuation by its weight.
func (s rateSchedule) pick(rng *rand.Rand) rateContinuation {
	u := rng.Float64()
	for _, c := range s.ahead {
		if u -= c.weight; u < 0 {
			return c
		}
	}
	return s.ahead[len(s.ahead)-1]
}

// againAfterOne is the probability that a rate that was lowered once will be lowered again after the same number of
// steps. sameSteps is the largest relative difference of intervals that count as equal; reports are not made at each
// step.
const againAfterOne, sameSteps = 0.6, 0.15

// lowered is the smallest ratio of consecutive rates that counts as a decrease.
const lowered = 1.0001

// continueRates returns possible continuations of the learning rate. A rate that was lowered in steps is lowered
// again after the same number of steps. Another rate follows the curve that fits the reported rates.
func continueRates(points []Point) []rateContinuation {
	top := 0
	for i, p := range points {
		if p.Rate > varying*points[top].Rate {
			top = i // the end of a warm-up
		}
	}
	points = points[top:]
	last := points[len(points)-1]
	stay := rateContinuation{1, func(float64) float64 { return last.Rate }}
	var drops []int
	for i := 1; i < len(points); i++ {
		if points[i-1].Rate > lowered*points[i].Rate {
			drops = append(drops, i)
		}
	}
	switch {
	case len(drops) == 0:
		return []rateContinuation{stay}
	case len(drops) > max(len(points)/3, 1):
		if at, ok := fitRateCourse(points); ok {
			return []rateContinuation{{1, at}}
		}
		return []rateContinuation{stay}
	}
	from, n := drops[len(drops)-1], float64(len(drops))
	at := points[from-1].Step // the rate is lower from this step on
	each, factor := at/n, math.Pow(last.Rate/points[0].Rate, 1/n)
	again := rateContinuation{1, func(step float64) float64 {
		return last.Rate * math.Pow(factor, math.Max(math.Ceil((step-at)/each)-1, 0))
	}}
	even := last.Step-at <= (1+sameSteps)*each
	for i, d := range drops {
		even = even && math.Abs(points[d-1].Step-float64(i+1)*each) <= sameSteps*each
	}
	switch {
	case !even:
		return []rateContinuation{stay}
	case len(drops) == 1:
		again.weight, stay.weight = againAfterOne, 1-againAfterOne
		return []rateContinuation{again, stay}
	}
	return []rateContinuation{again}
}

// rateShape is the shape of a rate that decreases continuously: a function of the rate is linear in a function of the
// step. The latter may depend on the end of the schedule.
type rateShape struct {
	rate, back func(float64) float64
	step       func(step, end float64) float64
	ends       bool
}

var shapes = []rateShape{
	{identity, identity, func(step, end float64) float64 { return math.Cos(math.Pi * math.Min(step/end, 1)) }, true},
	{identity, identity, func(step, _ float64) float64 { return step }, false},
	{math.Log, math.Exp, func(step, _ float64) float64 { return step }, false},
	{math.Log, math.Exp, func(step, _ float64) float64 { return math.Log(step) }, false},
	{inverseOf, inverseOf, func(step, _ float64) float64 { return step }, false},
}

func identity(x float64) float64  { return x }
func inverseOf(x float64) float64 { return 1 / x }

const (
	// leastCourse is the smallest number of rates to which a curve is fitted, and courseOff the largest relative
	// error of the fit.
	leastCourse, courseOff = 4, 0.01
	// leastRate is the smallest future rate, as a fraction of the last one. It ends a curve that approaches 0.
	leastRate = 1e-3
	// ends is the number of schedule ends tried at a time, from the last step to mostLonger times that step.
	ends, mostLonger = 24, 12
)

// fitRateCourse returns the continuation of the rate by the shape that fits best, or false if none fits. Steps of a
// schedule count from its first step, or from the end of the warm-up.
func fitRateCourse(points []Point) (func(step float64) float64, bool) {
	if len(points) < leastCourse {
		return nil, false
	}
	var best func(step float64) float64
	off := courseOff
	last := points[len(points)-1]
	for _, from := range []float64{0, points[0].Step - 1, points[0].Step} {
		for _, shape := range shapes {
			if !shape.ends {
				if at, o := shape.fit(points, from, 0); o < off {
					best, off = at, o
				}
				continue
			}
			// The search tries a few ends, and then ends close to the best of them.
			end, wide := last.Step*math.Sqrt(mostLonger), math.Sqrt(mostLonger)
			for range 3 {
				middle, closest := end, math.Inf(1)
				for i := range ends {
					e := math.Max(middle*math.Pow(wide, float64(2*i)/(ends-1)-1), last.Step)
					at, o := shape.fit(points, from, e)
					if o < closest {
						end, closest = e, o
					}
					if o < off {
						best, off = at, o
					}
				}
				wide = math.Pow(wide, 4.0/ends)
			}
		}
	}
	return best, best != nil
}

// fit fits the shape with steps counted from `from`. off is the largest relative error.
func (s rateShape) fit(points []Point, from, end float64) (at func(step float64) float64, off float64) {
	last := points[len(points)-1]
	a, b, ok := line(points, func(p Point) (x, y float64) { return s.step(p.Step-from, end), s.rate(p.Rate) })
	if !ok {
		return nil, math.Inf(1)
	}
	at = func(step float64) float64 {
		if rate := s.back(a + b*s.step(step-from, end)); rate > leastRate*last.Rate {
			return rate
		}
		return leastRate * last.Rate
	}
	sum := 0.0
	for _, p := range points {
		sum += square(at(p.Step)/p.Rate - 1)
	}
	return at, math.Sqrt(sum / float64(len(points)))
}

// line fits y = a + b·x by least squares.
func line(points []Point, of func(Point) (x, y float64)) (a, b float64, ok bool) {
	var n, sx, sy, sxx, sxy float64
	for _, p := range points {
		x, y := of(p)
		n, sx, sy, sxx, sxy = n+1, sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	d := n*sxx - sx*sx
	if !(d > 0) {
		return 0, 0, false
	}
	b = (n*sxy - sx*sy) / d
	return (sy - b*sx) / n, b, true
}
