package blocks

import (
	"fmt"
	"slices"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/language"
	"github.com/tfexp/tfexp/experiments/words"
	"github.com/tfexp/tfexp/results/picture"
)

// plots decodes the plot blocks; without any, all kinds that are drawn by default.
func (d *Decoder) plots(axes []string) []experiments.Plot {
	var list []experiments.Plot
	for _, n := range d.root.All("plot") {
		a := d.EvalArgs(n, d.global)
		p := experiments.Plot{Kind: n.Label, Range: eval.RangeOf(n.Header)}
		kind, _ := picture.ByName(p.Kind)
		if name := ofPlot(a, kind, "metric"); name != "" {
			p.Metric = d.metric(name, n.Attr("metric").Expr.Range())
		}
		p.X = d.axisOfPlot(n, "x", ofPlot(a, kind, "x"), axes)
		p.Y = d.axisOfPlot(n, "y", ofPlot(a, kind, "y"), axes)
		p.By = ofPlot(a, kind, "by")
		if p.By != "" && p.Metric != "" && !slices.Contains(language.Grouped(), p.Metric) {
			a.Fail(a.At("metric"), "Metric of all jobs", "%s is not known of each %s; %s are.", p.Metric, p.By,
				words.AllOf(language.Grouped()))
		}
		checkPlot(a, kind, p)
		list = append(list, p)
	}
	if d.root.First("plot") == nil {
		for _, k := range picture.All() {
			if k.OnRequest == "" {
				list = append(list, experiments.Plot{Kind: k.Name})
			}
		}
	}
	return list
}

// checkPlot checks that a plot has the arguments that its kind needs.
func checkPlot(a *eval.Args, kind picture.Kind, p experiments.Plot) {
	for _, v := range []struct{ name, value string }{{"metric", p.Metric}, {"x", p.X}, {"y", p.Y}} {
		if arg, ok := kind.Arg(v.name); ok && arg.Required && v.value == "" {
			a.Fail(a.Node.Header, "Missing argument", "The plot %q needs %s: %s.", kind.Name, v.name, arg.Doc)
		}
	}
	x, takesX := kind.Arg("x")
	_, takesY := kind.Arg("y")
	switch {
	case takesX && takesY && !x.Required && (p.X == "") != (p.Y == ""):
		a.Fail(a.Node.Header, "Missing argument", "The plot %q takes both x and y, or neither: then %s.", kind.Name,
			x.DefaultDoc)
	case p.X != "" && p.X == p.Y:
		a.Fail(a.At("y"), "The same axis twice", "x and y of the plot %q are two axes of the matrix.", kind.Name)
	}
}

// ofPlot reads a text argument that only some kinds of plots take.
func ofPlot(a *eval.Args, kind picture.Kind, arg string) string {
	value := eval.Get[string](a, arg)
	if _, ok := kind.Arg(arg); ok || value == "" {
		return value
	}
	kinds, noun := picture.Taking(arg), "a "+arg
	if arg == "x" {
		noun = "an x"
	}
	if len(kinds) == 1 {
		a.Fail(a.At(arg), "Argument that nothing reads", "Only the plot %q has %s.", kinds[0], noun)
	} else {
		a.Fail(a.At(arg), "Argument that nothing reads", "Only the plots %s have %s.", words.AllOf(kinds), noun)
	}
	return ""
}

// axisOfPlot checks that an argument of a plot names an axis of the matrix.
func (d *Decoder) axisOfPlot(n *eval.Node, arg, name string, axes []string) string {
	if name == "" || slices.Contains(axes, name) || d.Failed() {
		return name
	}
	detail := "The matrix has no axes of its own."
	if len(axes) > 0 {
		detail = arg + " is the name of an axis of the matrix: " + words.OneOf(axes) + "."
	}
	d.Suggest(n.Attr(arg).Expr.Range(), words.Nearest(name, axes), fmt.Sprintf("Unknown axis %q", name), "%s", detail)
	return name
}
