// Retune has the controller that tunes a job while it trains: it measures the job's pace
// with a setting, asks a method of package tuner for the next one, and changes to it
// when that is worth its cost.

package tuner

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/tfexp/tfexp/estimator/losscurve"
	"github.com/tfexp/tfexp/scheduler/control"
)

// ControllerName is the controller's name in results, and in the registry.
const ControllerName = "tune"

// ControllerVersion is part of the keys of cells: raise it when decisions change.
const ControllerVersion = 4

// retuneKey is the key of Options among the options of the registry.
const retuneKey = "options"

var _ = control.Register(control.Choice{
	Name: ControllerName,
	New: func(o control.Options) (control.Controller, error) {
		own, ok := o.Values[retuneKey].(Options)
		if !ok {
			return nil, errors.New("it needs a tune block")
		}
		return New(own), nil
	},
})

// ControllerOptions returns options in the form of the registry.
func ControllerOptions(o Options) control.Options {
	return control.Options{Values: map[string]any{retuneKey: o}}
}

// Options set a controller's search, and when it ends the job.
type Options struct {
	Problem *Problem
	Method  Method
	// Names are the names of the settings, in the order of the space; Values returns
	// their values at a point, as an experiment writes them.
	Names  []string
	Values func(at []float64) []string
	// Initial is the job's first point. Learns says of each setting whether it changes
	// what the job learns in an epoch, and not only the time of the epoch.
	Initial []float64
	Learns  []bool
	// Live says of each setting whether the program should change it while it runs, and
	// confirm it; nil without a program.
	Live []bool
	// Cores returns the number of cores that the job asks for at a point; nil if that is unknown.
	Cores func(at []float64) int
	// Known are paces that were measured elsewhere: the job need not go at them, but settings are
	// expected to be in such proportions.
	Known []MeasuredPace
	// Fixed keeps the initial settings; Restart changes all settings by a new start of the
	// program.
	Fixed, Restart bool
	// Units is the work of the job in epochs (or steps). Target is "loss" or "accuracy",
	// and Bound the value that ends the job; Target is empty for none.
	Units  int
	Target string
	Bound  float64
	// Limit ends the job at a service time; 0: never.
	Limit time.Duration
	// Stretch is the greatest number of reports in the measurement of a setting, without the
	// first one after the change. Tries is the greatest number of settings to try.
	Stretch, Tries int
	// Level is the confidence that a change must reach to count as paying.
	Level float64
}

// MeasuredPace is the pace at a point, in seconds a unit.
type MeasuredPace struct {
	At   []float64
	Pace float64
}

// Controller tunes one job. It implements control.Controller.
type Controller struct {
	Options
	curve   []losscurve.Point // the loss, or the error, by units
	trials  []trial
	at      []float64     // the present point
	now     settingPeriod // at it
	earlier settingPeriod // the one before, while the change after it is not confirmed
	last    lastReport    // the report before
	factor  float64       // progress of learning per unit, relative to the first setting
	costs   [2]mean       // measured, of changes in place and by a new start
	start   float64       // seconds of the first start
	spread  residuals
	anew    []bool // settings that the program uses only when it starts
	stuck   []bool // settings that do not reach the program in any way
	failed  int    // starts in a row that failed
	over    bool   // nothing more is tried
	ended   bool
	expectedPaces
}

// settingPeriod is the time between two changes.
type settingPeriod struct {
	first  float64   // seconds of the first interval, which has the cost of the change in it; NaN before it
	units  float64   // in it
	each   []float64 // seconds of a unit in the intervals after it
	length []float64 // units in each of these
	from   int       // index in curve of where it began
	speed  float64   // how fast the loss fell by units before it; see slope
	before []float64 // the point before, while the change is not confirmed; nil of the first period
	anew   bool      // it began with a new start
	took   []bool    // settings that the program has said that it took on
}

// simultaneous is the fraction of a unit's time, as the program reports it, below which two reports
// count as written at once: the later one belongs to the interval of the earlier.
const simultaneous = 0.2

// add takes the interval between two reports: the units, and the seconds that they took.
// told is the time of the last unit as the program reports it; NaN if it does not.
func (s *settingPeriod) add(seconds, units, told float64) {
	k := len(s.each) - 1
	switch atOnce := seconds < simultaneous*told*units; {
	case math.IsNaN(s.first):
		s.first, s.units = seconds, units
	case atOnce && k < 0:
		s.first, s.units = s.first+seconds, s.units+units
	case atOnce:
		all := s.length[k] + units
		s.each[k], s.length[k] = (s.each[k]*s.length[k]+seconds)/all, all
	default:
		s.each, s.length = append(s.each, seconds/units), append(s.length, units)
	}
}

type lastReport struct {
	units int
	used  time.Duration
}

// New returns the controller of one job.
func New(o Options) *Controller {
	c := &Controller{
		Options: o, at: o.Initial, factor: 1, now: settingPeriod{first: math.NaN(), took: make([]bool, len(o.Names))},
		anew: make([]bool, len(o.Names)), stuck: make([]bool,
			len(o.Names)), expectedPaces: expectedPaces{next: firstPaceCheck(o.Stretch)},
	}
	c.expectKnown()
	return c
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
	if len(r.Refused) > 0 && c.now.before != nil {
		return c.refused(r, units)
	}
	if !c.enough() {
		return control.Action{}
	}
	if !c.over || c.now.before != nil {
		if a, ignored := c.ignored(); ignored {
			return a
		}
		c.measured()
	}
	if c.over && !c.paceChanged() {
		return control.Action{}
	}
	return c.decide(units)
}

