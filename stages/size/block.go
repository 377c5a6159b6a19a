package size

import (
	"embed"
	"slices"
	"strconv"

	"github.com/zclconf/go-cty/cty"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
)

// sizeArgs are the arguments of a size block.
//
// Finds the smallest value of a numeric axis, such as nodes, from which on the mean of a metric meets a bound. The
// report begins with this value for each policy, and draws the metric by size. The matrix has the values that are
// compared. With `bisect`, most of their cells are left out.
//
//	size "nodes" {
//	  metric = "p95_waiting"
//	  max    = "1h"
//	}
type sizeArgs struct {
	// The metric with the bound: a column of metrics.csv, with or without its `_s`.
	//
	//	metric = "p95_waiting"
	Metric string `arg:"metric,required"`
	// The largest allowed value: a duration if the metric is a time, else a number.
	//
	//	max = "1h"
	Max cty.Value `arg:"max" type:"bound"`
	// The smallest allowed value.
	//
	//	min = 0.8
	Min cty.Value `arg:"min" type:"bound"`
	// Whether tfexp searches by bisection instead of simulating every value. For each policy and value of the other
	// axes, it simulates the largest value, the smallest, and then always the middle one of the remaining range. This
	// assumes that larger values keep the bound whenever smaller ones do. Of 64 values, at most 8 are simulated.
	//
	//	bisect = true
	Bisect bool `arg:"bisect" default:"false"`
}

//go:embed block.go
var source embed.FS

var _ = schema.Document("size", source)

func init() {
	language.Extend("size", language.File, language.Extension[experiment.Spec]{
		Blocks: func() []*schema.Block {
			return []*schema.Block{schema.BlockFor[sizeArgs](schema.Block{
				Name: "size", Label: "axis of the matrix whose values are numbers, such as nodes",
			})}
		},
		AfterCells: func(d *language.Decoder, s *experiment.Spec) {
			if list := decode(d, s); len(list) > 0 {
				s.Parts = append(s.Parts, list)
			}
		},
	})
}

// queries is the part of an experiment with its size blocks.
type queries []Query

// decode decodes the size blocks of a file.
func decode(d *language.Decoder, s *experiment.Spec) (list queries) {
	for _, n := range d.Root.All("size") {
		var v sizeArgs
		a := d.Decode(n, d.Global, &v)
		if !a.OK || d.Failed() {
			continue
		}
		metric := d.Metric(v.Metric, a.At("metric"))
		if metric == "" {
			continue
		}
		if a.Lacks("min") == a.Lacks("max") {
			a.Fail(n.Header, "Size without a bound", "%s needs exactly one of max and min.", n.Title())
			continue
		}
		if !slices.Contains(s.Axes, n.Label) {
			d.Suggest(n.LabelAt, schema.Nearest(n.Label, s.Axes), "Unknown axis "+strconv.Quote(n.Label),
				"%s asks for an axis of the matrix. The axes are %s.", n.Title(), schema.AllOf(s.Axes))
			continue
		}
		ask := Query{Axis: n.Label, Metric: metric, Bisect: v.Bisect}
		values := ask.ValuesIn(s.Cells)
		if values < 2 {
			a.Fail(n.LabelAt, "Axis without an order", "%s needs an axis with at least two values, all of them numbers "+
				"or durations.", n.Title())
			continue
		}
		ask.Min, ask.Max = language.Bound(a, "min", metric), language.Bound(a, "max", metric)
		if ask.Bisect {
			ask.Values = values
		}
		list = append(list, ask)
	}
	drawn := slices.ContainsFunc(s.Plots, func(p experiment.Plot) bool { return p.Kind == Picture })
	if len(list) > 0 && !drawn {
		s.Plots = append(s.Plots, experiment.Plot{Kind: Picture})
	}
	return list
}
