package language

import (
	"fmt"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/picture"
)

// Metrics returns the names of the metrics: the columns of metrics.csv that can
// be compared, in its order.
func Metrics() []string {
	var names []string
	for _, m := range measure.AllMetrics() {
		names = append(names, m.Name)
	}
	return names
}

// metricLabels are the names of the metrics, with and without their unit of seconds.
func metricLabels() []string {
	var names []string
	for _, name := range Metrics() {
		names = append(names, name)
		if short, ok := strings.CutSuffix(name, "_s"); ok {
			names = append(names, short)
		}
	}
	return names
}

func compareBlock() *schema.Block {
	return &schema.Block{
		Name: "compare", Label: "metric: a column of metrics.csv, with or without its `_s`", Offered: metricLabels(),
		Doc: "Compares a baseline with everything that differs from it in what the baseline names, and in nothing else, " +
			"paired " +
			"by replicate: a policy with all other policies, the value of an axis with its other values. Without any compare " +
			"block, mean JCT, mean waiting time and makespan are compared with the first policy. A cell in which nothing is " +
			"drawn at random, such as the replay of a log, counts once, whatever the number of replicates: its difference is " +
			"stated without an interval. The metrics are " + listed(Metrics()) + ".",
		Example: `compare "mean_jct" {
  baseline = policy.fcfs
  metrics  = ["p95_jct", "makespan"]
}

compare "mean_waiting" {
  baseline = policy.fcfs
  by       = "class"
}

compare "mean_jct" {
  baseline = { policy = policy.fcfs, hardware = hardware.here }
}`,
		Args: []schema.Arg{
			{
				Name: "baseline", Type: schema.Baseline, Required: true,
				Doc: "What the others are compared with: a policy, a hardware or a workload; or the values of one or several " +
					"axes of the matrix by name, `{ sigma = 0 }`, where `policy`, `hardware` and `workload` are axes too. With " +
					"several, all other combinations of them are compared with this one; all other axes are alike on both sides.",
				Example: `policy.fcfs`,
			},
			{
				Name: "metrics", Type: schema.Strings, Doc: "More metrics that are compared in the same way.",
				Example: `["p95_jct", "makespan"]`,
			},
			{
				Name: "by", Type: schema.String, Allowed: groupings(), DefaultDoc: "all jobs together",
				Doc:     "Compares within each group of jobs: " + groupingsDoc() + ". Only for " + listed(Grouped()) + ".",
				Example: `"class"`,
			},
			{
				Name: "block", Type: schema.Duration, Positive: true, DefaultDoc: "no interval",
				Doc: "Gives the replay of a log an interval, by a block bootstrap: stretches of the log of this length are drawn " +
					"with replacement, each with all jobs that arrived in it. It says how much the answer depends on which days " +
					"the log happens to have, if days are independent; a day or a week is usual. A log of fewer than ten stretches " +
					"has none. Only for means over jobs: " +
					listed(OverJobs()) + ".",
				Example: `"24h"`,
			},
			{
				Name: "level", Type: schema.Number, Default: `0.95`, Min: schema.Limit(0.5), Max: schema.Limit(0.9999),
				Doc: "The level of the confidence interval.", Example: `0.99`,
			},
		},
	}
}

// Grouped returns the metrics that are known of groups of jobs.
func Grouped() []string { return metricsWhere(func(m measure.Metric) bool { return m.Grouped }) }

// OverJobs returns the metrics that are means over jobs.
func OverJobs() []string { return metricsWhere(func(m measure.Metric) bool { return m.OfJob != nil }) }

func metricsWhere(is func(measure.Metric) bool) []string {
	var names []string
	for _, m := range measure.AllMetrics() {
		if is(m) {
			names = append(names, m.Name)
		}
	}
	return names
}

// groupings are the ways to divide jobs.
func groupings() []string {
	var names []string
	for _, g := range measure.Groupings() {
		names = append(names, g.Name)
	}
	return names
}

func groupingsDoc() string {
	var texts []string
	for _, g := range measure.Groupings() {
		texts = append(texts, fmt.Sprintf("`%q` (%s)", g.Name, g.Doc))
	}
	return strings.Join(texts, ", ")
}

// plotBlock is made from the registry of pictures.
func plotBlock() *schema.Block {
	var kinds []string
	others := ""
	for _, k := range picture.All() {
		kinds = append(kinds, fmt.Sprintf("%s (`%s`)", k.Doc, k.Name))
		if k.OnRequest != "" {
			others += fmt.Sprintf(", but `%s`, %s", k.Name, k.OnRequest)
		}
	}
	by := plotArg("by", "Draws each group of jobs in a panel of its own: "+groupingsDoc()+". Only for "+listed(Grouped())+".",
		`"class"`)
	by.Allowed = groupings()
	return &schema.Block{
		Name: "plot", Label: "kind of picture", Labels: picture.Names(),
		Doc: "Selects a kind of picture: " + strings.Join(kinds, ", ") +
			". Without any plot block all kinds are drawn" + others + ".",
		Example: `plot "gantt" {}

plot "metrics" {
  metric = "mean_waiting"
}

plot "heatmap" {}`,
		Args: []schema.Arg{
			plotArg("metric", "The metric that is drawn.", `"mean_waiting"`),
			plotArg("x", "The axis of the matrix on the horizontal axis, by its name.", `"quantum"`),
			plotArg("y", "The axis of the matrix on the vertical axis, by its name.", `"intra"`),
			by,
		},
	}
}

// plotArg is an argument that some kinds of pictures take.
func plotArg(name, doc, example string) schema.Arg {
	out := schema.Arg{Name: name, Type: schema.String, Example: example}
	var defaults []string
	for _, k := range picture.All() {
		arg, ok := k.Arg(name)
		if !ok {
			continue
		}
		text := arg.DefaultDoc
		if arg.Required {
			text = "required"
		}
		defaults = append(defaults, fmt.Sprintf("`%s`: %s", k.Name, text))
	}
	out.DefaultDoc = strings.Join(defaults, "; ")
	out.Doc = doc + " Only for " + listed(picture.Taking(name)) + "."
	return out
}

// listed joins names as code: "`a`, `b`".
func listed(names []string) string { return "`" + strings.Join(names, "`, `") + "`" }
