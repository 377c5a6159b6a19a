// Package deepening has the controllers that decide when to deepen a network that trains under a time budget. They
// search recorded trainings, follow heuristics, or have learned a policy network.
package deepening

import (
	"github.com/tfexp/tfexp/experiments/schema"
)

// Kind is a kind of controller.
type Kind struct {
	// Rank orders the kinds, the lowest first.
	Rank int
	// Name is the label of its block, as in controller "agent" {}.
	Name string
	// Doc is a sentence about how the kind decides.
	Doc string
	// Args are the arguments of this kind alone.
	Args []schema.Arg
	// Elsewhere reports whether the kind decides by recorded runs of other scenarios. It then needs a table with at
	// least two.
	Elsewhere bool
	// Random reports whether decisions differ between seeds.
	Random bool
	// Oracle reports whether the kind reads data that is unknown until all trainings have ended.
	Oracle bool
	// Makes reports whether the kind makes the table instead of deciding.
	Makes bool
	// Learns reports whether the kind decides by the weights of an agent.
	Learns bool
	// New returns a decider for one scenario.
	New func(DecisionInputs) Decider
}

// DecisionInputs is the information that a controller can use to decide.
type DecisionInputs struct {
	// Table is the table of the scenario in which the controller decides. Others are the tables of the other scenarios.
	Table  *OutcomeTable
	Others []*OutcomeTable
	// Controller has the controller's settings.
	Controller *Controller
	Seed       uint64
	// Weights are the weights of a trained agent; nil for kinds that do not learn.
	Weights *Network
	// Run trains a network by the sequence with the given index, and returns its accuracy. The number of runs is
	// recorded.
	Run func(sequence int) float64
}

// Decider decides during one training.
type Decider interface {
	// Probabilities returns the probability of each action at a decision; before is the index of the actions before it.
	// The action with the greatest probability is taken.
	Probabilities(decision, before int) []float64
}

var kinds = schema.NewRegistry("adaptation: controller", func(k Kind) string { return k.Name },
	func(k Kind) int { return k.Rank })

// Register adds a kind of controller. It panics if the name is taken.
func Register(k Kind) Kind { return kinds.Add(k) }

// Kinds returns all kinds in the order of their ranks.
func Kinds() []Kind { return kinds.All() }

// KindByName returns the kind with the given name; false if it is unknown.
func KindByName(name string) (Kind, bool) { return kinds.Find(name) }

// certain returns probabilities that are 0, except 1 for one action.
func certain(actions, action int) []float64 {
	p := make([]float64, actions)
	p[action] = 1
	return p
}

// fixedDecider takes the actions of one sequence in every state.
type fixedDecider struct {
	actions  int
	sequence []int
}

func (f fixedDecider) Probabilities(decision, _ int) []float64 {
	return certain(f.actions, f.sequence[decision])
}

// fixedSequence returns a decider that takes the actions of a sequence of a table.
func fixedSequence(t *OutcomeTable, sequence int) Decider {
	return fixedDecider{t.Actions, t.Sequence(sequence)}
}
