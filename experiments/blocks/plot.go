package blocks

import (
	"fmt"
	"slices"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/language"
	"github.com/tfexp/tfexp/experiments/words"
)

// plots decodes the plot blocks; without any, all kinds that need no argument.
func (d *Decoder) plots(axes []string) []experiments.Plot {
	var list []experiments.Plot
	for _, n := range d.root.All("plot") {
		a := d.EvalArgs(n, d.global)
		p := experiments.Plot{Kind: n.Label, Range: eval.RangeOf(n.Header)}
		if name := ofPlots(a, p.Kind, "metric", "a metric", "metrics", "series", "heatmap", "speedup"); name != "" {
			p.Metric = d.metric(name, n.Attr("metric").Expr.Range())
		}
		p.X = d.axisOfPlot(n, "x", ofPlots(a, p.Kind, "x", "an x", "series", "heatmap", "speedup"), axes)
		p.Y = d.axisOfPlot(n, "y", ofPlots(a, p.Kind, "y", "a y", "heatmap"), axes)
		switch {
		case p.Kind == "speedup" && p.X == "":
			a.Fail(n.Header, "Missing argument",
				"The plot \"speedup\" needs x: the axis along which jobs get faster, such as that of their threads.")
		case p.Kind == "heatmap" && (p.X == "") != (p.Y == ""):
			a.Fail(n.Header, "Missing argument",
				"The plot \"heatmap\" takes both x and y, or neither: then the first two axes whose values are "+
					"numbers.")
		case p.X != "" && p.X == p.Y:
			a.Fail(a.At("y"), "The same axis twice", "x and y of a heat map are two axes of the matrix.")
		}
		list = append(list, p)
	}
	if d.root.First("plot") == nil {
		for _, kind := range language.PlotKinds() {
			if kind != "speedup" {
				list = append(list, experiments.Plot{Kind: kind})
			}
		}
	}
	return list
}

// ofPlots reads a text argument that only some kinds of plots have.
func ofPlots(a *eval.Args, kind, arg, noun string, kinds ...string) string {
	value := eval.Get[string](a, arg)
	if value == "" || slices.Contains(kinds, kind) {
		return value
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
