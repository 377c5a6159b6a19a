// Package axes draws metrics over the axes of the matrix: lines over one axis, heat maps over two, and speed-ups.
package axes

import (
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/stages/plot"
	"github.com/tfexp/tfexp/stages/plot/lines"
)

// Series is the name of the kind of picture with lines.
const Series = "series"

var _ = plot.Register(plot.Kind{
	PictureKind: table.PictureKind{
		Rank: 40, Name: Series,
		Doc: "metrics over a numeric axis of the matrix, one line for each policy",
		Args: []schema.Arg{
			{Name: "metric", Type: schema.String, DefaultDoc: "the metrics that the experiment compares, and the main ones",
				Example: `"mean_waiting"`},
			{Name: "x", Type: schema.String, DefaultDoc: "the first axis whose values are numbers or durations",
				Example: `"quantum"`},
			{Name: "by", Type: schema.String, DefaultDoc: "all jobs together", Example: `"class"`},
		},
	},
	Draw: func(d *plot.Data, a plot.Ask) ([]plot.Figure, error) {
		return lines.Draw(d, Series, a.Metric, a.X, a.By, lines.Unbounded)
	},
})
