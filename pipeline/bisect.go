package pipeline

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/tfexp/tfexp/pipeline/realise"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/stages/experiment"
)

// bisection looks for the smallest value of an axis from which on a metric keeps a bound. It runs the cells of the
// largest value, of the smallest one, and then of the middle of those between which the answer is.
type bisection struct {
	experiment.Size
	// values has the replicates of each value of the axis, ascending, of cells that agree in all else.
	values [][]*realise.Cell
	// The metric misses the bound at low and keeps it at high; -1 and the number of values until that is known.
	low, high int
}

// bisections are the bisections of an experiment.
type bisections struct {
	all []*bisection
	// asked has the rounds, from 1 on, in which cells were asked for: two bisections may need the same cell.
	asked map[*realise.Cell]int
	round int
}

// newBisections makes the bisections of an experiment, and returns its other cells.
func newBisections(spec *experiment.Spec, cells []*realise.Cell) (u *bisections, others []*realise.Cell) {
	u = &bisections{asked: map[*realise.Cell]int{}}
	held := map[*realise.Cell]bool{}
	for i := range spec.Sizes {
		ask := &spec.Sizes[i]
		if !ask.Bisect {
			continue
		}
		var reads []*realise.Cell
		for _, c := range cells {
			if _, _, _, ok := ask.At(c.Ref.Axes); ok {
				reads, held[c] = append(reads, c), true
			}
		}
		number := func(c *realise.Cell) float64 {
			v, _, _, _ := ask.At(c.Ref.Axes)
			return v
		}
		slices.SortStableFunc(reads, func(a, b *realise.Cell) int { return cmp.Compare(number(a), number(b)) })
		of := map[string]*bisection{}
		for _, c := range reads {
			_, _, rest, _ := ask.At(c.Ref.Axes)
			name := fmt.Sprintf("%q %q", []string{c.Ref.Workload, c.Ref.Hardware, c.Ref.Policy}, rest)
			b := of[name]
			if b == nil {
				b = &bisection{Size: *ask, low: -1}
				of[name] = b
				u.all = append(u.all, b)
			}
			if n := len(b.values); n > 0 && number(b.values[n-1][0]) == number(c) {
				b.values[n-1] = append(b.values[n-1], c)
			} else {
				b.values = append(b.values, []*realise.Cell{c})
			}
			b.high = len(b.values)
		}
	}
	return u, slices.DeleteFunc(cells, func(c *realise.Cell) bool { return held[c] })
}

// next returns the cells that each bisection needs next; none at the end.
func (u *bisections) next(over func(string) (record.Cell, bool)) (cells []*realise.Cell) {
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
			if open || !b.hear(value, over) {
				break
			}
		}
	}
	return cells
}

// ahead bounds the number of cells that may follow.
func (u *bisections) ahead() (n int) {
	for _, b := range u.all {
		n += b.steps() * len(b.values[0])
	}
	return n
}

// steps bounds the number of values that a bisection needs: their number, and the last one, is halved each time.
func (b *bisection) steps() int { return bits.Len(uint(b.high - b.low - 1)) }

// want returns the index of the next value to simulate; false at the end.
func (b *bisection) want() (int, bool) {
	switch last := len(b.values) - 1; {
	case b.steps() == 0:
		return 0, false
	case b.high > last:
		return last, true // if it misses the bound, none keeps it
	case b.low < 0:
		return 0, true
	}
	return (b.low + b.high) / 2, true
}

// hear takes in the results of a value; false if they are missing.
func (b *bisection) hear(value int, over func(string) (record.Cell, bool)) bool {
	m, _ := measure.MetricByName(b.Metric)
	var values []float64
	for _, c := range b.values[value] {
		cell, ok := over(c.Ref.Cell)
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
