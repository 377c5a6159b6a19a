// This file computes how often a job that may lose its server should write checkpoints, and what losses cost on
// average.

package supply

import (
	"math"
	"time"
)

// YoungInterval returns the best interval between checkpoints, √(2δM). A checkpoint takes cost (δ). Losses are
// random, with the mean time between (M) from one to the next (J. W. Young, A First Order Approximation to the
// Optimum Checkpoint Interval, 1974).
func YoungInterval(cost, between time.Duration) time.Duration {
	return round(math.Sqrt(2 * float64(cost) * float64(between)))
}

// DalyInterval returns √(2δM)·(1 + ⅓·√(δ/2M) + δ/18M) − δ if δ < 2M, else M (J. T. Daly, A Higher Order Estimate of
// the Optimum Checkpoint Interval, 2006, equation 37). δ and M are as in YoungInterval.
func DalyInterval(cost, between time.Duration) time.Duration {
	d, m := float64(cost), float64(between)
	if d >= 2*m {
		return between
	}
	return round(math.Sqrt(2*d*m)*(1+math.Sqrt(d/(2*m))/3+d/(18*m)) - d)
}

// ExpectedCheckpointCost returns the mean time that work (W) takes, with a checkpoint after each interval (τ):
// M·e^(R/M)·(e^((τ+δ)/M) − 1)·W/τ (Daly 2006, equation 13). A restart takes R; δ and M are as in YoungInterval.
func ExpectedCheckpointCost(work, interval, cost, restart, between time.Duration) time.Duration {
	m := float64(between)
	return round(m * math.Exp(float64(restart)/m) * math.Expm1(float64(interval+cost)/m) *
		float64(work) / float64(interval))
}

// round converts nanoseconds to a duration, at most the greatest one.
func round(ns float64) time.Duration {
	if !(ns < math.MaxInt64) {
		return math.MaxInt64
	}
	return time.Duration(math.Round(ns))
}
