package deepening

import (
	"fmt"
	"math"
)

// OutcomeTable has the outcome of every sequence of decisions of one scenario: the table that an
// agent learns from.
type OutcomeTable struct {
	Name string
	// Decisions is the length of a sequence, Actions the number of choices at each: to
	// deepen block 0 … Actions−2, or nothing.
	Decisions, Actions int
	// Time is the part of the budget that is used at a decision, by the decisions before
	// it: Time[0][0], Time[1][a1], Time[2][a1·Actions + a2], …
	Time [][]float64
	// Accuracy has the accuracy of each whole sequence, by the same index.
	Accuracy []float64
}

// Check returns the mistake in the table; nil if it has none.
func (t *OutcomeTable) Check() error {
	if t.Decisions < 1 || t.Actions < 2 {
		return fmt.Errorf("table %s: %d decisions between %d actions", t.Name, t.Decisions, t.Actions)
	}
	n := 1
	for d := range t.Decisions {
		if len(t.Time) <= d || len(t.Time[d]) != n {
			return fmt.Errorf("table %s: decision %d lacks the times of its %d states", t.Name, d+1, n)
		}
		n *= t.Actions
	}
	if len(t.Accuracy) != n {
		return fmt.Errorf("table %s: %d sequences, want %d", t.Name, len(t.Accuracy), n)
	}
	for i, a := range t.Accuracy {
		if !(a >= 0 && a <= 1) {
			return fmt.Errorf("table %s: the accuracy of sequence %v is %v", t.Name, t.Sequence(i), a)
		}
	}
	return nil
}

// Sequence returns the decisions of a sequence, by its index.
func (t *OutcomeTable) Sequence(i int) []int {
	s := make([]int, t.Decisions)
	for d := t.Decisions - 1; d >= 0; d-- {
		s[d] = i % t.Actions
		i /= t.Actions
	}
	return s
}

// Layers returns the layers of the network at a decision, by the index of those before it. The
// vocabulary is block b as it was (2b) and a layer that was put behind it (2b + 1).
func (t *OutcomeTable) Layers(decision, before int) []int {
	deepened := make([]int, t.Actions-1)
	for d := decision - 1; d >= 0; d-- {
		if a := before % t.Actions; a < t.Actions-1 {
			deepened[a]++
		}
		before /= t.Actions
	}
	var layers []int
	for b, n := range deepened {
		layers = append(layers, 2*b)
		for range n {
			layers = append(layers, 2*b+1)
		}
	}
	return layers
}

// State returns the agent's input at a decision, by the index of the decisions before it.
func (t *OutcomeTable) State(decision, before int) DecisionState {
	s := DecisionState{Layers: t.Layers(decision, before)}
	s.Time = t.Time[decision][before]
	return s
}

// Reward returns the reward of an agent for an accuracy: 100·tan(accuracy·π/2), which
// grows the faster the nearer to 1.
func Reward(accuracy float64) float64 {
	return 100 * math.Tan(math.Min(accuracy, 0.9999)*math.Pi/2)
}

// Best returns the greatest accuracy of the table.
func (t *OutcomeTable) Best() float64 {
	best := 0.0
	for _, a := range t.Accuracy {
		best = max(best, a)
	}
	return best
}

// Rank returns the place of a sequence among all, 1 for the best.
func (t *OutcomeTable) Rank(sequence int) int {
	rank := 1
	for _, a := range t.Accuracy {
		if a > t.Accuracy[sequence] {
			rank++
		}
	}
	return rank
}
