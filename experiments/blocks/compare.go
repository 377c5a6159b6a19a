package blocks

import (
	"fmt"
	"slices"
	"strings"
	"time"

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

// baselineAt reports whether some cell has the values of axes at which a baseline is to be; it says which are not
// there.
func (d *Decoder) baselineAt(a *eval.Args, at []experiments.Setting, cells []experiments.Cell) bool {
	for _, s := range at {
		var values, axes []string
		for _, c := range cells {
			for _, axis := range append([]experiments.Setting{
				{Name: "workload", Value: c.Workload.Name}, {Name: "hardware", Value: c.Hardware.Name},
				{Name: "policy", Value: c.Policy.Name},
			}, c.Axes...) {
				axes = include(axes, axis.Name)
				if axis.Name == s.Name {
					values = include(values, axis.Value)
				}
			}
		}
		switch {
		case len(values) == 0:
			d.Suggest(a.At("baseline"), words.Nearest(s.Name, axes), fmt.Sprintf("Unknown axis %q", s.Name),
				"No cell has an axis %q. The axes are %s.", s.Name, words.AllOf(axes))
			a.OK = false
		case !slices.Contains(values, s.Value):
			a.Fail(a.At("baseline"), "Baseline that never runs", "The axis %q has no value %q, but %s.",
				s.Name, s.Value, words.AllOf(values))
		case len(values) == 1 && len(at) == 1 && s.Name != "policy":
			d.Warnf(a.At("baseline"), "Comparison with nothing", "The axis %q has no value but %q.", s.Name, s.Value)
		}
	}
	return a.OK
}

// include adds a text to a list that does not have it.
func include(list []string, text string) []string {
	if slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}

// compares decodes the compare blocks: a comparison for each of their metrics.
func (d *Decoder) compares(cells []experiments.Cell) []experiments.Compare {
	var list []experiments.Compare
	for _, n := range d.root.All("compare") {
		a := d.EvalArgs(n, d.global)
		c := experiments.Compare{
			At: eval.Get[[]experiments.Setting](a, "baseline"), Level: eval.Get[float64](a, "level"),
			By: eval.Get[string](a, "by"), Block: eval.Get[time.Duration](a, "block"), Range: eval.RangeOf(n.Header),
		}
		var metrics []string
		if n.Label != "" { // else that has been reported
			metrics = d.comparedMetrics(n, a, c)
		}
		if !a.OK || len(metrics) == 0 || len(c.At) == 0 || !d.blockOfLog(a, cells) ||
			!d.Failed() && !d.baselineAt(a, c.At, cells) {
			continue
		}
		if len(c.At) == 1 && c.At[0].Name == "policy" {
			c.Baseline, c.At = c.At[0].Value, nil
		}
		for _, c.Metric = range metrics {
			if slices.ContainsFunc(list, func(o experiments.Compare) bool {
				return o.Metric == c.Metric && o.Baseline == c.Baseline && o.By == c.By && slices.Equal(o.At, c.At)
			}) {
				d.Errorf(n.Header, "Duplicate comparison", "%s is already compared with this baseline.", c.Metric)
				continue
			}
			list = append(list, c)
		}
	}
	return list
}

// comparedMetrics are the columns that a compare block is about: its label, and its metrics. It reports those that
// cannot be compared as the block asks.
func (d *Decoder) comparedMetrics(n *eval.Node, a *eval.Args, c experiments.Compare) []string {
	var metrics []string
	names, at := []string{n.Label}, []hcl.Range{n.LabelAt}
	if more := eval.Get[[]string](a, "metrics"); len(more) > 0 {
		names, at = append(names, more...), append(at, eval.ElementRanges(n.Attr("metrics").Expr, len(more))...)
	}
	for i, name := range names {
		metric := d.metric(name, at[i])
		switch {
		case metric == "":
			a.OK = false
		case c.By != "" && !slices.Contains(language.Grouped(), metric):
			a.Fail(at[i], "Metric of all jobs", "%s is not known of each %s; %s are.",
				metric, c.By, words.AllOf(language.Grouped()))
		case c.Block > 0 && !slices.Contains(language.OverJobs(), metric):
			a.Fail(at[i], "Metric that cannot be resampled", "%s is no mean over jobs; block is for %s.", metric,
				words.AllOf(language.OverJobs()))
		default:
			metrics = append(metrics, metric)
		}
	}
	return metrics
}

// blockOfLog reports whether a block bootstrap, if one is asked for, has the jobs of a log.
func (d *Decoder) blockOfLog(a *eval.Args, cells []experiments.Cell) bool {
	if !a.IsSet("block") || d.Failed() {
		return true
	}
	if e := d.root.First("experiment"); e != nil && eval.Get[string](d.EvalArgs(e, d.global), "records") == "metrics" {
		a.Fail(a.At("block"), "Argument that nothing reads", "block resamples jobs, and records = \"metrics\" keeps none.")
	}
	replays := func(c experiments.Cell) bool { return c.Workload.Trace != nil && len(c.Workload.Submits) == 0 }
	if !slices.ContainsFunc(cells, replays) {
		a.Fail(a.At("block"), "Argument that nothing reads", "block resamples a log, and no workload is a trace alone: "+
			"replicates "+
			"give the interval.")
	}
	return a.OK
}
