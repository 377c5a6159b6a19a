package estimator

import "math"

// Learned summarizes the times of the finished units of a running job, in constant memory. The zero value is a job
// without finished units.
type Learned struct {
	units, groups float64
	mean          float64 // seconds per unit, converted to the threads of the estimate's resource
	squares       float64 // of the groups' deviations from the mean, weighted by units
	products      float64 // of the deviations of consecutive groups
	last          float64 // deviation of the last group from the mean
}

// Add adds consecutive units and the threads that the job held meanwhile; e converts time on other threads. The
// variance of the mean of n units is the variance of one unit divided by n, so means of groups also give the spread
// of one unit (Welford's weighted update, 1962).
func (l *Learned) Add(e Estimate, units int, held []Held) {
	if units <= 0 {
		return
	}
	var seconds float64
	for _, h := range held {
		seconds += h.Seconds / e.Slower(h.Threads)
	}
	n := float64(units)
	off := seconds/n - l.mean
	l.units += n
	l.groups++
	l.mean += off * n / l.units
	now := seconds/n - l.mean
	l.squares += n * off * now
	l.products += n * l.last * now
	l.last = now
}

// rho returns the correlation of consecutive groups of units, from 0 to 0.9. With few groups it is shrunk towards 0,
// as in autocorrelation.
func (l Learned) rho() float64 {
	pairs := l.groups - 1
	if pairs < 8 || l.squares == 0 {
		return 0
	}
	return math.Min(0.9, math.Max(0, l.products/l.squares*pairs/(pairs+8)))
}

// restDrift is the relative difference between the time per unit so far and in the rest of the run. It remains
// however many units are measured.
const restDrift = 0.005

// clockDF is the number of degrees of freedom of an error whose spread is known.
const clockDF = 200

// After returns the estimate of a running job, corrected by its finished units. It weights the earlier estimate and
// the measured units by their precision (the posterior mean for a normal time per unit with a normal prior). If the
// samples were good, the first units change little; later the measured units dominate.
func (e Estimate) After(l Learned) Estimate {
	if l.units == 0 {
		return e
	}
	e.Residuals = nil // they are errors about whole runs
	known, before := e.DF > 0, square(e.SlopeSE)+square(e.Slope*e.PaceSD)
	if l.groups > 1 {
		e.UnitSD = math.Sqrt((square(e.UnitSD)*e.DF + l.squares) / (e.DF + l.groups - 1))
		e.Rho = math.Max(e.Rho, l.rho())
		e.DF += l.groups - 1
	}
	seen := square(e.UnitSD) * (1 + e.Rho) / (1 - e.Rho) / l.units
	seen += square(e.Slope * moments(l.mean*l.units))
	if known && before+seen > 0 {
		e.Slope = (e.Slope*seen + l.mean*before) / (seen + before)
		e.SlopeSE = math.Sqrt(seen * before / (seen + before))
	} else { // the precision of the earlier estimate is unknown
		e.Slope, e.SlopeSE = l.mean, math.Sqrt(seen)
	}
	e.PaceSD, e.PaceDF = restDrift, clockDF
	return e
}

// Held is how long, in seconds, a job held a number of threads.
type Held struct {
	Seconds float64
	Threads int
}
