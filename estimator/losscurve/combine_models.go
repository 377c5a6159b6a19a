package losscurve

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
)

// combined mixes the continuations that several models draw.
var combined = Model{
	Name: "combined",
	// Of trend, a trend above a floor, inverse and exponential, from the last change of regime on. A model's weight
	// is the likelihood of the last quarter of the window, if the model is fitted to the rest, and depends on how
	// well it would have predicted the window's last loss.
	draw:  drawCombined,
	early: slowdown,
}

// slowdown returns a factor on the upper bound of the interval when there are few points, since most trainings slow
// down later. It was fitted to those trainings in testdata/trainings.csv that are not held out: for 92 of 100 the
// remaining steps do not exceed the corrected bound. Its logarithm is linear in 1/√points.
func slowdown(points int) float64 {
	return math.Exp(math.Max(0, 5.2/math.Sqrt(float64(points))-0.5))
}

// weightedModel is a member of the combination.
type weightedModel struct {
	// judge returns the logarithm of the member's likelihood for the `latest` last points of a window, given the
	// points before. It also returns a function that draws continuations.
	judge func(w window, latest int, rng *rand.Rand) (float64, func(n int) []float64)
	// prior is the weight of the member before any loss is known; later is its weight after a change of regime.
	prior, later float64
}

// Laws with a floor have small priors, because they often fit the known losses well and extrapolate badly.
var members = []weightedModel{
	{newTrend.judge, 0.75, 0.2},
	{newFloored.judge, 0.15, 0.2},
	{judgeSettling, 0, 0.5},
	{inverseLaw.judge, 0.05, 0.05},
	{exponentialLaw.judge, 0.05, 0.05},
}

// laterAgain is the weight of the model in which the learning rate is lowered repeatedly, after the first change of
// regime.
const laterAgain = 0.4

const (
	// heldOut is the last part of a window, by which members are weighted; it has at least leastHeldOut points. With
	// fewer than leastJudged points only the trend is used.
	heldOut, leastHeldOut, leastJudged = 0.25, 3, 2 * Least
	// The weight of a member is divided by a power of its error: the error, on a logarithmic scale, of predictions of
	// the window's last loss. recordKnown is added as one more error.
	recordPower, recordKnown = 3, 0.3
	recordDraws              = 40 // continuations for each of these predictions
)

// byRates is the fraction of the continuations that follow the learning rate, if it is known and changes.
const byRates = 0.85

func drawCombined(w window, n int, rng *rand.Rand) []float64 {
	s, ok := w.rates()
	var out []float64
	if ok {
		out = s.draw(w, int(byRates*float64(n)), rng)
	}
	return w.byAge(append(out, drawByLosses(w, n-len(out), rng)...))
}

// byAge resamples continuations by how likely a training of that length is seen at its present age. Any moment of its
// life is equally likely, so the logarithm of remaining / past time has a logistic distribution. Continuations that
// never reach the target keep their fraction.
func (w window) byAge(left []float64) []float64 {
	slices.Sort(left)
	n := sort.SearchFloat64s(left, math.Nextafter(w.horizon(), math.Inf(1)))
	total, sums := 0.0, make([]float64, n)
	for i, v := range left[:n] {
		age := math.Max(v, 0.5) / (w.before + w.last().Step)
		total += age / square(1+age)
		sums[i] = total
	}
	out := make([]float64, n, len(left))
	for i := range out {
		at := sort.SearchFloat64s(sums, (float64(i)+0.5)/float64(n)*total)
		out[i] = left[min(at, n-1)]
	}
	return append(out, left[n:]...)
}

