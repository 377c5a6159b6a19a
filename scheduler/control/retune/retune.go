// Package retune has the controller that tunes a job while it trains: it measures how
// fast the job goes with a setting, asks a method of package tuner for the next one, and
// changes to it when that is worth its cost.
package retune

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/tfexp/tfexp/estimator/losscurve"
	"github.com/tfexp/tfexp/estimator/surrogate"
	"github.com/tfexp/tfexp/scheduler/control"
	"github.com/tfexp/tfexp/scheduler/control/tuner"
)

// Name is that of the controller in results, and in the registry.
const Name = "tune"

// Version is of its decisions: raise it when they change.
const Version = 1

// key is where Options stand among those of the registry.
const key = "options"

func init() {
	control.Register(control.Choice{
		Name: Name, Doc: "tunes settings while the job trains; `tune` blocks with a `mode` other than `trials` have it.",
		New: func(o control.Options) (control.Controller, error) {
			own, ok := o.Values[key].(Options)
			if !ok {
				return nil, errors.New("it needs a tune block")
			}
			return New(own), nil
		},
	})
}

// Given returns options as those of the registry.
func Given(o Options) control.Options { return control.Options{Values: map[string]any{key: o}} }

// Options say what a controller searches, and when it ends the job.
type Options struct {
	Problem *tuner.Problem
	Method  tuner.Method
	// Names are those of the settings, in the order of the space; Values returns their
	// values at a point, as an experiment writes them.
	Names  []string
	Values func(at []float64) []string
	// Initial is where the job begins. Learns says of each setting whether it changes what
	// the job learns in an epoch, and not only how long that takes.
	Initial []float64
	Learns  []bool
	// Fixed keeps the initial settings; Restart changes all settings by a new start of the
	// program.
	Fixed, Restart bool
	// Units is the work of the job in epochs (or steps). Target is "loss" or "accuracy",
	// and Bound what ends the job when it is reached; empty for none.
	Units  int
	Target string
	Bound  float64
	// Limit ends the job at a service time; 0: never.
	Limit time.Duration
	// Stretch is how many reports a setting is measured by, beside the first one after the
	// change. Tries is how many settings are tried at most.
	Stretch, Tries int
	// Level is the confidence with which a change has to pay.
	Level float64
}

// Controller tunes one job. It implements control.Controller.
type Controller struct {
	Options
	curve  []losscurve.Point // the loss, or the error, by units
	trials []surrogate.Trial
	paces  []float64 // of the trials: seconds a unit, as if all learned as much in one
	at     []float64 // the present point
	last   seen      // the report before
	first  float64   // seconds of the first interval since the change; NaN before it
	firstN float64   // units in it
	each   []float64 // seconds of a unit in the intervals after it
	from   int       // index in curve of where the stretch began
	speed  float64   // how fast the loss fell by units before the change; see slope
	factor float64   // of what is learned in a unit, against the first setting
	before []float64 // the point before the change, while it is not confirmed
	how    bool      // the present stretch began with a new start
	costs  [2]mean   // measured, of changes in place and by a new start
	start  float64   // seconds of the first start
	forced bool      // the program has refused to change while it runs
	anew   bool      // a change has needed a new start
	failed int       // starts in a row that failed
	over   bool      // nothing more is tried
	ended  bool
}

type seen struct {
	units int
	used  time.Duration
}

// mean is of what was measured.
type mean struct {
	sum float64
	n   int
}

// New returns the controller of one job.
func New(o Options) *Controller {
	return &Controller{Options: o, at: o.Initial, first: math.NaN(), factor: 1}
}

// Decide implements control.Controller.
func (c *Controller) Decide(r control.Report) control.Action {
	units := r.Epoch
	if units == 0 {
		units = r.Step
	}
	if r.Crashed != "" {
		return c.crashed(r)
	}
	if units == 0 || c.ended {
		return control.Action{}
	}
	if units > c.last.units {
		c.observe(r, units)
	}
	if a, done := c.ends(r); done {
		c.ended = true
		return a
	}
	if c.Fixed {
		return control.Action{}
	}
	if len(r.Refused) > 0 && c.before != nil {
		return c.refused(r)
	}
	if len(c.each) < c.Stretch {
		return control.Action{}
	}
	if !c.over || c.before != nil {
		c.measured()
	}
	if c.over {
		return control.Action{}
	}
	return c.next(units)
}

// observe takes a report into the measurement of the present setting.
func (c *Controller) observe(r control.Report, units int) {
	n := float64(units - c.last.units)
	seconds := (r.Used - c.last.used).Seconds()
	if math.IsNaN(c.first) {
		c.first, c.firstN = seconds, n
	} else {
		c.each = append(c.each, seconds/n)
	}
	if r.Restarted {
		c.how, c.anew = true, true
	}
	c.last = seen{units, r.Used}
	switch v := r.Loss; {
	case c.Target == "accuracy" && !math.IsNaN(r.Accuracy):
		c.curve = append(c.curve, losscurve.Point{Step: float64(units), Loss: 1 - r.Accuracy})
	case c.Target != "accuracy" && !math.IsNaN(v):
		c.curve = append(c.curve, losscurve.Point{Step: float64(units), Loss: v})
	}
}

