package experiments

import (
	"fmt"
	"slices"

	"github.com/tfexp/tfexp/experiments/language"
)

// plots decodes the plot blocks; without any, all kinds that need no argument.
func (d *decoder) plots(axes []string) []Plot {
	var list []Plot
	for _, n := range d.root.all("plot") {
		a := d.evalArgs(n, d.global)
		p := Plot{Kind: n.label, Range: rangeOf(n.header)}
		if name := a.ofPlots(p.Kind, "metric", "a metric", "metrics", "series", "heatmap", "speedup"); name != "" {
			p.Metric = d.metric(name, n.attr("metric").Expr.Range())
		}
		p.X = d.axisOfPlot(n, "x", a.ofPlots(p.Kind, "x", "an x", "series", "heatmap", "speedup"), axes)
		p.Y = d.axisOfPlot(n, "y", a.ofPlots(p.Kind, "y", "a y", "heatmap"), axes)
		switch {
		case p.Kind == "speedup" && p.X == "":
			a.fail(n.header, "Missing argument", "The plot \"speedup\" needs x: the axis along which jobs get faster, such as that of their threads.")
		case p.Kind == "heatmap" && (p.X == "") != (p.Y == ""):
			a.fail(n.header, "Missing argument", "The plot \"heatmap\" takes both x and y, or neither: then the first two axes whose values are numbers.")
		case p.X != "" && p.X == p.Y:
			a.fail(a.at("y"), "The same axis twice", "x and y of a heat map are two axes of the matrix.")
		}
		list = append(list, p)
	}
	if d.root.first("plot") == nil {
		for _, kind := range language.PlotKinds() {
			if kind != "speedup" {
				list = append(list, Plot{Kind: kind})
			}
		}
	}
	return list
}

// ofPlots reads a text argument that only some kinds of plots have.
func (a *args) ofPlots(kind, arg, noun string, kinds ...string) string {
	value := get[string](a, arg)
	if value == "" || slices.Contains(kinds, kind) {
		return value
	}
	if len(kinds) == 1 {
		a.fail(a.at(arg), "Argument that nothing reads", "Only the plot %q has %s.", kinds[0], noun)
	} else {
		a.fail(a.at(arg), "Argument that nothing reads", "Only the plots %s have %s.", allOf(kinds), noun)
	}
	return ""
}

// axisOfPlot checks that an argument of a plot names an axis of the matrix.
func (d *decoder) axisOfPlot(n *node, arg, name string, axes []string) string {
	if name == "" || slices.Contains(axes, name) || d.failed() {
		return name
	}
	detail := "The matrix has no axes of its own."
	if len(axes) > 0 {
		detail = arg + " is the name of an axis of the matrix: " + oneOf(axes) + "."
	}
	d.suggest(n.attr(arg).Expr.Range(), nearest(name, axes), fmt.Sprintf("Unknown axis %q", name), "%s", detail)
	return name
}
