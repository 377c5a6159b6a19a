package deepening

var _ = Register(Kind{
	Rank: 50, Name: "greedy", Elsewhere: true,
	Doc: "Takes, at each decision, the action with the greatest gain in mean accuracy that the other scenarios predict.",
	New: func(w DecisionInputs) Decider { return greedyDecider(w) },
})

type greedyDecider DecisionInputs

// Probabilities implements Decider.
func (g greedyDecider) Probabilities(decision, before int) []float64 {
	best, most := 0, -1.0
	for a := range g.Table.Actions {
		sum := 0.0
		for _, t := range g.Others {
			sum += MeanAccuracyAfter(t, decision+1, before*t.Actions+a)
		}
		if sum > most {
			best, most = a, sum
		}
	}
	return certain(g.Table.Actions, best)
}

// MeanAccuracyAfter returns the mean accuracy of all sequences of a table that begin with the given actions. decisions
// is the number of these actions, and before their index.
func MeanAccuracyAfter(t *OutcomeTable, decisions, before int) float64 {
	width := 1
	for range t.Decisions - decisions {
		width *= t.Actions
	}
	sum := 0.0
	for _, a := range t.Accuracy[before*width : (before+1)*width] {
		sum += a
	}
	return sum / float64(width)
}
