package deepening

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/tfexp/tfexp/scheduler/control"
)

// LiveController is the name of the controller that deepens a network while it trains, as a Decider decides. LiveInputs
// are its options.
const LiveController = "deepening"

// LiveInputs are the inputs of a live controller.
type LiveInputs struct {
	Decider Decider
	Real    *RealTrainings
	// Scenario is the index in RealTrainings.Scenarios of the scenario in which the network trains.
	Scenario int
}

// courseOption is the key of the LiveInputs in control.Options.
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
	made, before int // number of decisions so far, and the index of their actions
}

// StateDecider is a Decider that decides by the state of the training, and not by a state of the table.
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

// due reports whether the next decision must be made now.
func (l *liveController) due(r *control.Report) bool {
	if r.Epoch == 0 && r.Step == 0 {
		return false // the network has not trained yet
	}
	if l.Real.At != nil {
		return r.Used >= l.Real.At[l.made]
	}
	return r.Used >= l.Real.Scenarios[l.Scenario].First
}

// time returns the part of the budget that is used, from 0 to 1.
func (l *liveController) time(r *control.Report) float64 {
	return math.Min(float64(r.Used)/float64(max(l.Real.Budget, time.Nanosecond)), 1)
}

// MostLikelyAction returns the action with the greatest probability, the first of several.
func MostLikelyAction(probs []float64) int {
	best := 0
	for a, p := range probs {
		if p > probs[best] {
			best = a
		}
	}
	return best
}

// SequenceDecider returns a decider that takes the actions of the sequence with the given index.
func SequenceDecider(r *RealTrainings, index int) Decider {
	t := OutcomeTable{Decisions: r.Decisions, Actions: r.Blocks + 1}
	return fixedSequence(&t, index)
}
