package estimator

import "math"

// Learned is what the finished units of a running job have shown of its pace,
// in a few numbers however many they are. The zero value has seen nothing.
type Learned struct {
	units, groups float64
	mean          float64 // seconds a unit, at the pace of the estimate's resource
	squares       float64 // of the groups' deviations from the mean, weighted by their units
}

// Units is the number of units that were seen.
func (l Learned) Units() int { return int(l.units) }

// Add takes in units that followed one another, and what the job held
// meanwhile: e says how much work was done on how many threads. The mean of n
// units varies by the n-th part of a unit's variance, so groups of units tell
// the spread of one as well (Welford's weighted update, 1962).
func (l *Learned) Add(e Estimate, units int, held []Held) {
	var seconds float64
	for _, h := range held {
		seconds += h.Seconds / e.Slower(h.Threads)
	}
	n := float64(units)
	off := seconds/n - l.mean
	l.units += n
	l.groups++
	l.mean += off * n / l.units
	l.squares += n * off * (seconds/n - l.mean)
}

// After returns the estimate of a running job from what it has shown: see
// Update.
func (e Estimate) After(l Learned) Estimate {
	if l.units == 0 {
		return e
	}
	before := square(e.SlopeSE) + square(e.Slope*e.PaceSD)
	if l.groups > 1 {
		e.UnitSD = math.Sqrt((square(e.UnitSD)*e.DF + l.squares) / (e.DF + l.groups - 1))
	}
	seen := square(e.UnitSD) * (1 + e.Rho) / (1 - e.Rho) / l.units
	switch {
	case e.DF <= 0, before == 0 && seen == 0: // nothing tells how good the estimate was
		e.Slope = l.mean
		e.SlopeSE = math.Sqrt(seen)
	default:
		e.Slope = (e.Slope*seen + l.mean*before) / (seen + before)
		e.SlopeSE = math.Sqrt(seen * before / (seen + before))
		e.PaceSD = 0
	}
	e.DF += l.groups - 1
	return e
}
