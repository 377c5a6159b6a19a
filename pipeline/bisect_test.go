package pipeline

import (
	"fmt"
	"testing"

	"github.com/tfexp/tfexp/pipeline/realise"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/experiment"
)

// A bisection finds the smallest of n values that keeps a bound in about log2(n) steps, wherever it is, and asks for a
// cell once, also where two bisections need it.
func TestBisections(t *testing.T) {
	for n := 2; n <= 40; n++ {
		for answer := 0; answer <= n; answer++ { // n: none
			bound := 100.0 - float64(answer)
			spec := &experiment.Spec{Sizes: []experiment.Size{
				{Axis: "nodes", Metric: "mean_waiting_s", Max: &bound, Bisect: true},
				{Axis: "nodes", Metric: "mean_waiting_s", Max: &bound, Bisect: true},
			}}
			var cells []*realise.Cell
			for i := range n {
				ref := record.CellRef{Cell: fmt.Sprint(i), Axes: []record.Setting{{Name: "nodes", Value: fmt.Sprint(n - i)}}}
				cells = append(cells, &realise.Cell{Ref: ref})
			}
			cells = append(cells, &realise.Cell{Ref: record.CellRef{Cell: "other"}})
			u, others := newBisections(spec, cells)
			if len(others) != 1 || len(u.all) != 2 {
				t.Fatalf("%d other cells and %d bisections", len(others), len(u.all))
			}
			asked := map[string]bool{}
			over := func(cell string) (c record.Cell, ok bool) {
				var i int
				_, _ = fmt.Sscan(cell, &i)
				c.Metrics.Set(measure.MeanWaiting, 100-float64(n-i-1)) // the more nodes, the less
				return c, asked[cell]
			}
			for more := u.next(over); len(more) > 0; more = u.next(over) {
				for _, c := range more {
					if asked[c.Ref.Cell] {
						t.Fatalf("cell %s is asked for twice", c.Ref.Cell)
					}
					asked[c.Ref.Cell] = true
				}
			}
			b := u.all[0]
			if b.high != answer || b.low != answer-1 || len(asked) > 9 || u.ahead() != 0 {
				t.Fatalf("of %d values: %d after %d cells, want %d", n, b.high, len(asked), answer)
			}
		}
	}
}
