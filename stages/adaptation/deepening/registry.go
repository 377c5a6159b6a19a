// Package deepening has the controllers that decide when to deepen a network that
// trains under a time budget: searches over recorded trainings, heuristics, and agents
// that learn a policy network.
package deepening

import (
	"github.com/tfexp/tfexp/experiments/schema"
)

// Kind is a kind of controller.
type Kind struct {
	// Rank is its place among the kinds, the lowest first.
	Rank int
	// Name is the label of its block: controller "agent" {}.
	Name string
	// Doc describes the basis of its decisions, as a sentence.
	Doc string
	// Args are its own arguments.
	Args []schema.Arg
	// Elsewhere says that it decides by recorded runs of other scenarios, so
	// that it needs a table with at least two.
	Elsewhere bool
	// Random says that it decides differently under each seed.
	Random bool
	// Oracle says that it reads data that no controller can know before the end.
	Oracle bool
	// Makes says that it makes the table, and decides nothing itself.
	Makes bool
	// Learns says that it decides by the weights of an agent.
	Learns bool
	// New returns the decider for a scenario.
	New func(DecisionInputs) Decider
}

// DecisionInputs is the information that a controller may read before it decides.
type DecisionInputs struct {
	// Table is the scenario in which it decides; Others are the other scenarios.
	Table  *OutcomeTable
	Others []*OutcomeTable
	// Controller has the settings.
	Controller *Controller
	Seed       uint64
	// Weights are the weights of a trained agent, for the kinds that learn.
	Weights *Network
	// Run trains a network by a sequence, and returns its accuracy. Runs are counted.
	Run func(sequence int) float64
}

// Decider decides during one training.
type Decider interface {
	// Probabilities returns how likely it is to take each action at a decision,
	// by the index of the actions before it. It takes the likeliest one.
	Probabilities(decision, before int) []float64
}

var kinds = schema.NewRegistry("adaptation: controller", func(k Kind) string { return k.Name },
	func(k Kind) int { return k.Rank })

// Register adds a kind of controller. It panics when one of that name exists.
func Register(k Kind) Kind { return kinds.Add(k) }

// Kinds lists the kinds in their order.
func Kinds() []Kind { return kinds.All() }

// KindByName finds a kind.
func KindByName(name string) (Kind, bool) { return kinds.Find(name) }

// certain takes one action with certainty.
func certain(actions, action int) []float64 {
	p := make([]float64, actions)
	p[action] = 1
	return p
}

// fixedDecider takes the actions of a sequence, whatever happens.
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
