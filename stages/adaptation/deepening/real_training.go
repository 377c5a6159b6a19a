package deepening

import (
	"strings"
	"time"
)

// RealTrainings says how the networks of a study are trained for real: by sequences, or by
// decisions of its controllers during the training.
type RealTrainings struct {
	// Scenarios are the ways in which resources change, in the order of the file.
	Scenarios []Scenario
	// Decisions is the number of decisions in a training, Blocks the number of
	// blocks that can be deepened; Budget is the greatest time of each
	// training.
	Decisions, Blocks int
	Budget            time.Duration
	// At are the times of the decisions, as service time; nil for the first epochs that
	// end after the first change of a scenario.
	At []time.Duration
	// Exhaustive is set when every sequence is trained, which makes the table.
	Exhaustive bool
	// Repeats is how often each controller decides in real training.
	Repeats int
}

// Scenario is one scenario of a real training. First is its first change; 0 without any.
type Scenario struct {
	Name  string
	First time.Duration
}

// Sequences returns the number of sequences in a scenario.
func (r *RealTrainings) Sequences() int {
	n := 1
	for range r.Decisions {
		n *= r.Blocks + 1
	}
	return n
}

var _ = Register(Kind{
	Rank: 5, Name: "exhaustive", Makes: true,
	Doc: "Trains a network by every sequence of actions, for real, and leaves the table of what came of it: " +
		"`table.csv`. It is no answer itself, so it is not ranked. It needs `job`.",
	New: func(w DecisionInputs) Decider { return fixedSequence(w.Table, 0) },
})

// RealDecisions is a controller's decisions in a real training, and their results.
type RealDecisions struct {
	Controller *Controller
	Scenario   string
	Seed       int // from 1
	// Runs is the number of trainings that it used before.
	Runs int
	// Dir is the folder of the training.
	Dir string
	// There are fewer Decisions than in the study if the budget ended before.
	Decisions []RealDecision
	// Accuracy is the final one; Recorded is the accuracy of the same sequence in the
	// table, NaN if it has none.
	Accuracy, Recorded float64
}

// RealTraining is a row of courses.csv, the course of one real training. Times are in seconds of service time.
type RealTraining struct {
	// Controller is empty for a training by a sequence of the table.
	Adaptation string  `csv:"adaptation"`
	Controller string  `csv:"controller"`
	Scenario   string  `csv:"scenario"`
	Seed       int     `csv:"seed"`
	Sequence   string  `csv:"sequence"`
	Accuracy   float64 `csv:"accuracy"`
	// Trained is when the program stopped training, of Budget; Step how long a step took, the median. NaN: not known.
	Budget  float64 `csv:"budget_s,time"`
	Trained float64 `csv:"trained_s"`
	Step    float64 `csv:"step_s"`
	// Decided are the times of decisions, Times and Accuracies the times and accuracies of the epochs.
	Decided    []float64 `csv:"decided_s"`
	Times      []float64 `csv:"times_s"`
	Accuracies []float64 `csv:"accuracies"`
	// Told has, for each report of the program, by how many seconds its remaining budget is above the one by the
	// scheduler's clock. Deepening has the seconds that the program took to add each layer.
	Told      []float64 `csv:"told_more_s"`
	Deepening []float64 `csv:"deepening_s"`
}

// Actions returns the actions of the sequence.
func (t *RealTraining) Actions() []string { return strings.Fields(t.Sequence) }

// RealDecision is one decision in a real training.
type RealDecision struct {
	TimeLeft      float64 // seconds
	Probabilities []float64
	Action        int
	// Before and After are the accuracies that the program reported last before the
	// decision, and first after it.
	Before, After float64
}

// Actions are the actions that were taken.
func (c *RealDecisions) Actions() []int {
	var list []int
	for _, d := range c.Decisions {
		list = append(list, d.Action)
	}
	return list
}
