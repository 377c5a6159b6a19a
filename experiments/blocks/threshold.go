package blocks

import (
	"slices"
	"strings"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/language"
	"github.com/tfexp/tfexp/experiments/schema"
)

// thresholds decodes the threshold blocks.
func (d *Decoder) thresholds(cells []experiments.Cell) []experiments.Threshold {
	var list []experiments.Threshold
	for _, n := range d.root.All("threshold") {
		a := d.EvalArgs(n, d.global)
		if n.Label == "" { // which has been reported
			continue
		}
		t := experiments.Threshold{Metric: n.Label, Range: eval.RangeOf(n.Header)}
		if t.Metric != language.EstimateError {
			if t.Metric = d.metric(n.Label, n.LabelAt); t.Metric == "" {
				continue
			}
		} else {
			for _, name := range []string{"policy", "fidelity_pct"} {
				if a.IsSet(name) {
					a.Fail(a.At(name), "Argument that nothing reads",
						"Estimates do not depend on the policy; %s is for metrics.", name)
				}
			}
		}
		t.Min, t.Max = bound(a, "min", t.Metric), bound(a, "max", t.Metric)
		if f, ok := a.Values["fidelity_pct"].(float64); ok {
			t.FidelityPct = &f
		}
		t.Policy = d.policyThatRuns(a, "policy", cells)
		if t.FidelityPct != nil && a.OK && !slices.ContainsFunc(cells, func(c experiments.Cell) bool {
			return c.Hardware.Real() && (t.Policy == "" || c.Policy.Name == t.Policy)
		}) && !d.Failed() {
			a.Fail(a.At("fidelity_pct"), "Argument that nothing reads",
				"fidelity_pct compares real cells with their simulation, and all of these cells are simulated.")
		}
		switch {
		case !a.OK || n.Broken:
		case a.Lacks("min") && a.Lacks("max") && a.Lacks("fidelity_pct"):
			a.Fail(n.Header, "Threshold without a bound", "%s needs max, min or fidelity_pct.", n.Title())
		case t.Min != nil && t.Max != nil && *t.Min > *t.Max:
			a.Fail(a.At("min"), "Contradicting arguments", "min is above max, so no value satisfies both.")
		}
		if a.OK {
			list = append(list, t)
		}
	}
	return list
}

// bound is a bound of a metric: a duration for times, in seconds then, else a
// number.
func bound(a *eval.Args, name, metric string) *float64 {
	v, ok := a.Values[name].(cty.Value)
	if !ok {
		return nil
	}
	arg, at := schema.Find(a.Node.Args, name), a.Node.Attr(name).Expr.Range()
	if strings.HasSuffix(metric, "_s") {
		value, ok := a.Duration(arg, at, v)
		if !ok {
			return nil
		}
		s := value.(time.Duration).Seconds()
		return &s
	}
	value, ok := a.Number(arg, at, v)
	if !ok {
		return nil
	}
	f := value.(float64)
	return &f
}

// policyThatRuns returns the name of the policy to which an argument refers, which some cell must have; empty where it is
// not set.
func (d *Decoder) policyThatRuns(a *eval.Args, name string, cells []experiments.Cell) string {
	ref, ok := a.Values[name].(eval.Reference)
	if ok && !d.Failed() && !slices.ContainsFunc(cells, func(c experiments.Cell) bool { return c.Policy.Name == ref.Name }) {
		a.Fail(ref.At, "Policy that never runs", "No cell of the matrix has the policy %q.", ref.Name)
	}
	return ref.Name
}
