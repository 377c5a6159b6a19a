package controllers

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/files"
	"github.com/tfexp/tfexp/experiments/matrix"
	"github.com/tfexp/tfexp/experiments/words"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler/workload"
)

// Tune decodes a tune block, but for the cells of its trials.
func (d *Decoder) Tune(n *eval.Node, e *eval.Env) (*matrix.Tune, bool) {
	a := d.EvalArgs(n, e)
	t := &matrix.Tune{Values: map[string]cty.Value{}, Tuning: &experiments.Tuning{Range: eval.RangeOf(n.Header)}}
	t.Job = eval.Get[eval.Reference](a, "job").Name
	t.Tuning.Tuning = record.Tuning{
		Name: n.Label, Job: t.Job, Objective: eval.Get[string](a, "objective"), Method: eval.Get[string](a, "method"),
		Trials: eval.Get[int](a, "trials"), Start: eval.Get[int](a, "start"),
		LimitSeconds: eval.Get[time.Duration](a, "limit").Seconds(), PerCost: eval.Get[bool](a, "per_cost"),
	}
	if n := eval.Get[int](a, "parallel"); n > 1 {
		t.Tuning.Parallel = n
	}
	d.target(n, a, t)
	d.mode(n, a, t)
	for _, c := range n.All("constraint") {
		ok := d.constraint(c, e, t)
		a.OK = a.OK && ok
	}
	for _, s := range n.All("setting") {
		ok := d.setting(s, e, t)
		a.OK = a.OK && ok
	}
	for _, c := range n.All("context") {
		ok := d.setting(c, e, t)
		a.OK = a.OK && ok
	}
	if a.OK && a.IsSet("warm_start") {
		d.warmStart(a, t)
	}
	return t, a.OK
}

// mode reads how settings are tried, and what only one job that is changed while it trains
// has.
func (d *Decoder) mode(n *eval.Node, a *eval.Args, t *matrix.Tune) {
	if !a.Has("mode") {
		return
	}
	mode := eval.Get[string](a, "mode")
	unread := func(why string, names ...string) {
		if m := n.Attr("mode"); m != nil && len(m.Expr.Variables()) > 0 {
			return // another value of the axis may read them
		}
		for _, name := range names {
			if a.IsSet(name) {
				a.Fail(a.At(name), "Argument that nothing reads", "%s is for %s.", name, why)
			}
		}
	}
	trials, changed := "trials that are jobs of their own, and in mode \""+mode+"\" one job is changed",
		fmt.Sprintf("the modes %q and %q", record.Online, record.ByRestart)
	if mode == "trials" {
		unread(changed+"; trials are jobs of their own", "stretch", "confidence")
		return
	}
	t.Mode, t.Stretch, t.Confidence = mode, eval.Get[int](a, "stretch"), eval.Get[float64](a, "confidence")
	if mode == record.Unchanged {
		unread("settings that change, and in mode \"fixed\" they do not", "stretch", "confidence", "trials", "start")
	}
	unread(trials, "parallel", "per_cost")
	if mode == record.Unchanged {
		unread("settings that change, and in mode \"fixed\" they do not", "warm_start")
	}
	for _, c := range n.All("context") {
		a.Fail(c.Header, "Block that nothing reads", "A context is how much of a whole a trial is given; mode %q changes "+
			"one job, which is given all.", mode)
	}
	switch t.Objective {
	case "time", "throughput", "time_to_loss", "time_to_accuracy":
	default:
		a.Fail(a.At("objective"), "Objective that does not fit",
			"In mode %q the job is changed so that it is done sooner: the objective is time, throughput, time_to_loss or "+
				"time_to_accuracy, not %s; mode = \"trials\" has the others.", mode, t.Objective)
	}
}

// target reads the target of an objective that has one.
func (d *Decoder) target(n *eval.Node, a *eval.Args, t *matrix.Tune) {
	if !a.Has("objective") {
		return
	}
	o := record.FindObjective(t.Objective)
	target, ok := a.Values["target"].(float64)
	switch {
	case o.Target == "" && a.IsSet("target"):
		a.Fail(a.At("target"), "Argument that nothing reads",
			"The objective %q has no target; a constraint block bounds an outcome.", o.Name)
	case o.Target != "" && a.Lacks("target") && !n.Broken:
		a.Fail(n.Header, "Missing argument", "The objective %q needs target: the %s to be reached.", o.Name, o.Target)
	case ok && o.Target == "accuracy" && !(target > 0 && target <= 1):
		a.Fail(a.At("target"), "Value out of range", "An accuracy is above 0 and at most 1; this is %v.", target)
	case ok:
		t.Target = &target
	}
}

