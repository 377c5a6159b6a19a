package deepening

import (
	"slices"

	"github.com/tfexp/tfexp/experiments/schema"
)

// runsArg is the argument of controllers that may try sequences before they
// decide.
func runsArg(of string) schema.Arg {
	return schema.Arg{
		Name: "runs", Type: schema.Integer, DefaultDoc: "none", Min: schema.Limit(1), Max: schema.Limit(10000),
		Example: `5`,
		Doc:     "The number of networks that it trains before it decides; it takes the best of them. It trains them by " + of + ".",
	}
}

// bestOf trains a network by each of the sequences, and returns the sequence with the greatest accuracy, the first of
// several.
func bestOf(w DecisionInputs, sequences []int) int {
	best, most := sequences[0], -1.0
	for _, s := range sequences {
		if a := w.Run(s); a > most {
			best, most = s, a
		}
	}
	return best
}

// sequenceOf returns the index of the sequence that a decider takes.
func sequenceOf(t *OutcomeTable, d Decider) int {
	sequence := 0
	for decision := range t.Decisions {
		sequence = sequence*t.Actions + MostLikelyAction(d.Probabilities(decision, sequence))
	}
	return sequence
}

// bestMeans returns the n sequences with the greatest mean accuracies over tables, the greatest first. Of equal ones,
// the lower index is first.
func bestMeans(tables []*OutcomeTable, n int) []int {
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
