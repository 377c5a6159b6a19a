// Checkpoint says how often a job that may be lost should write a
// checkpoint, and the average cost of its losses.

package supply

import (
	"math"
	"time"
)

// YoungInterval returns the interval √(2δM) between checkpoints of cost δ, when losses
// come at random and M apart on average (J. W. Young, A First Order Approximation
// to the Optimum Checkpoint Interval, 1974).
func YoungInterval(cost, between time.Duration) time.Duration {
	return round(math.Sqrt(2 * float64(cost) * float64(between)))
}

// DalyInterval returns √(2δM)·(1 + ⅓·√(δ/2M) + δ/18M) − δ where δ < 2M, and M elsewhere
// (J. T. Daly, A Higher Order Estimate of the Optimum Checkpoint Interval, 2006,
// equation 37).
func DalyInterval(cost, between time.Duration) time.Duration {
	d, m := float64(cost), float64(between)
	if d >= 2*m {
		return between
	}
	return round(math.Sqrt(2*d*m)*(1+math.Sqrt(d/(2*m))/3+d/(18*m)) - d)
}

// ExpectedCheckpointCost returns the mean time that work takes in pieces with a checkpoint after
// each, M·e^(R/M)·(e^((τ+δ)/M) − 1)·W/τ, when losses come at random and M apart on
// average, and a restart takes R (Daly 2006, equation 13).
func ExpectedCheckpointCost(work, interval, cost, restart, between time.Duration) time.Duration {
	m := float64(between)
	return round(m * math.Exp(float64(restart)/m) * math.Expm1(float64(interval+cost)/m) *
		float64(work) / float64(interval))
}

// round returns a number of nanoseconds, at most the greatest duration.
func round(ns float64) time.Duration {
	if !(ns < math.MaxInt64) {
		return math.MaxInt64
	}
	return time.Duration(math.Round(ns))
}
