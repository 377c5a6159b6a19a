// Package adaptation has the controllers that decide when to deepen a network that
// trains under a time budget: searches over recorded trainings, heuristics, and agents
// that learn a policy network.
package adaptation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
)

// Kind is a kind of controller.
type Kind struct {
	// Rank is its place among the kinds, the lowest first.
	Rank int
	// Name is the label of its block: controller "agent" {}.
	Name string
	// Doc says what it decides by, as a sentence.
	Doc string
	// Args are its own arguments.
	Args []schema.Arg
	// Elsewhere says that it decides by what is recorded of other scenarios, so
	// that it needs a table with at least two.
	Elsewhere bool
	// Random says that it decides differently under each seed.
	Random bool
	// Oracle says that it reads what no controller can know before the end.
	Oracle bool
	// Makes says that it makes the table, and decides nothing itself.
	Makes bool
	// Learns says that it decides by the weights of an agent.
	Learns bool
	// New returns what decides in a scenario.
	New func(World) Decider
}

// World is what a controller may read before it decides.
type World struct {
	// Table is the scenario in which it decides; Others are those beside it.
	Table  *AgentTable
	Others []*AgentTable
	// Controller has the settings.
	Controller *Controller
	Seed       uint64
	// Weights are those of a trained agent, for the kinds that learn.
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

var registered []Kind

// Register adds a kind of controller. It is called from init functions, and
// panics when one of that name exists.
func Register(k Kind) {
	if _, ok := ByName(k.Name); ok || k.New == nil {
		panic(fmt.Sprintf("adapt: the controller %q is there already, or makes nothing", k.Name))
	}
	registered = append(registered, k)
	slices.SortStableFunc(registered, func(a, b Kind) int {
		if a.Rank != b.Rank {
			return a.Rank - b.Rank
		}
		return strings.Compare(a.Name, b.Name)
	})
}

// Kinds lists the kinds in their order.
func Kinds() []Kind { return slices.Clone(registered) }

// ByName finds a kind.
func ByName(name string) (Kind, bool) {
	i := slices.IndexFunc(registered, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return Kind{}, false
	}
	return registered[i], true
}

// sure takes one action with certainty.
func sure(actions, action int) []float64 {
	p := make([]float64, actions)
	p[action] = 1
	return p
}

// fixed takes the actions of a sequence, whatever happens.
type fixed struct {
	actions  int
	sequence []int
}

func (f fixed) Probabilities(decision, _ int) []float64 { return sure(f.actions, f.sequence[decision]) }

// follow returns what takes the actions of a sequence of a table.
func follow(t *AgentTable, sequence int) Decider { return fixed{t.Actions, t.Sequence(sequence)} }