// drawByLosses draws continuations from losses alone, without learning rates.
func drawByLosses(w window, n int, rng *rand.Rand) []float64 {
	members := members
	all := w
	w = w.regime()
	if s, ok := all.schedule(w); ok {
		members = append(slices.Clip(members), weightedModel{s.judge, 0, laterAgain})
	}
	if w.before == 0 && len(w.points) < leastJudged {
		return newTrend.draw(w, n, rng)
	}
	latest := int(heldOut * float64(len(w.points)))
	if latest < leastHeldOut {
		latest = 0
	}
	shares := make([]float64, len(members))
	draws := make([]func(n int) []float64, len(members))
	for i, m := range members {
		prior := m.prior
		if w.before > 0 {
			prior = m.later
		}
		shares[i] = math.Inf(-1)
		if prior > 0 {
			shares[i], draws[i] = m.judge(w, latest, rng)
			shares[i] += math.Log(prior)
		}
	}
	total := logSum(shares)
	if math.IsNaN(total) || math.IsInf(total, 0) {
		return newTrend.draw(w, n, rng)
	}
	out := drawAnyway(w, int(anyway*float64(n)), rng)
	carry := float64(len(out))
	for i, draw := range draws {
		carry += (1 - anyway) * float64(n) * math.Exp(shares[i]-total)
		if count := min(int(math.Round(carry))-len(out), n-len(out)); count > 0 {
			out = append(out, draw(count)...)
		}
	}
	if len(out) < n { // rounding may leave some out
		out = append(out, newTrend.draw(w, n-len(out), rng)...)
	}
	return out
}

// anyway is the fraction of the continuations that do not depend on the losses.
const anyway = 0.07

// drawAnyway draws from the distribution of the remaining time of a training that is seen at a random moment of its
// life. It exceeds r times the past time with probability 1/(1 + r) (J. R. Gott, 1993).
func drawAnyway(w window, n int, rng *rand.Rand) []float64 {
	out := make([]float64, n)
	for i := range out {
		u := (float64(i) + rng.Float64()) / float64(n)
		if out[i] = (w.before + w.last().Step) * u / (1 - u); out[i] > w.horizon() {
			out[i] = math.Inf(1)
		}
	}
	return out
}

// judge updates the filters of a family with the points of the window, and predicts the window's last loss from its
// beginnings.
func (new filterGrid) judge(w window, latest int, rng *rand.Rand) (float64, func(n int) []float64) {
	return new.judged(w, latest, rng, func(fs []kalmanFilter, n int) []float64 { return draw(fs, w, n, rng) })
}

func (new filterGrid) judged(w window, latest int, rng *rand.Rand, then func(fs []kalmanFilter, n int) []float64,
) (float64, func(n int) []float64) {
	fs := new(w)
	before := logEvidence(fs)
	pasts := w.pasts()
	var errors []float64
	for i := range w.points {
		if i > 0 {
			updateAll(fs, w.points[i:i+1], w.points[i-1])
		}
		if i+1 == len(w.points)-latest {
			before = logEvidence(fs)
		}
		for ; len(pasts) > 0 && pasts[0].points == i+1; pasts = pasts[1:] {
			left := draw(fs, pasts[0].window, recordDraws, rng)
			errors = append(errors, pasts[0].error(median(left)))
		}
	}
	return scoreMember(logEvidence(fs)-before, errors), func(n int) []float64 { return then(fs, n) }
}

// judgeSettling is a judge that counts steps from the beginning of the training.
func judgeSettling(w window, latest int, rng *rand.Rand) (float64, func(n int) []float64) {
	return newSettling.judge(w.whole(), latest, rng)
}

func (l law) judge(w window, latest int, rng *rand.Rand) (float64, func(n int) []float64) {
	likelihood := 0.0
	if latest > 0 {
		likelihood = l.likelihood(w, len(w.points)-latest)
	}
	var errors []float64
	for _, p := range w.pasts() {
		errors = append(errors, p.error(l.left(p.window)))
	}
	return scoreMember(likelihood, errors), func(n int) []float64 { return l.drawMember(w, n, rng) }
}

// scoreMember returns the logarithm of a member's weight, from its likelihood and its prediction errors.
func scoreMember(likelihood float64, errors []float64) float64 {
	sum := square(recordKnown)
	for _, e := range errors {
		sum += square(e)
	}
	return likelihood - recordPower/2.0*math.Log(sum/float64(len(errors)+1))
}

// selfTF is the curve of SelfTF (arXiv 1810.02935). Its interval comes from how well it would have predicted the
// window itself.
var selfTF = Model{
	Name: "selftf",
	// step(l) = (h/l)·ln(d/l) + j0, where d is the largest loss and j0 the first step, fitted without outliers
	draw: func(w window, n int, rng *rand.Rand) []float64 {
		return noisySteps(selfTFLeft(w), backtest(w, selfTFLeft, 1.2, priorWeight), w.horizon(), n, rng)
	},
	point: selfTFLeft,
}

