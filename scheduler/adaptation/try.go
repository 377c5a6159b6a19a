package adaptation

import (
	"container/heap"
	"slices"

	"github.com/tfexp/tfexp/experiments/schema"
)

// runsArg is the argument of controllers that may try sequences before they
// decide.
func runsArg(of string) schema.Arg {
	return schema.Arg{
		Name: "runs", Type: schema.Integer, DefaultDoc: "none", Min: schema.Limit(1), Max: schema.Limit(10000),
		Example: `5`,
		Doc:     "Trains this many networks before it decides, by the sequences that " + of + ", and takes the best of them.",
	}
}

// bestOf tries sequences, each once, and returns the one with the greatest
// accuracy, the first of several.
func bestOf(w World, sequences []int) int {
	best, most := sequences[0], -1.0
	for _, s := range sequences {
		if a := w.Run(s); a > most {
			best, most = s, a
		}
	}
	return best
}

// likeliest returns the n sequences of a table that something that decides by
// chance takes most often, the likeliest first; of equals the one with the lower
// index.
func likeliest(t *AgentTable, d Decider, n int) []int {
	open := &beginnings{{probability: 1}}
	var out []int
	for open.Len() > 0 && len(out) < n {
		b := heap.Pop(open).(beginning)
		if b.decisions == t.Decisions {
			out = append(out, b.index)
			continue
		}
		for a, p := range d.Probabilities(b.decisions, b.index) {
			heap.Push(open, beginning{b.probability * p, b.decisions + 1, b.index*t.Actions + a})
		}
	}
	return out
}

// beginning is the first decisions of sequences.
type beginning struct {
	probability      float64
	decisions, index int
}

// beginnings are ordered by their probability. No beginning is less likely than
// its continuations, so the first whole sequence is the likeliest.
type beginnings []beginning

// Len implements heap.Interface.
func (b beginnings) Len() int { return len(b) }

// Less implements heap.Interface: longer ones first among equals, so that whole
// sequences are reached.
func (b beginnings) Less(i, j int) bool {
	switch {
	case b[i].probability != b[j].probability:
		return b[i].probability > b[j].probability
	case b[i].decisions != b[j].decisions:
		return b[i].decisions > b[j].decisions
	}
	return b[i].index < b[j].index
}

// Swap implements heap.Interface.
func (b beginnings) Swap(i, j int) { b[i], b[j] = b[j], b[i] }

// Push implements heap.Interface.
func (b *beginnings) Push(x any) { *b = append(*b, x.(beginning)) }

// Pop implements heap.Interface.
func (b *beginnings) Pop() any {
	last := len(*b) - 1
	x := (*b)[last]
	*b = (*b)[:last]
	return x
}

// bestMeans returns the n sequences with the greatest mean accuracies over
// tables, the greatest first; of equals the one with the lower index.
func bestMeans(tables []*AgentTable, n int) []int {
	sums := make([]float64, len(tables[0].Accuracy))
	order := make([]int, len(sums))
	for i := range sums {
		order[i] = i
		for _, t := range tables {
			sums[i] += t.Accuracy[i]
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case sums[a] > sums[b]:
			return -1
		case sums[a] < sums[b]:
			return 1
		}
		return 0
	})
	return order[:min(n, len(order))]
}
