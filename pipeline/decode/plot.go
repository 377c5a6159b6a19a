package decode

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/stages/experiment"
)

// plotBlock returns the schema of the plot block, made from the registry of pictures.
func plotBlock() *schema.Block {
	doc := "Selects a kind of picture and its options. Without any plot block all kinds are drawn, except those marked *on request*.\n"
	for _, k := range table.Pictures() {
		doc += fmt.Sprintf("\n- `%s`: %s", k.Name, k.Doc)
		if k.OnRequest != "" {
			doc += ". *On request*: " + k.OnRequest
		}
	}
	by := plotArg("by", "Draws one panel for each group of jobs: "+groupingsDoc()+". Only for "+listed(Grouped())+".",
		`"class"`)
	by.Allowed = groupings()
	return &schema.Block{
		Name: "plot", Label: "kind of picture", Labels: table.PictureNames(),
		Doc: doc,
		Example: `plot "gantt" {}

plot "metrics" {
  metric = "mean_waiting"
}

plot "heatmap" {}`,
		Args: []schema.Arg{
			plotArg("metric", "The metric in the picture.", `"mean_waiting"`),
			plotArg("x", "The axis of the matrix on the horizontal axis, by its name.", `"quantum"`),
			plotArg("y", "The axis of the matrix on the vertical axis, by its name.", `"intra"`),
			by,
		},
	}
}

// plotArg returns an argument that only some kinds of pictures have.
func plotArg(name, doc, example string) schema.Arg {
	out := schema.Arg{Name: name, Type: schema.String, Example: example}
	var defaults []string
	for _, k := range table.Pictures() {
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
	out.Doc = doc + " Only for " + listed(table.PicturesTaking(name)) + "."
	return out
}

// plots decodes the plot blocks. If the file has no plot block, it returns all kinds that are drawn by default.
func (d *Decoder) plots(axes []string) []experiment.Plot {
	var list []experiment.Plot
	for _, n := range d.Root.All("plot") {
		a := d.EvalArgs(n, d.Global)
		p := experiment.Plot{Kind: n.Label, Range: eval.RangeOf(n.Header)}
		kind, _ := table.PictureByName(p.Kind)
		if name := ofPlot(a, kind, "metric"); name != "" {
			p.Metric = d.Metric(name, n.Attr("metric").Expr.Range())
		}
		p.X = d.axisOfPlot(n, "x", ofPlot(a, kind, "x"), axes)
		p.Y = d.axisOfPlot(n, "y", ofPlot(a, kind, "y"), axes)
		p.By = ofPlot(a, kind, "by")
		if p.By != "" && p.Metric != "" && !slices.Contains(Grouped(), p.Metric) {
			a.Fail(a.At("metric"), "Metric of all jobs", "%s is not available by %s; %s are.", p.Metric, p.By,
				schema.AllOf(Grouped()))
		}
		checkPlot(a, kind, p)
		list = append(list, p)
	}
	if d.Root.First("plot") == nil {
		for _, k := range table.Pictures() {
			if k.OnRequest == "" {
				list = append(list, experiment.Plot{Kind: k.Name})
			}
		}
	}
	return list
}

// checkPlot checks that a plot has the arguments that its kind needs.
func checkPlot(a *eval.Args, kind table.PictureKind, p experiment.Plot) {
	for _, v := range []struct{ name, value string }{{"metric", p.Metric}, {"x", p.X}, {"y", p.Y}} {
		if arg, ok := kind.Arg(v.name); ok && arg.Required && v.value == "" && !a.IsWrong(v.name) {
			a.Fail(a.Node.Header, "Missing argument", "The plot %q needs %s: %s.", kind.Name, v.name, arg.Doc)
		}
	}
	x, takesX := kind.Arg("x")
	_, takesY := kind.Arg("y")
	switch {
	case takesX && takesY && !x.Required && (p.X == "") != (p.Y == "") && !a.IsWrong("x") && !a.IsWrong("y"):
		a.Fail(a.Node.Header, "Missing argument", "The plot %q takes both x and y, or neither: then %s.", kind.Name,
			x.DefaultDoc)
	case p.X != "" && p.X == p.Y:
		a.Fail(a.At("y"), "The same axis twice", "x and y of the plot %q must be two different axes of the matrix.", kind.Name)
	}
}

// ofPlot reads a text argument that only some kinds of pictures have.
func ofPlot(a *eval.Args, kind table.PictureKind, arg string) string {
	value := eval.Get[string](a, arg)
	if _, ok := kind.Arg(arg); ok || value == "" {
		return value
	}
	kinds, noun := table.PicturesTaking(arg), "a "+arg
	if arg == "x" {
		noun = "an x"
	}
	only := "plots %s have"
	if len(kinds) == 1 {
		only = "plot %s has"
	}
	a.Unread(fmt.Sprintf("Only the "+only+" %s.", schema.AllOf(kinds), noun), arg)
	return ""
}

// axisOfPlot returns the axis that an argument of a plot names. It reports a name that is not an axis of the matrix.
func (d *Decoder) axisOfPlot(n *eval.Node, arg, name string, axes []string) string {
	if name == "" || slices.Contains(axes, name) || d.Failed() {
		return name
	}
	detail := "The matrix has no axes of its own."
	if len(axes) > 0 {
		detail = arg + " is the name of an axis of the matrix: " + schema.OneOf(axes) + "."
	}
	d.Suggest(n.Attr(arg).Expr.Range(), schema.Nearest(name, axes), fmt.Sprintf("Unknown axis %q", name), "%s", detail)
	return name
}
