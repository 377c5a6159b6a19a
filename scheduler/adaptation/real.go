package adaptation

import "time"

// Real says how the networks of a study are trained for real: by sequences, or by
// decisions of its controllers during the training.
type Real struct {
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

// Scenario is one of them. First is its first change; 0 without any.
type Scenario struct {
	Name  string
	First time.Duration
}

// Sequences returns the number of sequences in a scenario.
func (r *Real) Sequences() int {
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
	New: func(w World) Decider { return follow(w.Table, 0) },
})

// Chosen is a controller's decisions in a real training, and their results.
type Chosen struct {
	Controller *Controller
	Scenario   string
	Seed       int // from 1
	// Runs is the number of trainings that it used before.
	Runs int
	// Dir is the folder of the training.
	Dir string
	// There are fewer Decisions than in the study if the budget ended before.
	Decisions []Decided
	// Accuracy is the final one; Recorded is the accuracy of the same sequence in the
	// table, NaN if it has none.
	Accuracy, Recorded float64
}

// Trained is the record of one real training. Times are in seconds of service time.
type Trained struct {
	// Controller is nil for a training by a sequence of the table.
	Controller *Controller
	Scenario   string
	Seed       int // 0 for a sequence
	// Actions are those that were taken, and Decided when.
	Actions []int
	Decided []float64
	// Times and Accuracies are the values of the epochs, as the program reported them; Final is its last
	// accuracy.
	Times, Accuracies []float64
	Final             float64
	// Trained is when the program stopped training, NaN if it does not say; Step is the median time of a step.
	Trained, Step float64
	// Told is, at each report, the remaining budget according to the program, minus that according to the
	// scheduler.
	Told []float64
	// Deepening is the program's time to add each layer.
	Deepening []float64
}

// Decided is one decision in a real training.
type Decided struct {
	TimeLeft      float64 // seconds
	Probabilities []float64
	Action        int
	// Before and After are the accuracies that the program reported last before the
	// decision, and first after it.
	Before, After float64
}

// Actions are the actions that were taken.
func (c *Chosen) Actions() []int {
	var list []int
	for _, d := range c.Decisions {
		list = append(list, d.Action)
	}
	return list
}
