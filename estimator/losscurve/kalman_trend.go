package losscurve

import (
	"math"
	"math/rand/v2"
)

// trend is a model that follows the slope of the loss on logarithmic axes. In real trainings the loss is locally a
// power of the step with a slowly changing exponent; laws with a floor extrapolate it badly.
var trend = Model{
	Name: "trend",
	// A Kalman filter follows the logarithm of the loss as a local trend over the logarithm of the step.
	draw: newTrend.draw,
}

// Constants of the trend. They were chosen on half of the curves of the built-in programs and of PyTorch; the shipped
// curves are of other runs.
const (
	// stepOffset is the first step on the logarithmic axis: a loss is the mean over the steps before it, and the first
	// loss is finite.
	stepOffset = 0.8
	// The slope b drifts by pace·(level + pull·b) + push·max(y0 − y − pushFrom, 0) per unit of the logarithm of the
	// step. y is the logarithm of the loss, and y0 of the first loss. The pace is startPace until the loss has fallen
	// by startDrop, and then 1.
	pushFrom                         = 2.0
	startDrop, startPace             = 1.0, 6.0
	driftLevel, driftPull, driftPush = -0.25, -0.25, -0.3
	// pullSpread is the standard deviation of pull between runs.
	pullSpread = 0.05
	// Mean and variance of the slope before the first loss.
	firstSlope, firstVariance = -0.6, 0.7
	// The slope is a random walk with standard deviation σb, and losses have noise with standard deviation σy. Both
	// have lognormal priors with these medians and spreads.
	walkMedian, walkSpread   = 0.3, 0.4
	noiseMedian, noiseSpread = 0.02, 0.75
	// maxSlope is the largest slope of continuations: the loss of a training keeps falling.
	maxSlope = -0.02
	// A loss is an outlier with probability outlierChance; its noise then has the standard deviation outlierNoise.
	outlierChance, outlierNoise = 0.02, 0.7
	// After outliersBeforeMove outliers in a row the loss has changed its level: they are not outliers.
	outliersBeforeMove = 3
)

// kalmanFilter is a Kalman filter of the level and slope of the logarithm of the loss above a floor, with its
// likelihood.
type kalmanFilter struct {
	walk, noise, pull float64
	floor             float64
	// meanReverting is set if the slope is a mean-reverting random walk, which returns to `rest` at the rate
	// `settle`, instead of drifting as in the trend.
	meanReverting bool
	rest, settle  float64
	level, slope  float64
	p00, p01, p11 float64 // covariance of level and slope
	first         float64 // y0, the logarithm of the first loss
	logLikelihood float64 // of the prior and the points so far
	outliers      int     // number of outliers in a row
}

// filterGrid makes filters for a grid of parameter values; the window has the first loss.
type filterGrid func(w window) []kalmanFilter

// newTrend makes the filters of the trend.
var newTrend filterGrid = func(w window) []kalmanFilter {
	noise := w.noise()
	y := math.Log(w.points[0].Loss)
	var fs []kalmanFilter
	for i := -4; i <= 4; i++ {
		for j := -4; j <= 4; j++ {
			for k := -1; k <= 1; k++ {
				zi, zj, zk := float64(i)*0.6, float64(j)*0.6, float64(k)
				f := kalmanFilter{
					walk: walkMedian * math.Exp(walkSpread*zi), noise: noise * math.Exp(noiseSpread*zj),
					pull: driftPull + pullSpread*zk, level: y, slope: firstSlope, p11: firstVariance, first: y,
					logLikelihood: -(zi*zi + zj*zj + zk*zk) / 2,
				}
				f.p00 = square(f.noise)
				fs = append(fs, f)
			}
		}
	}
	return fs
}

// logStep returns the logarithm of the step, on which the trend is a straight line.
func logStep(step float64) float64 { return math.Log(math.Max(step, 0.5) + stepOffset - 1) }

