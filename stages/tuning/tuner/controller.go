// The controller tunes a job while it trains. It measures the job's pace with a setting and asks a
// method of package tuner for another one. It changes to this setting if that is expected to save more time than it
// costs.

package tuner

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tfexp/tfexp/estimator/losscurve"
	"github.com/tfexp/tfexp/scheduler/control"
)

// ControllerName is the name of the controller in results and in the registry.
const ControllerName = "tune"

// ControllerVersion is part of the keys of cells. It must be raised when the controller's decisions change, so that
// cells run again.
const ControllerVersion = 4

// retuneKey is the key of the Options in control.Options.
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

// ControllerOptions returns the options as control.Options, for the registry of controllers.
func ControllerOptions(o Options) control.Options {
	return control.Options{Values: map[string]any{retuneKey: o}}
}

// Options are the options of a controller: its search, and the conditions that end the job.
type Options struct {
	Problem *Problem
	Method  Method
	// Names are the names of the settings, in the order of the space. Values returns the settings at a point, as text
	// of the experiment.
	Names  []string
	Values func(at []float64) []string
	// Initial is the job's first point. Learns reports for each setting whether it changes how much the job learns in
	// an epoch, and not only how long an epoch takes.
	Initial []float64
	Learns  []bool
	// Live reports for each setting whether the program should change it while it runs, and confirm the change. It is
	// nil in simulation.
	Live []bool
	// Cores returns the number of cores that the job requests at a point; nil if this is unknown.
	Cores func(at []float64) int
	// Known are paces that were measured elsewhere. The controller expects that the job's paces at these points have
	// the same ratios.
	Known []MeasuredPace
	// Fixed keeps the initial settings. Restart restarts the program for every change.
	Fixed, Restart bool
	// Units is the work of the job in epochs (or steps). Target is "loss" or "accuracy", and Bound the value at which
	// the job ends; Target is empty if the job does all its work.
	Units  int
	Target string
	Bound  float64
	// Limit is the service time after which the job ends; 0 means no limit.
	Limit time.Duration
	// Stretch is the greatest number of reports that measure a setting, without the first report after the change.
	// Tries is the greatest number of settings to try.
	Stretch, Tries int
	// Level is the least probability with which a change must save time.
	Level float64
}

// MeasuredPace is the pace at a point, in seconds per unit.
type MeasuredPace struct {
	At   []float64
	Pace float64
}

// Controller tunes one job while it trains. It implements control.Controller. A unit is an epoch (or a step).
type Controller struct {
	Options
	curve   []losscurve.Point // the loss, or 1 − accuracy, by units
	trials  []trial
	at      []float64     // the point of the present settings
	now     settingPeriod // the period with the present settings
	earlier settingPeriod // the period before, until the change after it is confirmed
	last    lastReport    // the previous report
	factor  float64       // progress of learning per unit, relative to the first settings
	costs   [2]mean       // measured costs in seconds: of changes in place, and of restarts
	start   float64       // seconds until the first start was over
	spread  residuals
	anew    []bool // by setting: the program reads it only when it starts
	stuck   []bool // by setting: it does not reach the program in any way
	failed  int    // failed starts since the last good one
	over    bool   // no more settings are tried
	ended   bool
	expectedPaces
}

// settingPeriod is the time between two changes of settings.
type settingPeriod struct {
	first  float64   // seconds of the first interval, with the cost of the change; NaN before its end
	units  float64   // units of the first interval
	each   []float64 // seconds per unit of each later interval
	length []float64 // units of each later interval
	from   int       // index in curve of the period's first point
	speed  float64   // rate at which the loss fell before the period; see slope
	before []float64 // the point before the period, until the change is confirmed; nil for the first period
	anew   bool      // it began with a restart
	took   []bool    // by setting: the program has confirmed it
}

// simultaneous is the fraction of a unit's time below which two reports count as written at once. The later report then
// belongs to the interval of the earlier one.
const simultaneous = 0.2

