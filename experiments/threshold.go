package experiments

import (
	"slices"
	"strings"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/tfexp/tfexp/experiments/language"
	"github.com/tfexp/tfexp/experiments/schema"
)

// Threshold is a bound that an experiment's results must keep.
type Threshold struct {
	// Metric is a column of metrics.csv, or language.EstimateError.
	Metric string
	// Policy is the policy that it is about; empty for all.
	Policy string
	// Min and Max bound the metric's mean over the replicates, in its unit;
	// FidelityPct the mean absolute error of its simulation. nil: no bound.
	Min, Max, FidelityPct *float64
	Range                 Range
}

// thresholds decodes the threshold blocks.
func (d *decoder) thresholds(cells []Cell) []Threshold {
	var list []Threshold
	for _, n := range d.root.all("threshold") {
		a := d.evalArgs(n, d.global)
		t := Threshold{Metric: n.label, Range: rangeOf(n.header)}
		if t.Metric != language.EstimateError {
			if t.Metric = d.metric(n.label, n.labelAt); t.Metric == "" {
				continue
			}
		} else {
			for _, name := range []string{"policy", "fidelity_pct"} {
				if a.isSet(name) {
					a.fail(a.at(name), "Argument that nothing reads", "Estimates are of jobs, whatever the policy; %s is for metrics.", name)
				}
			}
		}
		t.Min, t.Max = a.bound("min", t.Metric), a.bound("max", t.Metric)
		if f, ok := a.values["fidelity_pct"].(float64); ok {
			t.FidelityPct = &f
		}
		if ref, ok := a.values["policy"].(reference); ok {
			t.Policy = ref.name
			if !d.failed() && !slices.ContainsFunc(cells, func(c Cell) bool { return c.Policy.Name == t.Policy }) {
				a.fail(ref.at, "Policy that never runs", "No cell of the matrix has the policy %q.", t.Policy)
			}
		}
		if t.FidelityPct != nil && a.ok && !slices.ContainsFunc(cells, func(c Cell) bool {
			return c.Hardware.Engine != "simulated" && (t.Policy == "" || c.Policy.Name == t.Policy)
		}) && !d.failed() {
			a.fail(a.at("fidelity_pct"), "Argument that nothing reads", "It is about real cells and their simulation, and all of these cells are simulated.")
		}
		switch {
		case !a.ok || n.broken:
		case a.lacks("min") && a.lacks("max") && a.lacks("fidelity_pct"):
			a.fail(n.header, "Threshold without a bound", "%s needs max, min or fidelity_pct.", n.title())
		case t.Min != nil && t.Max != nil && *t.Min > *t.Max:
			a.fail(a.at("min"), "Contradicting arguments", "min is above max: nothing can keep both.")
		}
		if a.ok {
			list = append(list, t)
		}
	}
	return list
}

// bound is a bound of a metric: a duration for times, in seconds then, else a
// number.
func (a *args) bound(name, metric string) *float64 {
	v, ok := a.values[name].(cty.Value)
	if !ok {
		return nil
	}
	arg, at := schema.Find(a.n.args, name), a.n.attr(name).Expr.Range()
	if strings.HasSuffix(metric, "_s") {
		value, ok := a.duration(arg, at, v)
		if !ok {
			return nil
		}
		s := value.(time.Duration).Seconds()
		return &s
	}
	value, ok := a.number(arg, at, v)
	if !ok {
		return nil
	}
	f := value.(float64)
	return &f
}
