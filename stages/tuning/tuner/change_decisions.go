package tuner

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/tfexp/tfexp/estimator/losscurve"
	"github.com/tfexp/tfexp/estimator/surrogate"
	"github.com/tfexp/tfexp/scheduler/control"
)

// Assumptions of a controller that has measured nothing.
const (
	// priorInPlaceCost is the cost of a change without a restart, in seconds.
	priorInPlaceCost = 0.05
	// priorSpread is the standard deviation of the logarithm of a pace that no model predicts. It is 0.35, or about
	// 35%.
	priorSpread = 0.35
)

// curveSeed is the seed of the forecasts of loss curves, so that they are the same in every run.
const curveSeed = 1

// left predicts the number of units that the job must still train, with its 90% interval.
func (c *Controller) left(units int) (left, low, high float64) {
	all := float64(max(c.Units-units, 0))
	if c.Target == "" {
		return all, all, all
	}
	bound := c.Bound
	if c.Target == "accuracy" {
		bound = 1 - bound
	}
	model, _ := losscurve.ByName(losscurve.Default)
	f, ok := model.Forecast(c.curve, losscurve.Ask{Target: bound, Level: 0.9, Most: all, Seed: curveSeed})
	if !ok {
		return all, 0, all
	}
	return math.Min(f.Steps, all), math.Min(f.Low, all), math.Min(f.High, all)
}

// cost returns the expected cost in seconds of a change to a point: the mean cost of earlier changes of this kind, and
// of one assumed change.
func (c *Controller) cost(to []float64) float64 {
	restart := c.restarts(to)
	m := c.costs[index(restart)]
	prior := priorInPlaceCost
	if restart {
		prior = c.start
	}
	return (prior + m.sum) / float64(m.n+1)
}

// decide returns the action after a period of measurement: try another setting, return to the best one, or change
// nothing.
func (c *Controller) decide(units int) control.Action {
	now, best := c.find(c.at), c.best()
	left, low, high := c.left(units)
	y := c.trials[now].pace
	e := control.Expected{Left: left * y, Low: low * y, High: high * y}
	if len(c.trials) <= c.Tries {
		next, err := c.Method.Suggest(c.problem())
		switch {
		case errors.Is(err, ErrDone):
		case err != nil:
			c.over = true
			return control.Action{Reason: fmt.Sprintf("method %s failed: %v; the settings stay", c.Method.Name, err)}
		default:
			next.At = next.At[:len(c.at):len(c.at)] // without the loss, which problem adds as a dimension
			if a, ok := c.trySuggestion(next, e, left, y, c.trials[best].pace); ok {
				return a
			}
		}
	}
	c.over = true
	e.Cost = c.cost(c.trials[best].at)
	if best == now {
		return control.Action{Expected: &e,
			Reason: "no other setting is expected to save more than the change costs: the settings stay"}
	}
	return c.returnToBest(best, e, low, y)
}

// trySuggestion tries a suggested setting if the expected gain exceeds the expected cost. The cost is the time of the
// change, of a possible change back, and of a slower pace until then. It returns false if the setting is not
// tried.
func (c *Controller) trySuggestion(next Suggestion, e control.Expected, left, now, best float64) (control.Action,
	bool) {
	mean, sd := next.Mean, next.SD
	e.Cost = c.cost(next.At)
	if next.Modelled && next.Scale != surrogate.Log { // to the scale of logarithms
		mean, sd = math.Log(math.Max(mean, best/10)), sd/math.Max(mean, best/10)
	}
	sd = math.Max(sd, noise)
	if !next.Modelled {
		mean, sd = 0, priorSpread
		n := 0.0
		for _, t := range c.trials {
			if !math.IsInf(t.pace, 1) {
				mean, n = mean+math.Log(t.pace), n+1
			}
		}
		mean /= n
	}
	u := (math.Log(best) - mean) / sd
	better := distuv.UnitNormal.CDF(u)
	expected := math.Exp(mean + sd*sd/2)
	// The expected improvement E[max(best − pace, 0)] of a lognormal pace.
	improvement := best*better - expected*distuv.UnitNormal.CDF(u-sd)
	stretch := float64(c.Stretch + 1)
	worth := math.Max(left-stretch, 0)*improvement - e.Cost - (1-better)*e.Cost -
		stretch*math.Max(expected-best, 0)
	e.Gain = left * (now - math.Exp(mean))
	e.Sure = savesProbability(now, math.Exp(mean), sd, left, e.Cost)
	if !(worth > 0) || slices.Equal(next.At, c.at) {
		return control.Action{}, false
	}
	what := "a model expects"
	if !next.Modelled {
		what = "without a model yet, it may take"
	}
	again := ""
	if c.looks > 0 {
		again = "the pace of the job has changed: "
	}
	return c.change(next.At, &e, fmt.Sprintf(
		"%stries a setting: %s %.3g s per unit (now %.3g), an expected gain of %.3g s",
		again, what, math.Exp(mean), now, worth)), true
}

// returnToBest returns to the best measured setting, if it is sure enough that this saves more than the change costs,
// even with the least remaining work of the prediction's interval.
func (c *Controller) returnToBest(best int, e control.Expected, low, now float64) control.Action {
	y := c.trials[best].pace
	e.Gain = e.Left - e.Left/now*y
	e.Sure = savesProbability(now, y, noise, math.Max(low, 1), e.Cost)
	if e.Sure < c.Level {
		return control.Action{Expected: &e, Reason: fmt.Sprintf(
			"it is not sure that the best setting (%.3g s per unit, now %.3g) saves more than the change costs",
			y, now)}
	}
	return c.change(c.trials[best].at, &e,
		fmt.Sprintf("returns to the best setting: %.3g s per unit, now %.3g", y, now))
}

// savesProbability returns the probability that a change saves more than it costs. This holds if the logarithm of the
// new pace is below the logarithm of (left × now − cost) / left. sd is the standard deviation of the logarithm of the
// new pace, and mean its median.
func savesProbability(now, mean, sd, left, cost float64) float64 {
	most := now - cost/math.Max(left, 1)
	if most <= 0 {
		return 0
	}
	return distuv.UnitNormal.CDF((math.Log(most) - math.Log(mean)) / math.Hypot(sd, noise))
}
