package deepening

import (
	"fmt"
	"math"
)

// OutcomeTable has the outcome of every sequence of decisions in one scenario. Agents learn from it.
type OutcomeTable struct {
	Name string
	// Decisions is the number of decisions in a training. Actions is the number of choices at each: to deepen block 0,
	// …, block Actions−2, or none (Actions−1).
	Decisions, Actions int
	// Time is the part of the budget that is used at a decision, by decision and by the index of the actions before it:
	// Time[0][0], Time[1][a1], Time[2][a1·Actions + a2], …
	Time [][]float64
	// Accuracy is the final accuracy of each sequence, by the index of all its actions.
	Accuracy []float64
}

// Check returns an error that names a mistake in the table; nil if it has none.
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

// Sequence returns the actions of the sequence with the given index.
func (t *OutcomeTable) Sequence(i int) []int {
	s := make([]int, t.Decisions)
	for d := t.Decisions - 1; d >= 0; d-- {
		s[d] = i % t.Actions
		i /= t.Actions
	}
	return s
}

// Layers returns the layers of the network at a decision; before is the index of the actions before it. Number 2b is
// block b of the original network, and 2b + 1 a layer added behind it.
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

// State returns the agent's input at a decision; before is the index of the actions before it.
func (t *OutcomeTable) State(decision, before int) DecisionState {
	s := DecisionState{Layers: t.Layers(decision, before)}
	s.Time = t.Time[decision][before]
	return s
}

// Reward returns the reward of an agent for an accuracy: 100·tan(accuracy·π/2). It grows faster as the accuracy
// approaches 1.
func Reward(accuracy float64) float64 {
	return 100 * math.Tan(math.Min(accuracy, 0.9999)*math.Pi/2)
}

// Best returns the greatest accuracy in the table.
func (t *OutcomeTable) Best() float64 {
	best := 0.0
	for _, a := range t.Accuracy {
		best = max(best, a)
	}
	return best
}

// Rank returns the rank of a sequence among all sequences; 1 is the best.
func (t *OutcomeTable) Rank(sequence int) int {
	rank := 1
	for _, a := range t.Accuracy {
		if a > t.Accuracy[sequence] {
			rank++
		}
	}
	return rank
}
