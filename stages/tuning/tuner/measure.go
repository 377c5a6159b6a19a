package tuner

import (
	"math"
	"slices"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/estimator/surrogate"
)

// trial is the measurement of one setting.
type trial struct {
	at      []float64
	pace    float64 // seconds per unit, for equal progress of learning; +Inf if the setting is impossible
	reports int
	loss    float64 // at the end of the measurement; NaN if it is unknown
}

// mean is the sum and the number of measured values.
type mean struct {
	sum float64
	n   int
}

// residuals sum up how much paces of the same setting differ: squares of the logarithms' distances from their median.
type residuals struct {
	sum float64
	n   int
}

// noise is the assumed standard deviation of the logarithm of a measured pace. The assumption weighs as much as
// noiseReports reports.
const (
	noise        = 0.05
	noiseReports = 4
)

// deviation returns the standard deviation of the logarithm of the pace in one report.
func (c *Controller) deviation() float64 {
	return math.Sqrt((noiseReports*noise*noise + c.spread.sum) / float64(noiseReports+c.spread.n))
}

// sureAfter is the number of standard deviations by which a pace must differ from the best pace, so that its period
// ends early.
const sureAfter = 3

// enough reports whether the present setting is measured well enough: by all reports of a period, or by fewer if its
// pace is clearly better or worse than the best.
func (c *Controller) enough() bool {
	k := len(c.now.each)
	if k >= c.Stretch {
		return true
	}
	best := c.best()
	if best < 0 || c.now.before == nil || c.over || slices.Equal(c.trials[best].at, c.at) || c.changesLearning() {
		return false
	}
	if k > 0 {
		return c.differs(c.pace(), k, best)
	}
	m := c.costs[index(c.now.anew)]
	y := c.pace()
	if m.n == 0 || !(y > 0) {
		return false
	}
	// The first interval includes the cost of the change, which is known only approximately.
	doubt := math.Max(0.3*m.sum/float64(m.n), 0.02) / (c.now.units * y)
	sd := math.Hypot(c.deviation()*math.Sqrt(1+1/float64(c.trials[best].reports)), doubt)
	return math.Abs(math.Log(y/c.trials[best].pace)) > sureAfter*sd
}

// differs reports whether a pace, measured by a number of reports, clearly differs from the pace of a trial. trial is
// an index of trials.
func (c *Controller) differs(pace float64, reports, trial int) bool {
	t := &c.trials[trial]
	sd := c.deviation() * math.Sqrt(1/float64(max(reports, 1))+1/float64(max(t.reports, 1)))
	return math.Abs(math.Log(pace*c.factor/t.pace)) > sureAfter*sd
}

// pace returns the time of a unit in the present period, in seconds.
func (c *Controller) pace() float64 {
	if len(c.now.each) > 0 {
		return estimator.Median(c.now.each)
	}
	cost := 0.0
	if m := c.costs[index(c.now.anew)]; m.n > 0 {
		cost = m.sum / float64(m.n)
	}
	return (c.now.first - cost) / c.now.units
}

// measured adds the present period to the trials, and its cost to the costs of changes.
func (c *Controller) measured() {
	pace := c.pace()
	if slope := c.slope(c.now.from); c.changesLearning() && c.now.speed > 0 && slope > 0 {
		c.factor *= math.Min(math.Max(c.now.speed/slope, 1.0/most), most)
	}
	if len(c.now.each) > 0 {
		cost := math.Max(c.now.first-c.now.units*pace, 0)
		if c.now.before == nil && len(c.trials) == 0 {
			c.start = cost
		} else if c.now.before != nil {
			m := &c.costs[index(c.now.anew)]
			m.sum, m.n = m.sum+cost, m.n+1
		}
		for _, v := range c.now.each {
			d := math.Log(v / pace)
			c.spread.sum += d * d
		}
		c.spread.n += len(c.now.each) - 1
	}
	c.now.before, c.failed = nil, 0
	t := trial{at: c.at, pace: pace * c.factor, reports: max(len(c.now.each), 1), loss: c.loss()}
	k := c.find(c.at)
	switch {
	case k < 0:
		c.trials = append(c.trials, t)
	case slices.Contains(c.Learns, true): // the pace changes as the job learns: only the newest measurement counts
		c.trials[k] = t
	default: // both measurements count, weighted by their reports
		was := &c.trials[k]
		n := float64(was.reports + t.reports)
		was.pace = math.Exp((float64(was.reports)*math.Log(was.pace) + float64(t.reports)*math.Log(t.pace)) / n)
		was.reports += t.reports
	}
}

// loss returns the last loss; NaN without reports.
func (c *Controller) loss() float64 {
	if len(c.curve) == 0 {
		return math.NaN()
	}
	return c.curve[len(c.curve)-1].Loss
}

// most bounds the factor by which settings can change the progress of learning in a unit.
const most = 4

// changesLearning reports whether the last change was to a setting that affects how much is learned in a unit.
func (c *Controller) changesLearning() bool {
	for i, on := range c.Learns {
		if on && c.now.before != nil && c.now.before[i] != c.at[i] {
			return true
		}
	}
	return false
}

// slope returns the rate at which the loss falls from point `from` of the curve to its end: r if the loss falls as
// units^−r; 0 if it is unknown.
func (c *Controller) slope(from int) float64 {
	if from < 1 || len(c.curve)-from < 1 {
		return 0
	}
	a, b := c.curve[from-1], c.curve[len(c.curve)-1]
	if !(a.Loss > 0 && b.Loss > 0 && b.Step > a.Step) {
		return 0
	}
	return math.Log(a.Loss/b.Loss) / math.Log(b.Step/a.Step)
}

// find returns the index of the trial at a point; -1 without one.
func (c *Controller) find(at []float64) int {
	return slices.IndexFunc(c.trials, func(t trial) bool { return slices.Equal(t.at, at) })
}

// best returns the trial with the best pace; -1 without one.
func (c *Controller) best() int {
	best := -1
	for i, t := range c.trials {
		if !math.IsInf(t.pace, 1) && (best < 0 || t.pace < c.trials[best].pace) {
			best = i
		}
	}
	return best
}

// tried returns the trials in the form that methods take.
func (c *Controller) tried() []surrogate.Trial {
	list := make([]surrogate.Trial, len(c.trials))
	for i, t := range c.trials {
		list[i] = surrogate.Trial{At: t.at, State: surrogate.Crashed}
		if !math.IsInf(t.pace, 1) {
			list[i] = surrogate.Trial{At: t.at, State: surrogate.Done, Objective: t.pace, Cost: t.pace}
		}
	}
	return list
}
