package losscurve

import "math"

// floorsBelow are the floors that are tried, as parts of the target; floorsAbove are those with
// which it is never reached, as parts of the way from the target to the least loss.
var (
	floorsBelow = []float64{0, 0.2, 0.4, 0.6, 0.75, 0.85, 0.92, 0.97}
	floorsAbove = []float64{0.3, 0.7}
)

// aboveOdds is the logarithm of how much less likely a floor above the target is: targets are chosen
// to be reached.
const aboveOdds = -1

// The slope of the loss above its floor is a random walk with a spread whose prior has this
// median; before the first loss it has the mean and the variance of the trend's.
const plainWalk, plainWalkSpread = 0.15, 0.7

// newFloored is the family of trends of the loss above a floor, which is not known: losses of language
// models, of tasks with wrong labels and of small networks do not go to 0.
var newFloored family = func(w window) []filter {
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

// plainFilters are filters whose slopes do not drift, for a grid of their parameters and of floors.
func plainFilters(w window, floors ...float64) []filter {
	var fs []filter
	for _, floor := range floors {
		for i := -1; i <= 1; i++ {
			for j := -2; j <= 2; j++ {
				zi, zj := 1.6*float64(i), float64(j)
				f := filter{
					walk: plainWalk * math.Exp(plainWalkSpread*zi), noise: noiseMedian * math.Exp(noiseSpread*zj),
					floor: floor, plain: true, slope: firstSlope, p11: firstVariance, log: -(zi*zi + zj*zj) / 2,
				}
				if w.target > 0 && floor > w.target {
					f.log += aboveOdds
				}
				above, scale := f.above(w.points[0].Loss)
				f.level, f.p00 = math.Log(above), square(f.noise*scale)
				fs = append(fs, f)
			}
		}
	}
	return fs
}