// add adds an interval between two reports: its units, and its length in seconds. reported is the program's time
// of the last unit; NaN if it reports none.
func (s *settingPeriod) add(seconds, units, reported float64) {
	k := len(s.each) - 1
	switch atOnce := seconds < simultaneous*reported*units; {
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

// New returns a controller of one job.
func New(o Options) *Controller {
	c := &Controller{
		Options: o, at: o.Initial, factor: 1, now: settingPeriod{first: math.NaN(), took: make([]bool, len(o.Names))},
		anew: make([]bool, len(o.Names)), stuck: make([]bool,
			len(o.Names)), expectedPaces: expectedPaces{next: firstPaceCheck(o.Stretch)},
	}
	c.expectKnown()
	return c
}

// Decide implements control.Controller. It returns the action after a report.
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

// observe adds a report to the measurement of the present setting.
func (c *Controller) observe(r control.Report, units int) {
	n := float64(units - c.last.units)
	seconds := (r.Used - c.last.used).Seconds()
	c.now.add(seconds, n, r.Seconds)
	if r.Restarted && !c.now.anew { // the change was meant to be in place
		c.now.anew = true
		c.needsStart(c.now.before)
	}
	for _, s := range r.Took {
		if i := slices.Index(c.Names, s.Name); i >= 0 {
			c.now.took[i] = true
		}
	}
	c.last = lastReport{units, r.Used}
	switch v := r.Loss; { // losses of a training that diverged are left out
	case c.Target == "accuracy" && !math.IsNaN(r.Accuracy):
		c.curve = append(c.curve, losscurve.Point{Step: float64(units), Loss: 1 - r.Accuracy})
	case c.Target != "accuracy" && !math.IsNaN(v) && !math.IsInf(v, 1):
		c.curve = append(c.curve, losscurve.Point{Step: float64(units), Loss: v})
	}
}

// needsStart records which settings need a restart, after a program was restarted at settings that differ from those
// before. Nothing changes if one of them was already known to need a restart. Otherwise the settings that the program
// cannot change while it runs are marked; without such settings, all changed ones are.
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

// ends returns the action that stops the job, and true, if the job has reached its target or its limit.
func (c *Controller) ends(r control.Report) (control.Action, bool) {
	switch {
	case c.Target == "loss" && r.Loss <= c.Bound:
		return control.Action{Stop: true, Reason: fmt.Sprintf("the target loss of %g is reached", c.Bound)}, true
	case c.Target == "accuracy" && r.Accuracy >= c.Bound:
		return control.Action{Stop: true, Reason: fmt.Sprintf("the target accuracy of %g is reached", c.Bound)}, true
	case c.Limit > 0 && r.Used >= c.Limit:
		reason := fmt.Sprintf("the time limit of %s is used up", c.Limit)
		if c.Target != "" {
			reason += fmt.Sprintf(", and the target %s of %g was not reached", c.Target, c.Bound)
		}
		return control.Action{Stop: true, Reason: reason}, true
	}
	return control.Action{}, false
}

// change makes another point the present one. It returns the action that changes the settings.
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

// restarts reports whether a change to the point needs a restart of the program.
func (c *Controller) restarts(to []float64) bool {
	for i := range to {
		if c.anew[i] && to[i] != c.at[i] {
			return true
		}
	}
	return c.Restart
}

// refused handles a change that the program refused. It tries again with a restart if the program cannot change the
// setting while it runs; it returns to the settings before if they are impossible.
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

// back undoes a change that did not happen: the period before the change continues.
func (c *Controller) back() {
	first, units := c.now.first, c.now.units
	c.at, c.now = c.now.before, c.earlier
	if !math.IsNaN(first) && units > 0 {
		c.now.each, c.now.length = append(c.now.each, first/units), append(c.now.length, units)
	}
}

// crashed handles a start at which the program failed: it returns to the best settings.
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

// mostFailed is the number of failed starts in a row after which the job fails.
const mostFailed = 3

// ignored handles a change in place that the program did not confirm. If the pace is as before, the program did not
// change its settings. It is then restarted with them if a restart can set them; otherwise they count as
// impossible.
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
	to, said := c.at, fmt.Sprintf("the program did not confirm %s, and its pace is as before", strings.Join(names, ", "))
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

func index(restart bool) int {
	if restart {
		return 1
	}
	return 0
}