// predict advances the filter by a time, in units of its clock.
func (f *kalmanFilter) predict(time float64) {
	n := max(1, int(math.Ceil(time*math.Max(10, 2*f.settle))))
	d := time / float64(n)
	q := square(f.walk)
	for range n {
		change := f.slopeDrift(f.level, f.slope) * d
		f.level += (f.slope + change/2) * d
		f.slope += change
		push, pull := 0.0, -f.settle
		if !f.meanReverting {
			if f.first-f.level > pushFrom {
				push = driftPush
			}
			pull = f.plateauFactor(f.level) * f.pull
		}
		f00, f01 := 1-push*d*d/2, d*(1+pull*d/2)
		f10, f11 := -push*d, 1+pull*d
		a00, a01 := f00*f.p00+f01*f.p01, f00*f.p01+f01*f.p11
		a10, a11 := f10*f.p00+f11*f.p01, f10*f.p01+f11*f.p11
		f.p00 = a00*f00 + a01*f01 + q*d*d*d/3
		f.p01 = a00*f10 + a01*f11 + q*d*d/2
		f.p11 = a10*f10 + a11*f11 + q*d
	}
}

func (f *kalmanFilter) slopeDrift(level, slope float64) float64 {
	if f.meanReverting {
		return f.settle * (f.rest - slope)
	}
	return f.plateauFactor(level)*(driftLevel+f.pull*slope) + driftPush*math.Max(f.first-level-pushFrom, 0)
}

// plateauFactor returns a factor on the drift of the slope while the loss has fallen little, because many trainings
// begin on a plateau.
func (f *kalmanFilter) plateauFactor(level float64) float64 {
	if f.first-level < startDrop {
		return startPace
	}
	return 1
}

// update updates the filter with a loss. The loss is an outlier with a probability that depends on its distance from
// the prediction. An outlier has less influence, by its larger noise.
func (f *kalmanFilter) update(loss float64) {
	above, scale := f.aboveFloor(loss)
	off, noise := math.Log(above)-f.level, square(f.noise*scale)
	usual, outlier := f.p00+noise, f.p00+noise+square(outlierNoise)
	a := math.Log(1-outlierChance) + logNormal(off, usual)
	b := math.Log(outlierChance) + logNormal(off, outlier)
	both := logSum([]float64{a, b})
	f.logLikelihood += both + math.Log(scale) // the density is of the logarithm of the loss
	if b > a {
		f.outliers++
	} else {
		f.outliers = 0
	}
	if f.outliers >= outliersBeforeMove { // the level has changed to this loss
		f.p00 += off * off
		usual, outlier = usual+off*off, outlier+off*off
		a, b, both, f.outliers = 0, math.Inf(-1), 0, 0
	}
	variance := 1 / (math.Exp(a-both)/usual + math.Exp(b-both)/outlier)
	k0, k1 := f.p00/variance, f.p01/variance
	f.level += k0 * off
	f.slope += k1 * off
	f.p11 -= k1 * f.p01
	f.p01 *= 1 - k0
	f.p00 *= 1 - k0
}

// aboveFloor returns how far a loss is above the floor. scale converts an error relative to the loss into an error
// relative to that distance.
func (f *kalmanFilter) aboveFloor(loss float64) (above, scale float64) {
	above = math.Max(loss-f.floor, leastAbove*loss)
	return above, loss / above
}

// leastAbove is the smallest distance of a loss from the floor, as a fraction of the loss, that is used.
const leastAbove = 1e-3

// logNormal returns the logarithm of the normal density with mean 0.
func logNormal(x, variance float64) float64 {
	return -(math.Log(2*math.Pi*variance) + x*x/variance) / 2
}

// updateAll updates filters with points; from is the point before the first.
func updateAll(fs []kalmanFilter, points []Point, from Point) {
	at := logStep(from.Step)
	for _, p := range points {
		next := logStep(p.Step)
		for i := range fs {
			fs[i].predict(next - at)
			fs[i].update(p.Loss)
		}
		at = next
	}
}

// logEvidence returns the logarithm of the sum of the filters' likelihoods.
func logEvidence(fs []kalmanFilter) float64 {
	logs := make([]float64, len(fs))
	for i, f := range fs {
		logs[i] = f.logLikelihood
	}
	return logSum(logs)
}

// after returns new filters after all points of the window.
func (new filterGrid) after(w window) []kalmanFilter {
	fs := new(w)
	updateAll(fs, w.points[1:], w.points[0])
	return fs
}