// observe takes a report into the measurement of the present setting.
func (c *Controller) observe(r control.Report, units int) {
	n := float64(units - c.last.units)
	seconds := (r.Used - c.last.used).Seconds()
	c.now.add(seconds, n, r.Seconds)
	if r.Restarted && !c.now.anew { // it was to change in place
		c.now.anew = true
		c.needsStart(c.now.before)
	}
	for _, s := range r.Took {
		if i := slices.Index(c.Names, s.Name); i >= 0 {
			c.now.took[i] = true
		}
	}
	c.last = lastReport{units, r.Used}
	switch v := r.Loss; { // without the losses of a training that has diverged
	case c.Target == "accuracy" && !math.IsNaN(r.Accuracy):
		c.curve = append(c.curve, losscurve.Point{Step: float64(units), Loss: 1 - r.Accuracy})
	case c.Target != "accuracy" && !math.IsNaN(v) && !math.IsInf(v, 1):
		c.curve = append(c.curve, losscurve.Point{Step: float64(units), Loss: v})
	}
}

// needsStart records that the program was restarted for the settings that differ from a point before. If none of
// them was known to need a restart, the settings that the program cannot change while it runs now count as needing
// one, or else all of them.
func (c *Controller) needsStart(before []float64) {
	var changed, others []int
	for i := range before {
		switch {
		case before[i] == c.at[i]:
			continue
		case c.anew[i]:
			return
		case c.Live == nil || !c.Live[i]:
			others = append(others, i)
		}
		changed = append(changed, i)
	}
	if len(others) > 0 {
		changed = others
	}
	for _, i := range changed {
		c.anew[i] = true
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

// change makes another point the present one, and answers with its settings.
func (c *Controller) change(to []float64, e *control.Expected, reason string) control.Action {
	var settings []control.Setting
	was, will := c.Values(c.at), c.Values(to)
	for i, name := range c.Names {
		if was[i] != will[i] {
			settings = append(settings, control.Setting{Name: name, Value: will[i]})
		}
	}
	restart := c.restarts(to)
	c.earlier = c.now
	c.now = settingPeriod{
		first: math.NaN(), from: len(c.curve), speed: c.slope(max(c.now.from, 1)), before: c.at, anew: restart,
		took: make([]bool, len(c.Names)),
	}
	c.at = to
	return control.Action{Settings: settings, Restart: restart, Expected: e, Reason: reason}
}

// restarts reports whether the program is restarted for another point.
func (c *Controller) restarts(to []float64) bool {
	for i := range to {
		if c.anew[i] && to[i] != c.at[i] {
			return true
		}
	}
	return c.Restart
}

// refused returns from impossible settings to the settings before. Settings that the
// program cannot change while it runs are changed by a restart.
func (c *Controller) refused(r control.Report, units int) control.Action {
	to := c.at
	if !r.Impossible && !c.now.anew {
		for _, s := range r.Refused {
			if i := slices.Index(c.Names, s.Name); i >= 0 {
				c.anew[i] = true
			}
		}
		c.back()
		if c.restarts(to) {
			return c.change(to, nil, fmt.Sprintf("the program cannot change %s while it runs (%s): it is restarted",
				r.Refused[0].Name, r.Refused[0].Value))
		}
	} else {
		c.back()
	}
	c.trials = append(c.trials, trial{at: to, pace: math.Inf(1)})
	return c.decide(units)
}

// back undoes a change that did not happen: the period before it continues.
func (c *Controller) back() {
	first, units := c.now.first, c.now.units
	c.at, c.now = c.now.before, c.earlier
	if !math.IsNaN(first) && units > 0 {
		c.now.each, c.now.length = append(c.now.each, first/units), append(c.now.length, units)
	}
}

// crashed returns to the best setting from one with which the program failed.
func (c *Controller) crashed(r control.Report) control.Action {
	if c.failed++; c.Fixed || c.now.before == nil || c.failed > mostFailed {
		return control.Action{}
	}
	c.trials = append(c.trials, trial{at: c.at, pace: math.Inf(1)})
	to := c.now.before
	if b := c.best(); b >= 0 {
		to = c.trials[b].at
	}
	a := c.change(to, nil, "the program failed with these settings: "+r.Crashed)
	c.now.anew = true
	return a
}

// mostFailed bounds the starts in a row that may fail before the job does.
const mostFailed = 3

// ignored finds settings that the program should have changed while it ran, and has not
// confirmed. If its pace is as before, it has not changed them. It is restarted with them if
// a restart can set them; else they count as impossible settings.
func (c *Controller) ignored() (control.Action, bool) {
	before := c.now.before
	if c.now.anew || before == nil || c.Live == nil {
		return control.Action{}, false
	}
	var mute []int
	for i := range before {
		if before[i] != c.at[i] && c.Live[i] && !c.now.took[i] {
			mute = append(mute, i)
		}
	}
	k := c.find(before)
	if len(mute) == 0 || k < 0 || c.differs(c.pace(), len(c.now.each), k) {
		return control.Action{}, false
	}
	var names []string
	start := true
	for _, i := range mute {
		names = append(names, c.Names[i])
		start = start && c.Learns[i]
		c.anew[i], c.stuck[i] = true, c.stuck[i] || !c.Learns[i]
	}
	to, said := c.at, fmt.Sprintf("the program has not said that it took on %s, and goes as fast as before", list(names))
	c.back()
	var a control.Action
	if start {
		a = c.change(to, nil, said+": it is restarted")
	} else {
		c.trials = append(c.trials, trial{at: to, pace: math.Inf(1)})
		c.at = to
		a = c.change(before, nil, said+": these settings do not count as tried")
		a.Restart, c.now.anew = false, false
	}
	a.Ignored = names
	return a, true
}

func list(names []string) string {
	text := names[0]
	for _, n := range names[1:] {
		text += ", " + n
	}
	return text
}

func index(restart bool) int {
	if restart {
		return 1
	}
	return 0
}