// constraint reads a bound on an outcome.
func (d *Decoder) constraint(n *eval.Node, e *eval.Env, t *matrix.Tune) bool {
	a := d.EvalArgs(n, e)
	c := record.Constraint{Outcome: n.Label}
	if v, ok := a.Values["min"].(float64); ok {
		c.Min = &v
	}
	if v, ok := a.Values["max"].(float64); ok {
		c.Max = &v
	}
	switch {
	case n.Broken || !a.OK:
	case a.Lacks("min") && a.Lacks("max"):
		a.Fail(n.Header, "Constraint without a bound", "%s needs min or max.", n.Title())
	case c.Min != nil && c.Max != nil && *c.Min > *c.Max:
		a.Fail(a.At("min"), "Contradicting arguments", "min is above max, so no value satisfies both.")
	case c.Outcome == "accuracy" && c.Min != nil && *c.Min > 1:
		a.Fail(a.At("min"), "Value out of range", "An accuracy is at most 1, so no trial satisfies min = %v.", *c.Min)
	case (c.Outcome == "accuracy" || c.Outcome == "time") && c.Max != nil && *c.Max < 0:
		a.Fail(a.At("max"), "Value out of range", "The %s is never below 0, so no trial satisfies max = %v.", c.Outcome,
			*c.Max)
	}
	t.Constraints = append(t.Constraints, c)
	return a.OK && !n.Broken
}

// setting reads a setting: its values, its range, or neither.
func (d *Decoder) setting(n *eval.Node, e *eval.Env, t *matrix.Tune) bool {
	a := d.EvalArgs(n, e)
	s := record.TunedSetting{Name: n.Label, Log: eval.Get[bool](a, "log"), Context: n.Schema.Name == "context",
		Live: a.IsSet("live") && eval.Get[bool](a, "live")}
	least, ok1 := a.Values["min"].(float64)
	most, ok2 := a.Values["max"].(float64)
	ranged := a.IsSet("min") || a.IsSet("max")
	switch {
	case !a.OK:
		return false
	case a.IsSet("values") && ranged:
		a.Fail(a.At("values"), "Contradicting arguments", "A setting has values, or a range from min to max.")
	case a.IsSet("values"):
		d.listed(n, a, t, &s)
	case ranged && (!ok1 || !ok2):
		a.Fail(n.Header, "Missing argument", "A range needs both min and max.")
	case ranged && least > most:
		a.Fail(a.At("min"), "Empty range", "min is %v, above max, which is %v: there is no value between them.", least, most)
	case ranged && s.Log && least <= 0:
		a.Fail(a.At("log"), "Value out of range", "On a logarithmic scale min must be above 0; it is %v.", least)
	case ranged:
		s.Min, s.Max, s.Numeric = least, most, true
		s.Integer = least == math.Trunc(least) && most == math.Trunc(most)
		if a.Has("integer") {
			s.Integer = eval.Get[bool](a, "integer")
		}
		if s.Integer && math.Ceil(least) > math.Floor(most) {
			a.Fail(a.At("min"), "Empty range", "There is no whole number from %v to %v.", least, most)
		}
		if s.Integer {
			s.Min, s.Max = math.Ceil(least), math.Floor(most)
		}
		s.Initial = eval.Display(cty.NumberFloatVal(s.Min))
	}
	if a.OK && a.IsSet("integer") && !ranged {
		a.Fail(a.At("integer"), "Argument that nothing reads", "integer is for a range from min to max.")
	}
	if a.OK && a.IsSet("initial") {
		d.initial(a, t, &s)
	}
	if a.OK && s.Context {
		d.goal(n, a, &s)
	}
	t.Settings = append(t.Settings, s)
	return a.OK
}

// goal reads where trials in a context count.
func (d *Decoder) goal(n *eval.Node, a *eval.Args, s *record.TunedSetting) {
	if v, ok := a.Values["at"].(float64); ok {
		s.Goal = record.Number(v)
		if listed := len(s.Values) > 0; listed && !slices.Contains(s.Values, s.Goal) ||
			!listed && s.Numeric && (v < s.Min || v > s.Max) {
			a.Fail(a.At("at"), "Unknown value", "at is %s, which is none of the values.", s.Goal)
		}
	}
	if len(s.Values) == 0 && !s.Numeric {
		return // of a table
	}
	if !s.Numeric {
		a.Fail(n.Header, "Context that is no number", "The values of %s are how much of a whole a trial is given: numbers.",
			n.Title())
		return
	}
	s.Complete()
}