func (new filterGrid) draw(w window, n int, rng *rand.Rand) []float64 {
	return draw(new.after(w), w, n, rng)
}

// draw draws continuations: a filter by its likelihood, a state by its covariance, and the steps until the loss
// reaches the target.
func draw(fs []kalmanFilter, w window, n int, rng *rand.Rand) []float64 {
	return drawEach(fs, n, rng, func(f *kalmanFilter) float64 { return f.run(w, rng) })
}

// drawEach draws n filters by their likelihood, and calls run for each.
func drawEach(fs []kalmanFilter, n int, rng *rand.Rand, run func(f *kalmanFilter) float64) []float64 {
	total := logEvidence(fs)
	sums := make([]float64, len(fs))
	sum := 0.0
	for i, f := range fs {
		sum += math.Exp(f.logLikelihood - total)
		sums[i] = sum
	}
	out := make([]float64, n)
	at := 0
	for i := range out { // stratified: one draw from each n-th of the total likelihood
		for u := (float64(i) + rng.Float64()) / float64(n) * sum; at < len(sums)-1 && sums[at] < u; {
			at++
		}
		out[i] = run(&fs[at])
	}
	return out
}

// stride is the length of one step of a continuation, as a fraction of the current step.
const stride = 0.03

// run draws one continuation. It returns the steps until the target, or +Inf if the target is not reached within the
// horizon.
func (f *kalmanFilter) run(w window, rng *rand.Rand) float64 {
	return f.runAlong(w, func(step float64) (float64, float64) { return logStep(step), 0 }, rng)
}

// runAlong is like run for a given course of the training. along returns the time of the filter's clock at a step,
// and by how much the logarithm of the loss is above the filter's level. It is called with increasing steps.
func (f *kalmanFilter) runAlong(w window, along func(step float64) (time, above float64), rng *rand.Rand) float64 {
	if f.floor >= w.target {
		return math.Inf(1)
	}
	above, scale := f.aboveFloor(w.target)
	target, noise := math.Log(above), f.noise*scale
	c := math.Sqrt(math.Max(f.p00, 1e-14))
	z := rng.NormFloat64()
	level := f.level + c*z
	slope := f.slope + f.p01/c*z + math.Sqrt(math.Max(f.p11-square(f.p01/c), 0))*rng.NormFloat64()
	start := w.last().Step
	now, _ := along(start)
	for step := start; step < start+w.horizon(); {
		from, before := step, level
		step += math.Max(1, math.Floor(stride*step))
		next, higher := along(step)
		d := next - now
		after := slope + f.slopeDrift(level, slope)*d + f.walk*math.Sqrt(d)*rng.NormFloat64()
		after = math.Min(after, maxSlope)
		level += (slope + after) / 2 * d
		slope, now = after, next
		count := step - from
		middle := before + (level-before)*(count+1)/(2*count)
		if n := reports(target-middle-higher, noise, rng); n <= count {
			return from + n - start
		}
	}
	return math.Inf(1)
}

// reports draws the number of reports until the noise of one brings the loss to its target. above is the distance of
// the loss without noise from the target, on a logarithmic scale.
func reports(above, noise float64, rng *rand.Rand) float64 {
	chance := math.Erfc(-above/noise/math.Sqrt2) / 2
	return math.Max(1, math.Ceil(math.Log1p(-rng.Float64())/math.Log1p(-chance)))
}

// seenWithin is the largest factor between the noise that a window shows and the median of the noise's prior.
const seenWithin = 2.5

// noise returns the median of the prior of the noise. It is noiseMedian, or closer to the distances of losses from
// the mean of the two neighboring losses.
func (w window) noise() float64 {
	if len(w.points) < 2*Least {
		return noiseMedian
	}
	var off []float64
	for i := 1; i+1 < len(w.points); i++ {
		off = append(off, math.Abs(math.Log(w.points[i].Loss)-math.Log(w.points[i-1].Loss*w.points[i+1].Loss)/2))
	}
	seen := median(off) / normalMedian / math.Sqrt(1.5)
	return math.Min(math.Max(noiseMedian, seen/seenWithin), math.Max(seen*seenWithin, leastAbove))
}

// normalMedian is the median of the absolute value of a standard normal variable.
const normalMedian = 0.6745
