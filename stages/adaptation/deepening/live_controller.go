package deepening

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/tfexp/tfexp/scheduler/control"
)

// LiveController is the name of the controller that deepens networks while they train: it lets a
// Decider decide. Its options have LiveInputs.
const LiveController = "deepening"

// LiveInputs has the inputs of a live controller.
type LiveInputs struct {
	Decider Decider
	Real    *RealTrainings
	// Scenario is the scenario of RealTrainings in which the network trains.
	Scenario int
}

// courseOption is the name of the course among the options of the controller.
const courseOption = "course"

// Options returns the options of a live controller.
func (c *LiveInputs) Options() control.Options {
	return control.Options{Values: map[string]any{courseOption: c}}
}

var _ = control.Register(control.Choice{
	Name: LiveController,
	New: func(o control.Options) (control.Controller, error) {
		c, ok := o.Values[courseOption].(*LiveInputs)
		if !ok || c.Decider == nil || c.Real == nil {
			return nil, errors.New("there is nothing to decide by")
		}
		return &liveController{LiveInputs: c}, nil
	},
})

// liveController decides during one real training.
type liveController struct {
	*LiveInputs
	made, before int // decisions so far, and the index of their actions
}

// StateDecider is a Decider that reads the state of the training itself, not the state in the
// table.
type StateDecider interface {
	ProbabilitiesIn(DecisionState) []float64
}

// Decide implements control.Controller.
func (l *liveController) Decide(r control.Report) control.Action {
	if l.made == l.Real.Decisions || !l.due(&r) || r.Left == 0 {
		return control.Action{}
	}
	actions := l.Real.Blocks + 1
	var probs []float64
	if o, ok := l.Decider.(StateDecider); ok {
		t := OutcomeTable{Decisions: l.Real.Decisions, Actions: actions}
		probs = o.ProbabilitiesIn(DecisionState{Layers: t.Layers(l.made, l.before), Time: l.time(&r)})
	} else {
		probs = l.Decider.Probabilities(l.made, l.before)
	}
	action := MostLikelyAction(probs)
	l.made++
	l.before = l.before*actions + action
	out := control.Action{
		Probabilities: probs, Reason: fmt.Sprintf("decision %d of %d: action %d", l.made, l.Real.Decisions, action),
	}
	if action < l.Real.Blocks {
		out.Deepen = &action
	}
	return out
}

// due reports whether it is time for the next decision.
func (l *liveController) due(r *control.Report) bool {
	if r.Epoch == 0 && r.Step == 0 {
		return false // it has not trained yet
	}
	if l.Real.At != nil {
		return r.Used >= l.Real.At[l.made]
	}
	return r.Used >= l.Real.Scenarios[l.Scenario].First
}

// time is the part of the budget that is used.
func (l *liveController) time(r *control.Report) float64 {
	return math.Min(float64(r.Used)/float64(max(l.Real.Budget, time.Nanosecond)), 1)
}

// MostLikelyAction is the first of the actions with the greatest probability.
func MostLikelyAction(probs []float64) int {
	best := 0
	for a, p := range probs {
		if p > probs[best] {
			best = a
		}
	}
	return best
}

// SequenceDecider returns a decider that takes the actions of a sequence, by its index.
func SequenceDecider(r *RealTrainings, index int) Decider {
	t := OutcomeTable{Decisions: r.Decisions, Actions: r.Blocks + 1}
	return fixedSequence(&t, index)
}
