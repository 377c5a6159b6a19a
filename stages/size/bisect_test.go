package size

import (
	"fmt"
	"testing"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
)

// A bisection finds the smallest of n values that keeps a bound in about log2(n) steps. It requests each cell once,
// even if two bisections need it.
func TestBisections(t *testing.T) {
	for n := 2; n <= 40; n++ {
		for answer := 0; answer <= n; answer++ { // n means that no value keeps the bound
			bound := 100.0 - float64(answer)
			list := queries{
				{Axis: "nodes", Metric: "mean_waiting_s", Max: &bound, Bisect: true},
				{Axis: "nodes", Metric: "mean_waiting_s", Max: &bound, Bisect: true},
			}
			var cells []record.CellRef
			for i := range n {
				axes := []record.Setting{{Name: "nodes", Value: fmt.Sprint(n - i)}}
				cells = append(cells, record.CellRef{Cell: fmt.Sprint(i), Axes: axes})
			}
			cells = append(cells, record.CellRef{Cell: "other"})
			u := list.Select(cells).(*bisections)
			if len(u.held) != n || u.Holds(n) || len(u.all) != 2 {
				t.Fatalf("%d cells are held by %d bisections", len(u.held), len(u.all))
			}
			asked := map[string]bool{}
			over := func(cell string) (c record.Cell, ok bool) {
				var i int
				_, _ = fmt.Sscan(cell, &i)
				c.Metrics.Set(measure.MeanWaiting, 100-float64(n-i-1)) // more nodes give a lower value
				return c, asked[cell]
			}
			for more := u.Next(over); len(more) > 0; more = u.Next(over) {
				for _, i := range more {
					if asked[cells[i].Cell] {
						t.Fatalf("cell %s is asked for twice", cells[i].Cell)
					}
					asked[cells[i].Cell] = true
				}
			}
			b := u.all[0]
			if b.high != answer || b.low != answer-1 || len(asked) > 9 || u.Ahead() != 0 {
				t.Fatalf("of %d values: %d after %d cells, want %d", n, b.high, len(asked), answer)
			}
		}
	}
}
