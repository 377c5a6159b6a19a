package losscurve

import (
	"math"
	"math/rand/v2"
)

// inverseLaw is the law of first-order methods on convex losses (Y. Peng and others,
// Optimus, 2018; H. Zhang and others, SLAQ, 2017).
var inverseLaw = law{
	name: "inverse",
	// loss = 1/(β0·k + β1) + β2, the law of Optimus and SLAQ; 1/(loss − β2) is linear in the step k.
	straight: func(above float64) (value, slope float64) { return 1 / above, 1 / (above * above) },
	back:     func(v float64) float64 { return 1 / v },
	rises:    true,
	known:    1.2,
}

// exponentialLaw is the law of gradient descent on strongly convex losses.
var exponentialLaw = law{
	name: "exponential",
	// loss = a·exp(−b·k) + c
	straight: func(above float64) (value, slope float64) { return math.Log(above), 1 / above },
	back:     math.Exp,
	known:    2.2,
}

// law is a curve with a floor: a function of the loss above the floor is linear in the step.
type law struct {
	name string
	// straight returns this function of a loss above the floor, and the absolute value of its derivative. back is the
	// inverse function.
	straight func(above float64) (value, slope float64)
	back     func(value float64) float64
	// rises is set if the function increases while the loss falls.
	rises bool
	// known is the spread of the logarithm of predicted / true steps, for a window too short to show its own.
	known float64
}

var inverse, exponential = inverseLaw.model(), exponentialLaw.model()

func (l law) model() Model {
	return Model{Name: l.name, draw: l.draw}
}

// draw draws floors by their likelihood. It varies the steps by how well the law would have predicted the window
// itself.
func (l law) draw(w window, n int, rng *rand.Rand) []float64 {
	return l.scattered(w, n, priorWeight, rng)
}

// drawMember is draw for a member of the combination.
func (l law) drawMember(w window, n int, rng *rand.Rand) []float64 {
	return l.scattered(w, n, memberWeight, rng)
}

func (l law) scattered(w window, n int, weight float64, rng *rand.Rand) []float64 {
	fits := l.fit(w)
	spread := backtest(w, l.left, l.known, weight)
	out := make([]float64, n)
	for i := range out {
		out[i] = scatter(pick(fits, rng).left(w), spread, w.horizon(), rng)
	}
	return out
}

// left returns the predicted remaining steps, averaged over floors by their likelihood.
func (l law) left(w window) float64 { return expected(l.fit(w), w) }

// fitted is the law with one floor, fitted to a window.
type fitted struct {
	law
	floor            float64
	intercept, slope float64 // of the line of `straight` over the step
	spread           float64 // standard deviation of the logarithm of the loss from the line
	weight           float64 // of the floor: its fraction of the total likelihood
}

// floors is the number of floors that are tried, from 0 to just below the smallest loss.
const floors = 25

// fit fits the law with each floor by least squares of the relative errors of the loss.
func (l law) fit(w window) []fitted {
	least := math.Inf(1)
	for _, p := range w.points {
		least = math.Min(least, p.Loss)
	}
	var fits []fitted
	best := math.Inf(-1)
	for i := range floors {
		f := fitted{law: l, floor: least * 0.98 * float64(i) / (floors - 1)}
		if !f.line(w) {
			continue
		}
		sum := 0.0
		for _, p := range w.points {
			sum += square(math.Log(f.at(p.Step) / p.Loss))
		}
		f.spread = math.Sqrt((sum + square(0.005)) / float64(len(w.points)))
		f.weight = -float64(len(w.points)) * math.Log(f.spread)
		best = math.Max(best, f.weight)
		fits = append(fits, f)
	}
	total := 0.0
	for i := range fits {
		fits[i].weight = math.Exp(fits[i].weight - best)
		total += fits[i].weight
	}
	for i := range fits {
		fits[i].weight /= total
	}
	return fits
}

// line fits the straight line. It returns false if the loss does not fall along it.
func (f *fitted) line(w window) bool {
	var n, x, y, xx, xy float64
	for _, p := range w.points {
		v, slope := f.straight(p.Loss - f.floor)
		weight := 1 / square(slope*p.Loss) // errors are proportional to the loss
		n += weight
		x += weight * p.Step
		y += weight * v
		xx += weight * p.Step * p.Step
		xy += weight * p.Step * v
	}
	d := n*xx - x*x
	if !(d > 0) {
		return false
	}
	f.slope = (n*xy - x*y) / d
	f.intercept = (y - f.slope*x) / n
	if f.rises {
		return f.slope > 0 && f.intercept+f.slope*w.points[0].Step > 0
	}
	return f.slope < 0
}

// at returns the loss after the given number of steps.
func (f fitted) at(step float64) float64 { return f.floor + f.back(f.intercept+f.slope*step) }

