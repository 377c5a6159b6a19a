package tuner

import (
	"fmt"
	"math"
	"slices"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/estimator/surrogate"
)

// expectedPaces are the paces that a controller expects at settings that it has not measured.
type expectedPaces struct {
	cores map[string]float64 // by point: a part of the logarithm of the expected pace, by its number of cores
	known map[string]float64 // by point: the logarithm of a pace from an earlier search or an earlier run
	shift float64            // added to paces of points without an entry in known, so that both agree at the mean
	apart float64            // standard deviation of the logarithms of known paces; see paceChanged
	looks int
	next  int // number of reports after a change until the pace is checked again
}

const (
	// gainOfCores is the assumed exponent of the speed in the number of cores: four times the cores make the job twice
	// as fast.
	gainOfCores = 0.5
	// leastSpread is the least standard deviation of the logarithm of a pace around its expectation. It is priorSpread
	// for settings that change the learning, and half of leastSpread for settings that were measured before.
	leastSpread = 0.2
	// mostExpected is the greatest number of points for which paces are expected, since each is computed.
	mostExpected = 512
	// drift is the change of the pace's logarithm from which on the search is repeated: about 15%.
	drift = 0.14
)

// problem returns the present search and its trials. It has the expected paces, and lacks settings that do not reach
// the program. If settings change the learning, the present loss is a dimension as well, since the best setting at
// the beginning may not be the best later.
func (c *Controller) problem() (*Problem, []surrogate.Trial) {
	p, trials := *c.Problem, c.tried()
	points := p.Points(mostExpected)
	if len(points) == 0 {
		return &p, trials
	}
	points = slices.DeleteFunc(slices.Clone(points), func(at []float64) bool {
		for i, stuck := range c.stuck {
			if stuck && at[i] != c.at[i] {
				return true
			}
		}
		return false
	})
	p.Candidates = points
	n := len(p.Space)
	if c.expects(points) {
		p.Prior = func(at []float64) float64 { return c.expectedPace(at[:n]) }
		p.Start, p.Spread = max(p.Start, 1), leastSpread
		switch {
		case len(c.known) > 0:
			p.Spread = math.Max(leastSpread/2, c.apart)
		case slices.Contains(c.Learns, true):
			p.Spread = priorSpread
		}
	}
	if c.Method.Inputs && slices.Contains(c.Learns, true) {
		c.besideLoss(&p, trials)
	}
	return &p, trials
}

// expectKnown makes paces that were measured elsewhere the expected paces.
func (c *Controller) expectKnown() {
	sum, n := 0.0, 0.0
	for _, k := range c.Known {
		if !(k.Pace > 0) || math.IsInf(k.Pace, 1) {
			continue
		}
		if c.known == nil {
			c.known = map[string]float64{}
		}
		id := fmt.Sprint(k.At)
		c.known[id] = math.Log(k.Pace)
		sum, n = sum+c.known[id]-c.byCores(k.At, id), n+1
	}
	if n > 0 {
		c.shift = sum / n
	}
}

// expects reports whether the expected paces differ between points: some were measured before, or they request
// different numbers of cores.
func (c *Controller) expects(points [][]float64) bool {
	if len(c.known) > 0 {
		return true
	}
	if c.Cores == nil {
		return false
	}
	for _, at := range points {
		if c.expectedPace(at) != c.expectedPace(points[0]) {
			return true
		}
	}
	return false
}

// expectedPace returns the logarithm of the expected pace at a point, up to a constant.
func (c *Controller) expectedPace(at []float64) float64 {
	k := fmt.Sprint(at)
	if v, ok := c.known[k]; ok {
		return v
	}
	return c.shift + c.byCores(at, k)
}

func (c *Controller) byCores(at []float64, k string) float64 {
	if c.Cores == nil {
		return 0
	}
	if c.cores == nil {
		c.cores = map[string]float64{}
	}
	v, ok := c.cores[k]
	if !ok {
		v = -gainOfCores * math.Log(float64(max(c.Cores(at), 1)))
		c.cores[k] = v
	}
	return v
}

// besideLoss adds the loss as a dimension: a trial has the loss at its end, and a candidate has the present loss.
func (c *Controller) besideLoss(p *Problem, trials []surrogate.Trial) {
	now := c.loss()
	least, greatest := now, now
	for _, t := range c.trials {
		if t.loss > 0 {
			least, greatest = math.Min(least, t.loss), math.Max(greatest, t.loss)
		}
	}
	if !(least > 0) || !(greatest > 1.05*least) {
		return
	}
	d := surrogate.Dimension{Name: "loss now", Min: least, Max: greatest, Log: true}
	p.Space = append(p.Space[:len(p.Space):len(p.Space)], d)
	for i := range trials {
		loss := c.trials[i].loss
		if !(loss > 0) {
			loss = now
		}
		trials[i].At = append(trials[i].At[:len(trials[i].At):len(trials[i].At)], d.Coordinate(loss))
	}
	var points [][]float64
	for _, at := range p.Candidates {
		if !slices.Equal(at, c.at) {
			points = append(points, append(at[:len(at):len(at)], d.Coordinate(now)))
		}
	}
	p.Candidates = points
}

// firstPaceCheck returns the number of reports at the chosen settings after which their pace is checked again. The
// number doubles after each check.
func firstPaceCheck(stretch int) int { return max(4*stretch, 8) }

// paceChanged reports whether the job's pace differs from the one measured with its settings, so that other settings
// may be better now. It then starts the search again, with the measured paces as expectations. Half of the change is
// attributed to all settings (for example to the machine), and half to the present ones.
func (c *Controller) paceChanged() bool {
	k := c.find(c.at)
	if len(c.now.each) < c.next || k < 0 || math.IsInf(c.trials[k].pace, 1) {
		return false
	}
	latest := c.now.each[len(c.now.each)-c.next/2:]
	y := estimator.Median(latest)
	own := 0.0
	for _, v := range latest {
		d := math.Log(v / y)
		own += d * d
	}
	sd := math.Max(c.deviation(), math.Sqrt(own/float64(len(latest)-1)))
	sd *= math.Sqrt(1/float64(len(latest)) + 1/float64(c.trials[k].reports))
	gap := math.Log(y * c.factor / c.trials[k].pace)
	if !(math.Abs(gap) > math.Max(drift, 4*sd)) {
		return false
	}
	known := map[string]float64{}
	sum, n := 0.0, 0.0
	var kept []trial
	for i, t := range c.trials {
		switch {
		case math.IsInf(t.pace, 1):
			kept = append(kept, t)
			continue
		case i == k:
			kept = append(kept, trial{at: t.at, pace: y * c.factor, reports: len(latest), loss: c.loss()})
		}
		id := fmt.Sprint(t.at)
		known[id] = math.Log(t.pace)
		sum, n = sum+known[id]-c.byCores(t.at, id), n+1
		if i == k {
			known[id] += gap / 2
		}
	}
	c.apart = math.Abs(gap) / 2
	c.known, c.shift, c.trials = known, sum/n, kept
	c.looks, c.next, c.over = c.looks+1, 2*len(c.now.each), false
	return true
}
