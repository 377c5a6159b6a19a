package deepening

import (
	"strings"
	"time"
)

// RealTrainings describes the real trainings of a study: by every sequence, or with decisions of its controllers.
type RealTrainings struct {
	// Scenarios are the scenarios of changing resources, in the order of the file.
	Scenarios []Scenario
	// Decisions is the number of decisions in a training. Blocks is the number of blocks that can be deepened. Budget
	// is the greatest time of a training.
	Decisions, Blocks int
	Budget            time.Duration
	// At has the service time of each decision. If it is nil, decisions follow the ends of the first epochs after the
	// scenario's first change.
	At []time.Duration
	// Exhaustive reports whether the job is trained by every sequence, which makes the table.
	Exhaustive bool
	// Repeats is the number of real trainings in which each controller decides.
	Repeats int
}

// Scenario is one scenario of real trainings. First is the time of its first change; 0 without changes.
type Scenario struct {
	Name  string
	First time.Duration
}

// Sequences returns the number of different sequences in a scenario.
func (r *RealTrainings) Sequences() int {
	n := 1
	for range r.Decisions {
		n *= r.Blocks + 1
	}
	return n
}

var _ = Register(Kind{
	Rank: 5, Name: "exhaustive", Makes: true,
	Doc: "Really trains a network by every sequence of actions, and writes the outcomes to `table.csv`. " +
		"It decides nothing, so it is not ranked. It needs `job`.",
	New: func(w DecisionInputs) Decider { return fixedSequence(w.Table, 0) },
})

// RealDecisions has the decisions of a controller in one real training, and their results.
type RealDecisions struct {
	Controller *Controller
	Scenario   string
	Seed       int // from 1
	// Runs is the number of trainings that the controller used before this one.
	Runs int
	// Dir is the folder of the training.
	Dir string
	// Decisions are fewer than in the study if the budget ended before the last one.
	Decisions []RealDecision
	// Accuracy is the final accuracy. Recorded is the accuracy of the same sequence in the table; NaN if the table
	// lacks it.
	Accuracy, Recorded float64
}

// RealTraining is a row of courses.csv: the course of one real training. Times are in seconds of service.
type RealTraining struct {
	// Controller is empty if the training followed a sequence of the table.
	Adaptation string  `csv:"adaptation"`
	Controller string  `csv:"controller"`
	Scenario   string  `csv:"scenario"`
	Seed       int     `csv:"seed"`
	Sequence   string  `csv:"sequence"`
	Accuracy   float64 `csv:"accuracy"`
	// Trained is the time at which the program stopped training. Step is the median time of a step. NaN means unknown.
	Budget  float64 `csv:"budget_s,time"`
	Trained float64 `csv:"trained_s"`
	Step    float64 `csv:"step_s"`
	// Decided has the time of each decision. Times and Accuracies have the end and the accuracy of each epoch.
	Decided    []float64 `csv:"decided_s"`
	Times      []float64 `csv:"times_s"`
	Accuracies []float64 `csv:"accuracies"`
	// Told has for each report of the program the remaining budget by the program's clock minus that by the scheduler's
	// clock. Deepening has the time that the program took to add each layer. Both are in seconds.
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
	// Before is the last accuracy reported before the decision, and After the first one after it.
	Before, After float64
}

// Actions returns the actions that the controller chose.
func (c *RealDecisions) Actions() []int {
	var list []int
	for _, d := range c.Decisions {
		list = append(list, d.Action)
	}
	return list
}