// ends reports whether the job is at its target or its limit, and stops it there.
func (c *Controller) ends(r control.Report) (control.Action, bool) {
	switch {
	case c.Target == "loss" && r.Loss <= c.Bound:
		return control.Action{Stop: true, Reason: fmt.Sprintf("the target loss of %g is reached", c.Bound)}, true
	case c.Target == "accuracy" && r.Accuracy >= c.Bound:
		return control.Action{Stop: true, Reason: fmt.Sprintf("the target accuracy of %g is reached", c.Bound)}, true
	case c.Limit > 0 && r.Used >= c.Limit:
		reason := fmt.Sprintf("the limit of %s is over", c.Limit)
		if c.Target != "" {
			reason += fmt.Sprintf(", and the target %s of %g was not reached", c.Target, c.Bound)
		}
		return control.Action{Stop: true, Reason: reason}, true
	}
	return control.Action{}, false
}

// measured makes the stretch that has ended a trial, and learns what its change cost.
func (c *Controller) measured() {
	pace := median(c.each)
	slope := c.slope(c.from)
	if c.learns() && c.speed > 0 && slope > 0 {
		c.factor *= math.Min(math.Max(c.speed/slope, 1.0/most), most)
	}
	cost := math.Max(c.first-c.firstN*pace, 0)
	if c.before == nil && len(c.trials) == 0 {
		c.start = cost
	} else if c.before != nil {
		m := &c.costs[index(c.how)]
		m.sum, m.n = m.sum+cost, m.n+1
	}
	y := pace * c.factor
	c.before, c.failed = nil, 0
	if k := c.trial(c.at); k >= 0 { // it was measured before: both count
		c.paces[k] = math.Sqrt(c.paces[k] * y)
		c.trials[k].Objective = c.paces[k]
		return
	}
	c.trials = append(c.trials, surrogate.Trial{At: c.at, State: surrogate.Done, Objective: y, Cost: y})
	c.paces = append(c.paces, y)
}

// most bounds the factor by which a setting is taken to learn more or less in a unit.
const most = 4

// learns reports whether the last change was of a setting that changes what is learned.
func (c *Controller) learns() bool {
	for i, on := range c.Learns {
		if on && c.before != nil && c.before[i] != c.at[i] {
			return true
		}
	}
	return false
}

// slope is how fast the loss falls from a point of the curve on: the exponent of a power
// of the units. 0 where that cannot be told.
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

// trial returns the index of the trial at a point; -1 without one.
func (c *Controller) trial(at []float64) int {
	for i := range c.trials {
		if same(c.trials[i].At, at) {
			return i
		}
	}
	return -1
}

// best returns the trial with the best pace.
func (c *Controller) best() int {
	best := -1
	for i, t := range c.trials {
		if t.State == surrogate.Done && (best < 0 || c.paces[i] < c.paces[best]) {
			best = i
		}
	}
	return best
}

// change makes another point the present one, and answers with its settings.
func (c *Controller) change(to []float64, e *control.Expected, reason string) control.Action {
	var settings []control.Setting
	was, will := c.Values(c.at), c.Values(to)
	for i, name := range c.Names {
		if was[i] != will[i] {
			settings = append(settings, control.Setting{Name: name, Value: will[i]})
		}
	}
	c.speed = c.slope(max(c.from, 1))
	c.before, c.at, c.how = c.at, to, c.Restart || c.forced
	c.first, c.each, c.from = math.NaN(), nil, len(c.curve)
	return control.Action{Settings: settings, Restart: c.Restart || c.forced, Expected: e, Reason: reason}
}

// refused goes back from settings that cannot be; those that the program cannot take on
// while it runs are changed by a new start.
func (c *Controller) refused(r control.Report) control.Action {
	to, back := c.at, c.before
	why := r.Refused[0].Value
	c.at, c.before = back, nil
	c.first, c.each = math.NaN(), nil
	if !r.Impossible && !c.Restart && !c.forced {
		c.forced = true
		return c.change(to, nil, fmt.Sprintf("the program cannot change %s while it runs (%s): it is started anew", r.Refused[0].Name, why))
	}
	c.trials, c.paces = append(c.trials, surrogate.Trial{At: to, State: surrogate.Crashed}), append(c.paces, math.Inf(1))
	c.first = 0 // nothing has changed
	return control.Action{}
}

// crashed goes back to the best setting from one with which the program failed.
func (c *Controller) crashed(r control.Report) control.Action {
	if c.failed++; c.Fixed || c.before == nil || c.failed > mostFailed {
		return control.Action{}
	}
	c.trials, c.paces = append(c.trials, surrogate.Trial{At: c.at, State: surrogate.Crashed}), append(c.paces, math.Inf(1))
	to := c.before
	if b := c.best(); b >= 0 {
		to = c.trials[b].At
	}
	a := c.change(to, nil, "the program failed with these settings: "+r.Crashed)
	c.how = true
	return a
}

// mostFailed bounds the starts in a row that may fail before the job does.
const mostFailed = 3

func index(restart bool) int {
	if restart {
		return 1
	}
	return 0
}

func same(a, b []float64) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