// listed reads the values of a setting.
func (d *Decoder) listed(n *eval.Node, a *eval.Args, t *matrix.Tune, s *record.TunedSetting) {
	v, ok := a.Values["values"].(cty.Value)
	at := n.Attr("values").Expr.Range()
	switch {
	case !ok || !eval.IsList(v):
		a.Fail(at, "Wrong type", "values is a list.")
		return
	case v.LengthInt() == 0:
		a.Fail(at, "Empty list", "The setting %q has no values, so there is nothing to search.", n.Label)
		return
	}
	s.Numeric = true
	for it := v.ElementIterator(); it.Next(); {
		_, one := it.Element()
		text := eval.Display(one)
		if slices.Contains(s.Values, text) {
			a.Fail(at, "Duplicate value", "The setting %q already has the value %s.", n.Label, text)
			return
		}
		s.Values = append(s.Values, text)
		t.Values[n.Label+"\x00"+text] = one
		s.Numeric = s.Numeric && one.Type() == cty.Number
		if f, err := strconv.ParseFloat(text, 64); s.Log && (err != nil || f <= 0) {
			a.Fail(a.At("log"), "Value out of range", "On a logarithmic scale all values are numbers above 0; %s is not.", text)
			return
		}
	}
	s.Initial = s.Values[0]
}

// initial reads where a search begins.
func (d *Decoder) initial(a *eval.Args, t *matrix.Tune, s *record.TunedSetting) {
	v, ok := a.Values["initial"].(cty.Value)
	if !ok {
		return
	}
	text := eval.Display(v)
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case len(s.Values) > 0 && !slices.Contains(s.Values, text):
		a.Fail(a.At("initial"), "Unknown value", "initial is %s, which is none of the values.", text)
	case s.Numeric && len(s.Values) == 0 && (err != nil || f < s.Min || f > s.Max):
		a.Fail(a.At("initial"), "Value out of range", "initial is %s, outside the range from %v to %v.", text, s.Min, s.Max)
	default:
		s.Initial = text
	}
}

// warmStart reads trials that were made elsewhere.
func (d *Decoder) warmStart(a *eval.Args, t *matrix.Tune) {
	from, at := d.Find(eval.Get[string](a, "warm_start")), a.Node.Attr("warm_start").Expr.Range()
	if d.fromResults(a, t, from) {
		return
	}
	column := map[string]int{}
	digest, err := files.ReadAll(from, func(text io.Reader) error {
		_, err := workload.EachRow(from.Shown, text, false, func(head []string) error {
			for i, name := range head {
				column[strings.TrimSpace(name)] = i
			}
			for _, s := range t.Settings {
				if _, ok := column[s.Name]; !ok {
					near := words.Nearest(s.Name, head)
					if near != "" {
						near = fmt.Sprintf(" (is %q meant?)", near)
					}
					return fmt.Errorf("there is no column for the setting %q%s", s.Name, near)
				}
			}
			if _, ok := column["time_s"]; !ok {
				return fmt.Errorf("there is no column time_s")
			}
			return nil
		}, func(_ int, row []string) error {
			one, err := importedTrial(t, column, row)
			if err == nil {
				t.Imported = append(t.Imported, one)
			}
			return err
		})
		return err
	})
	if err != nil {
		a.OK = false
		d.FileErrors(from, at, err)
		return
	}
	t.WarmStart = digest
}

// importedTrial reads a row of imported trials.
func importedTrial(t *matrix.Tune, column map[string]int, row []string) (record.Imported, error) {
	var one record.Imported
	for _, s := range t.Settings {
		text := eval.Canonical(row[column[s.Name]])
		if s.Numeric {
			if _, err := strconv.ParseFloat(text, 64); err != nil {
				return one, fmt.Errorf("%s is %q, which is not a number", s.Name, text)
			}
		}
		if len(s.Values) > 0 && !s.Numeric && !slices.Contains(s.Values, text) {
			return one, fmt.Errorf("%s is %q, which is none of the setting's values", s.Name, text)
		}
		one.Settings = append(one.Settings, record.Setting{Name: s.Name, Value: text})
	}
	number := func(name string) (*float64, error) {
		i, ok := column[name]
		if !ok || strings.TrimSpace(row[i]) == "" {
			return nil, nil
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(row[i]), 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%s is %q, which is not a number", name, row[i])
		}
		return &v, nil
	}
	seconds, err := number("time_s")
	if err != nil {
		return one, err
	}
	for name, field := range map[string]**float64{
		"loss": &one.Outcome.Loss, "accuracy": &one.Outcome.Accuracy, "cost": &one.Outcome.Cost, "reached_s": &one.Outcome.Reached,
	} {
		if *field, err = number(name); err != nil {
			return one, err
		}
	}
	if i, ok := column["state"]; ok && strings.TrimSpace(row[i]) == record.TrialCrashed {
		one.Outcome.Crashed = "it crashed where it was made"
		return one, nil
	}
	if seconds == nil {
		one.Outcome.Crashed = "it has no time"
		return one, nil
	}
	one.Outcome.Time, one.Outcome.Units = *seconds, 1
	if n, err := number("units"); err == nil && n != nil {
		one.Outcome.Units = int(*n)
	}
	return one, nil
}
