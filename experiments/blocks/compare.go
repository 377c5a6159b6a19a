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

func (d *Decoder) compares(cells []experiments.Cell) []experiments.Compare {
	var list []experiments.Compare
	for _, n := range d.root.All("compare") {
		a := d.EvalArgs(n, d.global)
		metric := d.metric(n.Label, n.LabelAt)
		baseline, ok := a.Values["baseline"].(eval.Reference)
		if metric == "" || !ok || !a.OK {
			continue
		}
		c := experiments.Compare{
			Metric: metric, Baseline: baseline.Name, Level: eval.Get[float64](a, "level"), Range: eval.RangeOf(n.Header),
		}
		if slices.ContainsFunc(list,
			func(o experiments.Compare) bool { return o.Metric == c.Metric && o.Baseline == c.Baseline }) {
			d.Errorf(n.Header, "Duplicate comparison", "%s is already compared with the policy %q.", c.Metric,
				c.Baseline)
			continue
		}
		if !d.Failed() && !slices.ContainsFunc(cells,
			func(cell experiments.Cell) bool { return cell.Policy.Name == c.Baseline }) {
			d.Errorf(baseline.At, "Baseline that never runs", "No cell of the matrix has the policy %q.", c.Baseline)
		}
		list = append(list, c)
	}
	return list
}
