package language

import (
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/measure"
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

// PlotKinds returns the kinds of pictures, in the order of the report.
func PlotKinds() []string {
	return []string{
		"gantt", "jct", "metrics", "series", "cores", "predicted", "fidelity", "heatmap", "containers", "speedup",
	}
}

func compareBlock() *schema.Block {
	return &schema.Block{
		Name: "compare", Label: "metric: a column of metrics.csv, with or without its `_s`",
		Doc: "Compares every other policy with a baseline, paired by replicate. The metrics are " + listed(Metrics()) + ".",
		Example: `compare "mean_jct" {
  baseline = policy.fcfs
}`,
		Args: []schema.Arg{
			{
				Name: "baseline", Type: schema.PolicyRef, Required: true,
				Doc: "The policy that the others are compared with.", Example: `policy.fcfs`,
			},
			{
				Name: "level", Type: schema.Number, Default: `0.95`, Min: schema.Limit(0.5), Max: schema.Limit(0.9999),
				Doc: "The level of the confidence interval.", Example: `0.99`,
			},
		},
	}
}

func plotBlock() *schema.Block {
	return &schema.Block{
		Name: "plot", Label: "kind of picture", Labels: PlotKinds(),
		Doc: "Selects a kind of picture: cores over time with a colour for each job (`gantt`), the distribution " +
			"of completion times (`jct`), metrics with their intervals (`metrics`), metrics against a numeric " +
			"axis of the matrix, a line a policy (`series`), cores in use (`cores`), predicted against actual " +
			"run times (`predicted`), real cells above their simulation (`fidelity`), what containers used over " +
			"time (`containers`), a metric over two axes of the matrix as tiles (`heatmap`), how many times " +
			"faster jobs run along an axis, such as that of their threads, with Amdahl's law and the universal " +
			"scalability law fitted to it (`speedup`). Without any plot block all kinds are drawn, but " +
			"`speedup`, which has to be told its axis.",
		Example: `plot "gantt" {}

plot "metrics" {
  metric = "mean_waiting"
}

plot "heatmap" {}`,
		Args: []schema.Arg{
			{
				Name: "metric", Type: schema.String,
				DefaultDoc: "the main ones; `mean_jct` for `heatmap`, `mean_service` for `speedup`",
				Doc:        "The metric that is drawn. Only for `metrics`, `series`, `heatmap` and `speedup`.",
				Example:    `"mean_waiting"`,
			},
			{
				Name: "x", Type: schema.String,
				DefaultDoc: "the first axis whose values are numbers or durations; required by `speedup`",
				Doc: "The name of the axis of the matrix on the horizontal axis. Only for `series`, `heatmap` " +
					"and `speedup`.",
				Example: `"quantum"`,
			},
			{
				Name: "y", Type: schema.String, DefaultDoc: "the next axis of that sort",
				Doc: "The name of the axis of the matrix on the vertical axis. Only for `heatmap`, which takes " +
					"both `x` and `y`, or neither.",
				Example: `"intra"`,
			},
		},
	}
}

// listed joins names as code: "`a`, `b`".
func listed(names []string) string { return "`" + strings.Join(names, "`, `") + "`" }