// selfTFLeft returns the remaining steps by SelfTF's curve. The factor h is fitted by least squares: h =
// (xx·yy)/(xx·xx) with xx = (1/l)·ln(d/l) and yy = step − j0. Losses at least three median deviations away from the
// median are left out. The curve counts steps from j0, the result from the last point.
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

// annealing is a law of how a loss depends on the learning rate. The training advances with the sum of the rates of
// its steps, not with their number. A part of the loss is noise of the steps, which falls with the rate: it makes the
// loss proportional to a power of the rate.
//
// H. Tissue and others, Scaling Law with Learning Rate Annealing, 2024, have the same two parts as a sum. G. Zhang
// and others, Which Algorithmic Choices Matter at Which Batch Sizes, 2019, derive the noise.
type annealing struct {
	power float64 // exponent of the rate
	delays
}

// delays are how many steps at the largest rate each part of the noise needs to follow the rate. The first part has
// the steepest directions; each further part takes a constant factor more steps.
type delays struct {
	first, longer float64
}

// parts is the number of equal parts of the noise.
const parts = 4

// Range of the powers and delays that are tried, with equal priors.
const mostPower, powerSteps = 1.2, 12

var annealingDelays = []delays{{0.1, 4}, {0.4, 4}, {1.5, 4}, {0.7, 1}, {3, 1}}

// training is the progress of a training at a step: the sum of the learning rates, relative to the largest, and the
// current rate as each part of the noise follows it.
type training struct {
	step, sum float64
	rates     [parts]float64 // as each part of the noise follows it
}

// to advances the training to a step, at a rate relative to the largest.
func (a annealing) to(t training, step, rate float64) training {
	sum := rate * (step - t.step)
	delay := a.first
	for i := range t.rates {
		t.rates[i] += (rate - t.rates[i]) * (1 - math.Exp(-sum/delay))
		delay *= a.longer
	}
	t.step, t.sum = step, t.sum+sum
	return t
}

// above returns by how much the logarithm of the loss exceeds its value at the largest rate.
func (a annealing) above(t training) float64 {
	sum := 0.0
	for _, r := range t.rates {
		sum += r / parts
	}
	return a.power * math.Log(sum)
}

// newAnnealed makes filters of the loss as it would be at the largest rate.
var newAnnealed = newRegime

// annealed has filters after all points of a window, with their evidence.
type annealed struct {
	annealing
	filters  []kalmanFilter
	now      training
	evidence float64
}

// follow updates filters with all points of a training, with the loss converted to the largest rate.
func (s rateSchedule) follow(w window, a annealing) annealed {
	t := training{}
	for i := range t.rates {
		t.rates[i] = w.points[0].Rate / s.top
	}
	v := w
	v.points = make([]Point, len(w.points))
	for i, p := range w.points {
		t = a.to(t, p.Step, p.Rate/s.top)
		v.points[i] = Point{Step: t.sum, Loss: p.Loss * math.Exp(-a.above(t))}
	}
	fs := newAnnealed.after(v)
	return annealed{a, fs, t, logEvidence(fs)}
}

// draw draws continuations of a training.
func (s rateSchedule) draw(w window, n int, rng *rand.Rand) []float64 {
	var all []annealed
	var shares []float64
	for _, delay := range annealingDelays {
		for i := range powerSteps + 1 {
			a := s.follow(w, annealing{mostPower * float64(i) / powerSteps, delay})
			all, shares = append(all, a), append(shares, a.evidence)
		}
	}
	total := logSum(shares)
	out := make([]float64, 0, n)
	carry := 0.0
	for i, a := range all {
		carry += float64(n) * math.Exp(shares[i]-total)
		if count := min(int(math.Round(carry))-len(out), n-len(out)); count > 0 {
			out = append(out, drawEach(a.filters, count, rng, func(f *kalmanFilter) float64 { return s.left(w, a, f, rng) })...)
		}
	}
	for len(out) < n { // rounding may leave some out
		out = append(out, math.Inf(1))
	}
	return out
}

// left draws the number of remaining steps from a filter, along one of the continuations of the rate.
func (s rateSchedule) left(w window, a annealed, f *kalmanFilter, rng *rand.Rand) float64 {
	course, t := s.pick(rng), a.now
	return f.runAlong(w, func(step float64) (time, above float64) {
		if step > t.step {
			t = a.to(t, step, course.at(step)/s.top)
		}
		return logStep(t.sum), a.above(t)
	}, rng)
}
