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

func compareBlock() *schema.Block {
	return &schema.Block{
		Name: "compare", Label: "metric: a column of metrics.csv, with or without its `_s`",
		Doc: "Compares every other policy, or every other value of an axis, with a baseline, paired by replicate. The metrics are " + listed(Metrics()) + ".",
		Example: `compare "mean_jct" {
  baseline = policy.fcfs
}`,
		Args: []schema.Arg{
			{
				Name: "baseline", Type: schema.PolicyRef, DefaultDoc: "required without `at`",
				Doc: "The policy that the others are compared with.", Example: `policy.fcfs`,
			},
			{
				Name: "at", Type: schema.StringMap,
				Doc: "Compares values of axes in place of policies: these, by the name of the axis (or `hardware`, `workload`), " +
					"are the baseline, and all other values of the same axes are compared with it under the same policy, with all " +
					"other axes alike. So configurations are compared, also simulated ones with recorded ones.",
				Example: `{ servers = "1" }`,
			},
			{
				Name: "level", Type: schema.Number, Default: `0.95`, Min: schema.Limit(0.5), Max: schema.Limit(0.9999),
				Doc: "The level of the confidence interval.", Example: `0.99`,
			},
		},
	}
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
