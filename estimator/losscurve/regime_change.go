package losscurve

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// A training changes its regime when its rate of learning is lowered, or when it leaves a plateau:
// the loss then falls in a new way, and earlier losses have little information about later ones.
const (
	// changeOdds is the logarithm of the odds of a change at a point, before its loss is seen, and
	// changeSpread the spread that the change itself adds to the logarithm of the loss.
	changeOdds, changeSpread = -4, 1
	// A regime has at least leastRegime points, and leastBefore points precede it: many trainings begin on a plateau.
	leastRegime, leastBefore = Least, 2 * Least
	// A change is tried at the mostChanges points with the most unexpected losses.
	mostChanges = 6
)

// regime returns the window from its last change of regime on, or the whole window if no change explains the
// losses better.
func (w window) regime() window {
	fs := newRegime(w)
	known := make([]float64, len(w.points)) // the logarithm of the likelihood of the points up to each
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

// newRegime makes the filters that find changes: a few trend filters and the plain filters. Both kinds
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

// Changes are found with one of regimeEach filters of the trend.
const regimeEach = 9

// equalWeights gives filters half of the likelihood together.
func equalWeights(fs []kalmanFilter) []kalmanFilter {
	all := logEvidence(fs) + math.Ln2
	for i := range fs {
		fs[i].logLikelihood -= all
	}
	return fs
}

// since returns the window from a point on, with steps that count from the point before.
func (w window) since(i int) window {
	if i == 0 {
		return w
	}
	return w.shifted(i, -w.points[i-1].Step)
}

// whole counts the steps of a window from the beginning of the training.
func (w window) whole() window { return w.shifted(0, w.before) }

func (w window) shifted(i int, by float64) window {
	points := slices.Clone(w.points[i:])
	for k := range points {
		points[k].Step += by
	}
	w.points, w.before = points, w.before-by
	return w
}

// newSettling is a family for the losses after a change: the loss falls fast at first, and soon
// like a power of all steps so far, with an exponent that is not known.
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

// The slope at a change has this mean and variance; its walk is like the walks of plain filters.
const settlingSlope, settlingVariance, settlingWalk = -2, 4, 0.2

// schedule is a rate of learning that is lowered repeatedly, each time after the same number of steps.
type schedule struct {
	each float64 // steps from one change to the next
	drop float64 // of the logarithm of the loss at the last change
}

// schedule returns the schedule of a window whose last change of regime begins another one; false without a
// change, or when the next one is overdue.
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

// dropWithin is the number of points within which the loss drops at a change.
const dropWithin = 5

// The loss drops at further changes as well, each time by at least this fraction of the last drop. At most
// mostDrops changes are followed: after more the rate is too low.
const leastDrop, mostDrops = 0.3, 3

// left draws the number of remaining steps if the loss continues by a filter, and drops at each further
// change.
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

// judge is judgeSettling with the drops of a schedule.
func (s schedule) judge(w window, latest int, rng *rand.Rand) (float64, func(n int) []float64) {
	whole := w.whole()
	return newSettling.judged(whole, latest, rng, func(fs []kalmanFilter, n int) []float64 {
		return drawEach(fs, n, rng, func(f *kalmanFilter) float64 { return s.left(f, whole, w.before, rng) })
	})
}
