package estimator

import "math"

// Learned is a summary of the pace of a running job's finished units, of
// constant size. The zero value has seen nothing.
type Learned struct {
	units, groups float64
	mean          float64 // seconds a unit, at the pace of the estimate's resource
	squares       float64 // of the groups' deviations from the mean, weighted by their units
	products      float64 // of the deviations of groups that followed each other
	last          float64 // deviation of the last group from the mean
}

// Units is the number of units that were seen.
func (l Learned) Units() int { return int(l.units) }

// Add adds consecutive units, and the job's threads during them: e converts
// time on threads to work. The variance of the mean of n units is a unit's
// variance divided by n, so groups of units give the spread of one unit as
// well (Welford's weighted update, 1962).
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

// rho is the correlation of neighboring groups of units, from 0 to 0.9. With few groups it is shrunk towards 0, as in
// autocorrelation.
func (l Learned) rho() float64 {
	pairs := l.groups - 1
	if pairs < 8 || l.squares == 0 {
		return 0
	}
	return math.Min(0.9, math.Max(0, l.products/l.squares*pairs/(pairs+8)))
}

// restDrift is the relative difference between the pace of a run so far and the pace of its rest that remains however
// many units are measured.
const restDrift = 0.005

// clockDF are the degrees of freedom of an error whose spread is known.
const clockDF = 200

// After returns the estimate of a running job from its finished units. The earlier estimate and the observed units are
// joined by their precision (the posterior mean of a normal pace under a normal prior). So the first units of a job change
// little if the samples were good, and the observed pace prevails in the end.
func (e Estimate) After(l Learned) Estimate {
	if l.units == 0 {
		return e
	}
	e.Residuals = nil // they are of whole runs
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
	} else { // the precision of the estimate is unknown
		e.Slope, e.SlopeSE = l.mean, math.Sqrt(seen)
	}
	e.PaceSD, e.PaceDF = restDrift, clockDF
	return e
}

// Held is a time in seconds in which a job held Threads.
type Held struct {
	Seconds float64
	Threads int
}
