package losscurve

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// A training changes its regime when its learning rate is lowered, or when it leaves a plateau. The loss then falls
// in a different way, so earlier losses say little about later ones.
const (
	// changeOdds is the logarithm of the prior odds of a change at a point. changeSpread is the standard deviation
	// that a change adds to the logarithm of the loss.
	changeOdds, changeSpread = -4, 1
	// leastRegime is the smallest number of points of a regime, and leastBefore the smallest number of points before
	// it, since many trainings begin on a plateau.
	leastRegime, leastBefore = Least, 2 * Least
	// Only the mostChanges points with the least expected losses are tried as changes.
	mostChanges = 6
)

// regime returns the window from its last change of regime on. It returns the whole window if no change explains the
// losses better.
func (w window) regime() window {
	fs := newRegime(w)
	known := make([]float64, len(w.points)) // by index of a point: log-likelihood of the points up to it
	for i := 1; i < len(w.points); i++ {
		updateAll(fs, w.points[i:i+1], w.points[i-1])
		known[i] = logEvidence(fs)
	}
	var at []int
	for i := leastBefore; i+leastRegime <= len(w.points); i++ {
		at = append(at, i)
	}
	slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(known[a]-known[a-1], known[b]-known[b-1]) })
	best, from := known[len(known)-1], 0
	for _, i := range at[:min(len(at), mostChanges)] {
		jump := math.Log(w.points[i].Loss / w.points[i-1].Loss)
		changed := known[i-1] + changeOdds + logNormal(jump, square(changeSpread)) + logEvidence(newRegime.after(w.since(i)))
		if changed > best {
			best, from = changed, i
		}
	}
	return w.since(from)
}

// newRegime makes the filters with which changes are found: a few trend filters and the plain filters. Both kinds
// have the same total weight.
var newRegime filterGrid = func(w window) []kalmanFilter {
	var fs []kalmanFilter
	for i, f := range newTrend(w) {
		if i%regimeEach == regimeEach/2 {
			fs = append(fs, f)
		}
	}
	return append(equalWeights(fs), equalWeights(plainFilters(w, 0))...)
}

// Of the trend's filters, one in regimeEach is used to find changes.
const regimeEach = 9

// equalWeights gives the filters a total likelihood of one half.
func equalWeights(fs []kalmanFilter) []kalmanFilter {
	all := logEvidence(fs) + math.Ln2
	for i := range fs {
		fs[i].logLikelihood -= all
	}
	return fs
}

// since returns the window from point i on. Steps are counted from the point before it.
func (w window) since(i int) window {
	if i == 0 {
		return w
	}
	return w.shifted(i, -w.points[i-1].Step)
}

// whole returns the window with steps counted from the beginning of the training.
func (w window) whole() window { return w.shifted(0, w.before) }

func (w window) shifted(i int, by float64) window {
	points := slices.Clone(w.points[i:])
	for k := range points {
		points[k].Step += by
	}
	w.points, w.before = points, w.before-by
	return w
}

// newSettling makes filters of the losses after a change. The loss falls fast at first, and soon like a power of all
// steps so far, with an unknown exponent.
var newSettling filterGrid = func(w window) []kalmanFilter {
	noise := w.noise()
	var fs []kalmanFilter
	for _, rest := range []float64{-0.1, -0.3, -0.5, -0.8, -1.2} {
		for _, settle := range []float64{4, 12, 30} {
			for j := -2; j <= 2; j++ {
				zj := float64(j)
				f := kalmanFilter{
					walk: settlingWalk, noise: noise * math.Exp(noiseSpread*zj), meanReverting: true,
					level: math.Log(w.points[0].Loss), slope: settlingSlope, p11: settlingVariance,
					rest: rest, settle: settle, logLikelihood: -zj * zj / 2,
				}
				f.p00 = square(f.noise)
				fs = append(fs, f)
			}
		}
	}
	return fs
}

// Mean and variance of the slope at a change, and the standard deviation of its random walk.
const settlingSlope, settlingVariance, settlingWalk = -2, 4, 0.2

// schedule is a learning rate that is lowered repeatedly, each time after the same number of steps.
type schedule struct {
	each float64 // steps between two changes
	drop float64 // decrease of the logarithm of the loss at the last change
}

// schedule returns the schedule of a window with a change of regime; `now` is the window after it. It returns false
// without a change, or if the next change should already have happened.
func (w window) schedule(now window) (schedule, bool) {
	n := len(w.points) - len(now.points)
	if n == 0 {
		return schedule{}, false
	}
	earlier := w.until(n, w.target)
	s := schedule{each: now.before - earlier.regime().before}
	settled := math.Inf(1)
	for _, p := range now.points[:min(len(now.points), dropWithin)] {
		settled = math.Min(settled, p.Loss)
	}
	s.drop = math.Log(earlier.last().Loss / settled)
	return s, s.drop > 0 && now.last().Step < s.each
}

// dropWithin is the number of points during which the loss drops after a change.
const dropWithin = 5

// At each further change the loss drops by at least leastDrop of the last drop. After mostDrops changes the rate is
// too low for more.
const leastDrop, mostDrops = 0.3, 3

// left draws the number of remaining steps if the loss follows a filter, and drops at each further change.
func (s schedule) left(f *kalmanFilter, w window, changed float64, rng *rand.Rand) float64 {
	drop := s.drop * (leastDrop + (1-leastDrop)*rng.Float64())
	left := f.run(w, rng)
	for k := 1.0; k <= mostDrops; k++ {
		at := changed + k*s.each - w.last().Step
		if left <= at {
			break
		}
		v := w
		v.target *= math.Exp(k * drop)
		settled := at + 1 + (dropWithin-1)*rng.Float64()
		if v.target < w.last().Loss {
			settled = math.Max(settled, f.run(v, rng))
		}
		left = math.Min(left, settled)
	}
	return left
}

// judge is judgeSettling, with drops of the loss at further changes.
func (s schedule) judge(w window, latest int, rng *rand.Rand) (float64, func(n int) []float64) {
	whole := w.whole()
	return newSettling.judged(whole, latest, rng, func(fs []kalmanFilter, n int) []float64 {
		return drawEach(fs, n, rng, func(f *kalmanFilter) float64 { return s.left(f, whole, w.before, rng) })
	})
}
