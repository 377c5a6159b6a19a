package estimator

import (
	"fmt"
	"math"
)

// FitCurve fits a speed-up curve to run times in seconds on numbers of threads, and returns the curve with the run
// time on one thread. It chooses the law as Scaling does. Times that do not depend on threads, such as a program's
// start-up, count to the curve's serial part. The error wraps ErrUnfit if there are fewer than two numbers of
// threads.
func FitCurve(threads []int, seconds []float64) (curve Curve, one float64, err error) {
	var points []point
	seen := map[int]bool{}
	for i, n := range threads {
		if n < 1 || !(seconds[i] > 0) || math.IsInf(seconds[i], 0) {
			return Curve{}, 0, fmt.Errorf("fit speed-up: %g s on %d threads: %w", seconds[i], n, ErrUnfit)
		}
		seen[n] = true
		points = append(points, point{at: Resource{Threads: n}, log: math.Log(seconds[i])})
	}
	if len(seen) < 2 {
		return Curve{}, 0, fmt.Errorf("fit speed-up: run times on one number of threads only: %w", ErrUnfit)
	}
	law, _ := choose(points)
	fit := law.fit(points)
	return fit.curve0, math.Exp(fit.one), nil
}
