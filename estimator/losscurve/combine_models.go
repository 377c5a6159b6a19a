package losscurve

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
)

// combined mixes the continuations of its members.
var combined = Model{
	Name: "combined",
	// Trend, a trend above a floor, inverse and exponential, from the last change of regime on, weighted by the
	// likelihood that each, fitted to the first three quarters of the window, gives to the rest, and by how well it
	// would have predicted the window's last loss.
	draw:  drawCombined,
	early: slowdown,
}

// slowdown is the factor on the upper bound after few points: most trainings slow down later. Of the trainings in
// testdata/trainings.csv that are not held out, the remaining steps exceed the upper bound of the continuations by no
// more than this factor in 92 of 100, whatever the number of points; it is a line over 1/√points on a logarithmic scale.
func slowdown(points int) float64 {
	return math.Exp(math.Max(0, 5.2/math.Sqrt(float64(points))-0.5))
}

// weightedModel is a part of the combination.
type weightedModel struct {
	// judge returns the logarithm of the member's likelihood for the latest points of a window, given
	// the points before, and a function that draws from the member.
	judge func(w window, latest int, rng *rand.Rand) (float64, func(n int) []float64)
	// prior is the weight of a model before any loss is seen, and later its weight after a change of regime.
	prior, later float64
}

// Laws with a floor often fit the seen losses well, and extrapolate badly.
var members = []weightedModel{
	{newTrend.judge, 0.75, 0.2},
	{newFloored.judge, 0.15, 0.2},
	{judgeSettling, 0, 0.5},
	{inverseLaw.judge, 0.05, 0.05},
	{exponentialLaw.judge, 0.05, 0.05},
}

// laterAgain is the weight of a schedule, of a rate of learning that is lowered again and again, after a first
// change of regime.
const laterAgain = 0.4

const (
	// heldOut is the part of a window, its latest, by which members are weighted, and leastHeldOut the
	// least number of points in it. With fewer points than leastJudged there is only the trend.
	heldOut, leastHeldOut, leastJudged = 0.25, 3, 2 * Least
	// A member counts less by this power of the error with which it predicts the last loss of the window
	// from its beginnings, on a logarithmic scale; recordKnown counts as one error more.
	recordPower, recordKnown = 3, 0.3
	recordDraws              = 40 // continuations for each of these predictions
)

// byRates is the part of the continuations that follow the rate of learning, where that is known and changes.
const byRates = 0.85

func drawCombined(w window, n int, rng *rand.Rand) []float64 {
	s, ok := w.rates()
	var out []float64
	if ok {
		out = s.draw(w, int(byRates*float64(n)), rng)
	}
	return w.byAge(append(out, drawByLosses(w, n-len(out), rng)...))
}

// byAge picks continuations again, each as often as likely it is to see such a training at its present age: any part of
// its life is as likely as another, so the logarithm of the remaining over the past time has a logistic distribution.
// Continuations that never end keep their share.
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

// drawByLosses knows no rates of learning.
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
	if len(out) < n { // shares are rounded
		out = append(out, newTrend.draw(w, n-len(out), rng)...)
	}
	return out
}

// anyway is the part of the continuations that know no loss.
const anyway = 0.07

// drawAnyway draws from the distribution for a training that is seen at a random time of its life:
// the remaining time exceeds r times the past time with probability 1/(1 + r) (J. R. Gott, 1993).
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

// judge moves the filters of a family through the window once, and predicts its last loss on the way.
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

// judgeSettling counts the steps from the beginning of the training.
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

// scoreMember weighs a member by a likelihood, and by its errors.
func scoreMember(likelihood float64, errors []float64) float64 {
	sum := square(recordKnown)
	for _, e := range errors {
		sum += square(e)
	}
	return likelihood - recordPower/2.0*math.Log(sum/float64(len(errors)+1))
}

// selfTF is the curve of SelfTF (arXiv 1810.02935), with an interval by how well
// it would have predicted the window itself.
var selfTF = Model{
	Name: "selftf",
	// step(l) = (h/l)·ln(d/l) + j0, with d the greatest loss and j0 the first step, without outliers
	draw: func(w window, n int, rng *rand.Rand) []float64 {
		return noisySteps(selfTFLeft(w), backtest(w, selfTFLeft, 1.2, priorWeight), w.horizon(), n, rng)
	},
	point: selfTFLeft,
}

// selfTFLeft returns the steps that are left by SelfTF's curve. Its factor h is
// fitted by least squares, h = (xx·yy)/(xx·xx) with xx = (1/l)·ln(d/l) and yy =
// step − j0; losses that are three median deviations or more away from the median
// are dropped. The curve counts from j0, the returned steps from the last point.
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

// annealing is the dependence of a loss on the learning rate. The training advances with the sum of the rates of its
// steps, and not with their number. A part of the loss is noise of the steps, which falls with the rate: the loss is
// proportional to a power of it. (H. Tissue and others, Scaling Law with Learning Rate Annealing, 2024, have the
// same two parts in a sum; G. Zhang and others, Which Algorithmic Choices Matter at Which Batch Sizes, 2019, derive
// the noise.)
type annealing struct {
	power float64 // of the rate
	delays
}

// delays are the numbers of steps at the greatest rate after which parts of the noise have followed it: first the
// parts of the steepest directions, each further part after a constant factor more steps.
type delays struct {
	first, longer float64
}

// parts is the number of parts of the noise, all of equal size.
const parts = 4

// The powers and delays that are tried; each is as likely as the others before a loss is seen.
const mostPower, powerSteps = 1.2, 12

var annealingDelays = []delays{{0.1, 4}, {0.4, 4}, {1.5, 4}, {0.7, 1}, {3, 1}}

// training is the progress of a training, by steps: the sum of the rates of learning, as parts of the greatest, and
// the rate as the noise follows it.
type training struct {
	step, sum float64
	rates     [parts]float64 // as each part of the noise follows it
}

// to advances to a step, at a rate that is a fraction of the greatest.
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

// above is how much higher the logarithm of the loss is than at the greatest rate.
func (a annealing) above(t training) float64 {
	sum := 0.0
	for _, r := range t.rates {
		sum += r / parts
	}
	return a.power * math.Log(sum)
}

// newAnnealed is the family that follows a loss as it would be at the greatest rate.
var newAnnealed = newRegime

// annealed is a family that was moved through a window, with the evidence for it.
type annealed struct {
	annealing
	filters  []kalmanFilter
	now      training
	evidence float64
}

// follow moves the filters through the window of a whole training.
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

// draw draws continuations of the window of a whole training.
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
	for len(out) < n { // shares are rounded
		out = append(out, math.Inf(1))
	}
	return out
}

// left draws the number of remaining steps by a filter, along one of the courses of the rate.
func (s rateSchedule) left(w window, a annealed, f *kalmanFilter, rng *rand.Rand) float64 {
	course, t := s.pick(rng), a.now
	return f.runAlong(w, func(step float64) (time, above float64) {
		if step > t.step {
			t = a.to(t, step, course.at(step)/s.top)
		}
		return logStep(t.sum), a.above(t)
	}, rng)
}
