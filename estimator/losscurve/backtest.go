package losscurve

import (
	"math"
	"math/rand/v2"
)

// backtestFrom are fractions of a window. The window's last loss is predicted from that part of its beginning.
var backtestFrom = []float64{0.4, 0.5, 0.6, 0.7, 0.8}

// priorWeight is the weight of the known spread relative to the spread of predictions in the window. For a member of
// a combination it is smaller, because the members' weights already depend on how well they predicted the latest
// losses.
const (
	priorWeight  = 4
	memberWeight = 0.25
)

// backtest returns the spread of the logarithm of predicted / true steps. It predicts the window's last loss from
// beginnings of the window, and combines the spread of these predictions with the known spread, which has a weight.
func backtest(w window, left func(window) float64, known, weight float64) float64 {
	sum, count := weight*known*known, weight
	for _, p := range w.pasts() {
		sum += square(p.error(left(p.window)))
		count++
	}
	return math.Sqrt(sum / count)
}

// truncatedWindow is the beginning of a window, from which the window's last loss is predicted.
type truncatedWindow struct {
	window
	points int
	truth  float64 // steps until the window's last loss
}

func (w window) pasts() []truncatedWindow {
	var all []truncatedWindow
	for _, part := range backtestFrom {
		n := int(part * float64(len(w.points)))
		target := w.last().Loss
		if n < Least || n >= len(w.points) {
			continue
		}
		reached := n
		for reached < len(w.points)-1 && w.points[reached].Loss > target {
			reached++
		}
		b := w.until(n, target)
		all = append(all, truncatedWindow{b, n, w.points[reached].Step - b.last().Step})
	}
	return all
}

// error returns the logarithm of predicted / true steps.
func (p truncatedWindow) error(left float64) float64 {
	return math.Log(math.Max(math.Min(left, p.horizon()), 0.5) / p.truth)
}

// noisySteps draws n numbers of steps from a lognormal distribution with median `steps`.
func noisySteps(steps, spread, horizon float64, n int, rng *rand.Rand) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = scatter(steps, spread, horizon, rng)
	}
	return out
}

// scatter draws one number of steps. At or above the horizon it returns +Inf: the target is not reached.
func scatter(steps, spread, horizon float64, rng *rand.Rand) float64 {
	v := math.Max(math.Min(steps, horizon), 0.5) * math.Exp(spread*rng.NormFloat64())
	if v >= horizon {
		return math.Inf(1)
	}
	return v
}
