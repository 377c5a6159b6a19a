package losscurve

import (
	"math"
	"math/rand/v2"
)

// trend follows the slope of the loss on logarithmic axes. Losses of real
// trainings are locally powers of the step whose exponent drifts, and laws with a
// floor extrapolate them badly.
var trend = Model{
	Name: "trend",
	// the logarithm of the loss as a local trend over the logarithm of the step, by a Kalman filter
	draw: newTrend.draw,
}

// The constants of the trend. They were chosen on one half of the curves of the
// built-in programs and of PyTorch; the shipped curves are of other runs.
const (
	// stepOffset is added to the step under the logarithm: a loss is the mean over the
	// steps before it, and a training does not begin at a loss without bound.
	stepOffset = 0.8
	// The slope b drifts by (level + pull·b + push·(y0 − y)) per unit of the
	// logarithm of the step, with y the logarithm of the loss and y0 the first.
	pushFrom                         = 2.0
	startDrop, startPace             = 1.0, 6.0
	driftLevel, driftPull, driftPush = -0.25, -0.25, -0.3
	// pullSpread is the spread of pull between runs.
	pullSpread = 0.05
	// Before the first loss, the slope has this mean and variance.
	firstSlope, firstVariance = -0.6, 0.7
	// The slope is a random walk with a spread σb, and losses have noise with a
	// spread σy: both have log-normal priors with these medians and spreads.
	walkMedian, walkSpread   = 0.3, 0.4
	noiseMedian, noiseSpread = 0.02, 0.75
	// maxSlope bounds the slopes of continuations: losses that only
	// rise are no training.
	maxSlope = -0.02
	// A loss is an outlier with this chance; then its noise is as large as this.
	outlierChance, outlierNoise = 0.02, 0.7
	// This many outliers in a row are no outliers: the loss has moved.
	outliersBeforeMove = 3
)

// kalmanFilter is a Kalman filter of the level and slope of the logarithm of the loss above
// a floor, with the likelihood so far.
type kalmanFilter struct {
	walk, noise, pull float64
	floor             float64
	// meanReverting is set if the slope does not drift like the trend's: it is a mean-reverting
	// random walk, which returns to rest at the rate settle.
	meanReverting bool
	rest, settle  float64
	level, slope  float64
	p00, p01, p11 float64 // covariance of level and slope
	first         float64 // y0
	logLikelihood float64 // of prior and likelihood
	outliers      int     // outliers in a row
}

// filterGrid makes filters for a grid of their parameters, after the first loss.
type filterGrid func(w window) []kalmanFilter

// newTrend is the family of the trend.
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

// logStep is the logarithm of the step, from which the trend is a straight line.
func logStep(step float64) float64 { return math.Log(math.Max(step, 0.5) + stepOffset - 1) }

// predict moves the filter on by a time on its clock.
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

// plateauFactor returns the factor on the drift of the slope while the loss has hardly
// fallen: many trainings begin on a plateau.
func (f *kalmanFilter) plateauFactor(level float64) float64 {
	if f.first-level < startDrop {
		return startPace
	}
	return 1
}

// update adds a loss. It is an outlier with a probability that depends on
// its distance from the prediction; outliers count by their larger
// noise.
func (f *kalmanFilter) update(loss float64) {
	above, scale := f.aboveFloor(loss)
	off, noise := math.Log(above)-f.level, square(f.noise*scale)
	usual, outlier := f.p00+noise, f.p00+noise+square(outlierNoise)
	a := math.Log(1-outlierChance) + logNormal(off, usual)
	b := math.Log(outlierChance) + logNormal(off, outlier)
	both := logSum([]float64{a, b})
	f.logLikelihood += both + math.Log(scale) // the density is for the logarithm of the loss
	if b > a {
		f.outliers++
	} else {
		f.outliers = 0
	}
	if f.outliers >= outliersBeforeMove { // this is where the loss is now
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

// aboveFloor returns how far a loss is above the floor, and how many times larger errors in
// proportion to the loss are in proportion to that.
func (f *kalmanFilter) aboveFloor(loss float64) (above, scale float64) {
	above = math.Max(loss-f.floor, leastAbove*loss)
	return above, loss / above
}

// leastAbove is the least that a loss is taken to be above a floor, as a part of it.
const leastAbove = 1e-3

// logNormal is the logarithm of the normal density of x with mean 0.
func logNormal(x, variance float64) float64 {
	return -(math.Log(2*math.Pi*variance) + x*x/variance) / 2
}

// updateAll moves filters through points.
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

// after returns the filters after the whole window.
func (new filterGrid) after(w window) []kalmanFilter {
	fs := new(w)
	updateAll(fs, w.points[1:], w.points[0])
	return fs
}

func (new filterGrid) draw(w window, n int, rng *rand.Rand) []float64 {
	return draw(new.after(w), w, n, rng)
}

// draw draws filters by their likelihood, states by their covariance, and
// follows each until its loss is at the target.
func draw(fs []kalmanFilter, w window, n int, rng *rand.Rand) []float64 {
	return drawEach(fs, n, rng, func(f *kalmanFilter) float64 { return f.run(w, rng) })
}

// drawEach draws filters by their likelihood, and a result from each.
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
	for i := range out { // one draw in each n-th of the likelihood
		for u := (float64(i) + rng.Float64()) / float64(n) * sum; at < len(sums)-1 && sums[at] < u; {
			at++
		}
		out[i] = run(&fs[at])
	}
	return out
}

// stride is the length of one step of a continuation, as a fraction of its position.
const stride = 0.03

// run draws one continuation, and returns the steps until it is at the target;
// +Inf when it is not within the horizon.
func (f *kalmanFilter) run(w window, rng *rand.Rand) float64 {
	return f.runAlong(w, func(step float64) (float64, float64) { return logStep(step), 0 }, rng)
}

// runAlong is run where along returns the time of a filter's clock at a step, and the difference of the logarithm
// of the loss there from the filter's level. It is called with increasing steps.
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

// reports draws the number of reports until the noise of one takes a loss to its target, which is this far above the
// loss without noise, on a logarithmic scale.
func reports(above, noise float64, rng *rand.Rand) float64 {
	chance := math.Erfc(-above/noise/math.Sqrt2) / 2
	return math.Max(1, math.Ceil(math.Log1p(-rng.Float64())/math.Log1p(-chance)))
}

// seenWithin is by which factor the median of the prior of the noise may differ from the noise that a window shows.
const seenWithin = 2.5

// noise is the median of the prior of the noise: noiseMedian, or nearer to what the distances of losses from the mean
// of their neighbors show.
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

// normalMedian is the median distance of a standard normal variable from 0.
const normalMedian = 0.6745
