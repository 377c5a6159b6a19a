package language

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/stages/experiment"
)

// Metrics returns the names of all metrics: the columns of metrics.csv that can be compared, in the same order.
func Metrics() []string {
	return schema.Each(measure.AllMetrics(), func(m measure.Metric) string { return m.Name })
}

// Metric returns the column of metrics.csv with this name; the name may lack its "_s". If no column matches, it reports
// an error and returns "".
func (d *Decoder) Metric(name string, at hcl.Range) string {
	for _, m := range Metrics() {
		if m == name || m == name+"_s" {
			return m
		}
	}
	suggestion := schema.Nearest(name, Metrics())
	if !strings.HasSuffix(name, "_s") {
		suggestion = strings.TrimSuffix(schema.Nearest(name+"_s", Metrics()), "_s")
	}
	d.Suggest(at, suggestion, fmt.Sprintf("Unknown metric %q", name),
		"The metrics are the columns of metrics.csv: %s.", strings.Join(Metrics(), ", "))
	return ""
}

// Bound returns the value of an argument that is a bound of a metric: for times a duration, in seconds, else a number.
// It is nil if the argument is not set or wrong.
func Bound(a *eval.Args, name, metric string) *float64 {
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

// PolicyThatRuns returns the name of the policy to which an argument refers; empty if the argument is not set. It
// reports an error if no cell has the policy.
func (d *Decoder) PolicyThatRuns(a *eval.Args, name string, cells []experiment.Cell) string {
	ref, ok := a.Values[name].(eval.Reference)
	if ok && !d.Failed() && !slices.ContainsFunc(cells, func(c experiment.Cell) bool { return c.Policy.Name == ref.Name }) {
		a.Fail(ref.At, "Policy that never runs", "No cell of the matrix has the policy %q.", ref.Name)
	}
	return ref.Name
}