// left returns the steps from the last point until the target, or the horizon if the floor is not below the target.
func (f fitted) left(w window) float64 {
	if f.floor >= w.target {
		return math.Inf(1)
	}
	v, _ := f.straight(w.target - f.floor)
	return math.Max((v-f.intercept)/f.slope-w.last().Step, 0)
}

// pick draws a fit by its weight. If no fit falls, it returns a law that never reaches the target.
func pick(fits []fitted, rng *rand.Rand) fitted {
	at := rng.Float64()
	for _, f := range fits {
		if at -= f.weight; at < 0 {
			return f
		}
	}
	if len(fits) == 0 {
		return fitted{floor: math.Inf(1)}
	}
	return fits[len(fits)-1]
}

// expected returns the mean of the remaining steps over floors, on a logarithmic scale.
func expected(fits []fitted, w window) float64 {
	sum := 0.0
	for _, f := range fits {
		sum += f.weight * math.Log(math.Max(math.Min(f.left(w), w.horizon()), 0.5))
	}
	if len(fits) == 0 {
		return w.horizon()
	}
	return math.Exp(sum)
}

// likelihood fits the law to the first n points, and returns the logarithm of the density of the logarithms of the
// other losses. Residuals have Student's t distribution with 4 degrees of freedom.
func (l law) likelihood(w window, n int) float64 {
	fits := l.fit(w.until(n, w.target))
	terms := make([]float64, len(fits))
	for i, f := range fits {
		terms[i] = math.Log(f.weight)
		for _, p := range w.points[n:] {
			terms[i] += logT4(math.Log(p.Loss/f.at(p.Step)), f.spread)
		}
	}
	return logSum(terms)
}

// logT4 returns the logarithm of the density of Student's t distribution with 4 degrees of freedom and a scale.
func logT4(x, scale float64) float64 {
	return math.Log(0.375/scale) - 2.5*math.Log1p(square(x/scale)/4)
}

// logSum returns the logarithm of the sum of the exponentials of terms.
func logSum(terms []float64) float64 {
	most := math.Inf(-1)
	for _, t := range terms {
		most = math.Max(most, t)
	}
	if math.IsInf(most, -1) {
		return most
	}
	sum := 0.0
	for _, t := range terms {
		sum += math.Exp(t - most)
	}
	return most + math.Log(sum)
}

func square(x float64) float64 { return x * x }

// floorsBelow are floors to try below the target, as fractions of the target. floorsAbove are floors above it, as
// fractions of the way from the target to the smallest loss; with them the target is never reached.
var (
	floorsBelow = []float64{0, 0.2, 0.4, 0.6, 0.75, 0.85, 0.92, 0.97}
	floorsAbove = []float64{0.3, 0.7}
)

// aboveOdds is the logarithm of the prior odds of a floor above the target. It is negative, because people choose
// targets that can be reached.
const aboveOdds = -1

// The slope of the loss above its floor is a random walk. These are the median and spread of its prior standard
// deviation. Its mean and variance before the first loss equal those in the trend.
const plainWalk, plainWalkSpread = 0.15, 0.7

// newFloored makes filters of the loss above an unknown floor: losses of language models, of tasks with wrong labels
// and of small networks do not approach 0.
var newFloored filterGrid = func(w window) []kalmanFilter {
	least := math.Inf(1)
	for _, p := range w.points {
		least = math.Min(least, p.Loss)
	}
	var floors []float64
	for _, part := range floorsBelow {
		floors = append(floors, part*w.target)
	}
	for _, part := range floorsAbove {
		floors = append(floors, w.target+part*(least-w.target))
	}
	return plainFilters(w, floors...)
}

// plainFilters makes filters whose slopes do not drift, for a grid of parameters and floors.
func plainFilters(w window, floors ...float64) []kalmanFilter {
	var fs []kalmanFilter
	noise := w.noise()
	for _, floor := range floors {
		for i := -1; i <= 1; i++ {
			for j := -2; j <= 2; j++ {
				zi, zj := 1.6*float64(i), float64(j)
				f := kalmanFilter{
					walk: plainWalk * math.Exp(plainWalkSpread*zi), noise: noise * math.Exp(noiseSpread*zj),
					floor: floor, meanReverting: true, slope: firstSlope, p11: firstVariance, logLikelihood: -(zi*zi + zj*zj) / 2,
				}
				if w.target > 0 && floor > w.target {
					f.logLikelihood += aboveOdds
				}
				above, scale := f.aboveFloor(w.points[0].Loss)
				f.level, f.p00 = math.Log(above), square(f.noise*scale)
				fs = append(fs, f)
			}
		}
	}
	return fs
}

// Latest is the number of latest steps from which StepTime computes the mean.
const Latest = 72

// StepTime returns the time of a step in seconds, the mean of the latest steps; 0 without any.
func StepTime(seconds []float64) float64 {
	seconds = seconds[max(len(seconds)-Latest, 0):]
	sum := 0.0
	for _, s := range seconds {
		sum += s
	}
	if len(seconds) == 0 {
		return 0
	}
	return sum / float64(len(seconds))
}
