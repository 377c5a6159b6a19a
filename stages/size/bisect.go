package size

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/stages"
)

// bisection finds the smallest value of an axis from which on a metric keeps a bound. It runs the cells of the largest
// value, of the smallest value, and then always of the value in the middle of the remaining range.
type bisection struct {
	Query
	// values has, for each value of the axis in ascending order, its cells, which differ only in the replicate.
	values [][]int
	// The metric misses the bound at index low and keeps it at index high. They are -1 and len(values) until they are
	// known.
	low, high int
}

// bisections has all bisections of an experiment.
type bisections struct {
	cells []record.CellRef
	all   []*bisection
	// held are the cells that a bisection may omit.
	held map[int]bool
	// asked has the round, from 1, in which a cell was requested: two bisections may need the same cell.
	asked map[int]int
	round int
}

// Select implements stages.SelectPart.
func (list queries) Select(cells []record.CellRef) stages.Selection {
	u := &bisections{cells: cells, held: map[int]bool{}, asked: map[int]int{}}
	for i := range list {
		if list[i].Bisect {
			u.add(&list[i])
		}
	}
	if len(u.all) == 0 {
		return nil
	}
	return u
}

// add adds the bisections of a block, one for each combination of other axes.
func (u *bisections) add(ask *Query) {
	var reads []int
	for i := range u.cells {
		if _, _, _, ok := ask.At(u.cells[i].Axes); ok {
			reads, u.held[i] = append(reads, i), true
		}
	}
	number := func(cell int) float64 {
		v, _, _, _ := ask.At(u.cells[cell].Axes)
		return v
	}
	slices.SortStableFunc(reads, func(a, b int) int { return cmp.Compare(number(a), number(b)) })
	of := map[string]*bisection{}
	for _, i := range reads {
		c := &u.cells[i]
		_, _, rest, _ := ask.At(c.Axes)
		name := fmt.Sprintf("%q %q", []string{c.Workload, c.Hardware, c.Policy}, rest)
		b := of[name]
		if b == nil {
			b = &bisection{Query: *ask, low: -1}
			of[name] = b
			u.all = append(u.all, b)
		}
		if n := len(b.values); n > 0 && number(b.values[n-1][0]) == number(i) {
			b.values[n-1] = append(b.values[n-1], i)
		} else {
			b.values = append(b.values, []int{i})
		}
		b.high = len(b.values)
	}
}

// Holds implements stages.Selection.
func (u *bisections) Holds(cell int) bool { return u.held[cell] }

// Next implements stages.Selection: it returns the cells that each bisection needs next.
func (u *bisections) Next(over func(string) (record.Cell, bool)) (cells []int) {
	u.round++
	for _, b := range u.all {
		for value, ok := b.want(); ok; value, ok = b.want() {
			open := false
			for _, c := range b.values[value] {
				if u.asked[c] == 0 {
					u.asked[c] = u.round
					cells = append(cells, c)
				}
				open = open || u.asked[c] == u.round
			}
			if open || !u.hear(b, value, over) {
				break
			}
		}
	}
	return cells
}

// Ahead implements stages.Selection.
func (u *bisections) Ahead() (n int) {
	for _, b := range u.all {
		n += b.steps() * len(b.values[0])
	}
	return n
}

// steps returns the largest number of values that the bisection still needs. The number of candidates is halved each
// time.
func (b *bisection) steps() int { return bits.Len(uint(b.high - b.low - 1)) }

// want returns the index of the next value to simulate; false at the end.
func (b *bisection) want() (int, bool) {
	switch last := len(b.values) - 1; {
	case b.steps() == 0:
		return 0, false
	case b.high > last:
		return last, true // if the largest value misses the bound, no value keeps it
	case b.low < 0:
		return 0, true
	}
	return (b.low + b.high) / 2, true
}

// hear records the results for one value of a bisection; it returns false if they are missing.
func (u *bisections) hear(b *bisection, value int, over func(string) (record.Cell, bool)) bool {
	m, _ := measure.MetricByName(b.Metric)
	var values []float64
	for _, c := range b.values[value] {
		cell, ok := over(u.cells[c].Cell)
		if !ok {
			return false
		}
		values = append(values, m.Of(&cell.Metrics))
	}
	if b.Keeps(stats.MeanInterval(values, 0.95).Mean) {
		b.high = value
	} else {
		b.low = value
	}
	return true
}
