package blocks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/language"
	"github.com/tfexp/tfexp/experiments/words"
)

// metric returns the column of metrics.csv with that name, which may lack its
// "_s"; empty, having reported it, when there is none.
func (d *Decoder) metric(name string, at hcl.Range) string {
	for _, m := range language.Metrics() {
		if m == name || m == name+"_s" {
			return m
		}
	}
	suggestion := words.Nearest(name, language.Metrics())
	if !strings.HasSuffix(name, "_s") {
		suggestion = strings.TrimSuffix(words.Nearest(name+"_s", language.Metrics()), "_s")
	}
	d.Suggest(at, suggestion, fmt.Sprintf("Unknown metric %q", name),
		"The metrics are the columns of metrics.csv: %s.", strings.Join(language.Metrics(), ", "))
	return ""
}

// baselineAt reports whether some cell has the values of axes at which a baseline is to be; it says which are not there.
func (d *Decoder) baselineAt(a *eval.Args, at []experiments.Setting, cells []experiments.Cell) bool {
	for _, s := range at {
		var values []string
		for _, c := range cells {
			for _, axis := range append(slices.Clone(c.Axes), experiments.Setting{Name: "hardware", Value: c.Hardware.Name},
				experiments.Setting{Name: "workload", Value: c.Workload.Name}) {
				if axis.Name == s.Name && !slices.Contains(values, axis.Value) {
					values = append(values, axis.Value)
				}
			}
		}
		switch {
		case len(values) == 0:
			a.Fail(a.At("at"), "Unknown axis", "No cell has an axis %q.", s.Name)
		case !slices.Contains(values, s.Value):
			a.Fail(a.At("at"), "Baseline that never runs", "The axis %q has no value %q, but %s.", s.Name, s.Value, words.AllOf(values))
		case len(values) == 1:
			d.Warnf(a.At("at"), "Comparison with nothing", "The axis %q has no value but %q.", s.Name, s.Value)
		}
	}
	return a.OK
}

func (d *Decoder) compares(cells []experiments.Cell) []experiments.Compare {
	var list []experiments.Compare
	for _, n := range d.root.All("compare") {
		a := d.EvalArgs(n, d.global)
		metric := d.metric(n.Label, n.LabelAt)
		baseline, ok := a.Values["baseline"].(eval.Reference)
		at := eval.Get[[]experiments.Setting](a, "at")
		if a.OK && !ok && len(at) == 0 && !n.Broken {
			a.Fail(n.Header, "Missing argument", "%s needs a baseline, or at.", n.Title())
		}
		if metric == "" || !a.OK {
			continue
		}
		c := experiments.Compare{
			Metric: metric, Baseline: baseline.Name, At: at, Level: eval.Get[float64](a, "level"), Range: eval.RangeOf(n.Header),
		}
		if slices.ContainsFunc(list, func(o experiments.Compare) bool {
			return o.Metric == c.Metric && o.Baseline == c.Baseline && slices.Equal(o.At, c.At)
		}) {
			d.Errorf(n.Header, "Duplicate comparison", "%s is already compared with the policy %q.", c.Metric,
				c.Baseline)
			continue
		}
		if !d.Failed() && !d.baselineAt(a, at, cells) {
			continue
		}
		if ok && !d.Failed() && !slices.ContainsFunc(cells,
			func(cell experiments.Cell) bool { return cell.Policy.Name == c.Baseline }) {
			d.Errorf(baseline.At, "Baseline that never runs", "No cell of the matrix has the policy %q.", c.Baseline)
		}
		list = append(list, c)
	}
	return list
}
