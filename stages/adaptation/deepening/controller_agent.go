package deepening

import (
	"embed"

	"github.com/tfexp/tfexp/experiments/schema"
)

var _ = Register(Kind{
	Rank: 10, Name: "agent", Random: true, Learns: true,
	Doc: "A policy network that has learned by REINFORCE. Without `train_on`, `curriculum` and `leave_out` it has " +
		"learned on the scenario in which it decides: there is one agent for each scenario and seed.",
	Args: append(schema.Described[AgentArgs](source),
		runsArg("the sequence that it would take, then by those that promise to improve most on the best run")),
	New: func(w DecisionInputs) Decider {
		if w.Controller.Runs == 0 {
			return agentDecider(w)
		}
		first := sequenceOf(w.Table, agentDecider(w))
		if len(w.Others) == 0 {
			return fixedSequence(w.Table, searchSequences(w, first, newDesign(w.Table.Decisions,
				w.Table.Actions).guessedModels()...))
		}
		return fixedSequence(w.Table, searchSequences(w, first, newEffects(w.Others).newScenarioModels()...))
	},
})

type agentDecider DecisionInputs

// Probabilities implements Decider.
func (l agentDecider) Probabilities(decision, before int) []float64 {
	return l.Weights.Probabilities(l.Table.State(decision, before), 1)
}

// ProbabilitiesIn implements Observer.
func (l agentDecider) ProbabilitiesIn(s DecisionState) []float64 {
	return l.Weights.Probabilities(s, 1)
}

//go:embed controller_agent.go
var source embed.FS

// AgentArgs are the arguments of a controller block for an agent.
type AgentArgs struct {
	// The scenarios on which it learns, all at once.
	//
	// Default: the scenario in which it decides.
	//
	//	train_on = ["early", "late"]
	TrainOn []string `arg:"train_on"`
	// Learns on all scenarios (of `train_on`) but the one in which it decides, so that it decides in one that it has
	// never seen.
	//
	//	leave_out = true
	LeaveOut bool `arg:"leave_out" default:"false"`
	// Learns from the expected accuracy of sequences, by the effects of their decisions in all scenarios on which it
	// learns, and not from single trainings: much of their accuracy is noise, which another scenario does not repeat.
	//
	// Default: true with `leave_out`, else false.
	//
	//	smooth = false
	Smooth *bool `arg:"smooth"`
	// The scenarios on which it learns, one after the other: `episodes` on the first, `next_episodes` on each other.
	//
	// Default: none.
	//
	//	curriculum = ["early", "late", "middle"]
	Curriculum []string `arg:"curriculum"`
	// The name of another agent of this block, with whose weights it begins.
	//
	// Default: random weights.
	//
	//	transfer_from = "unseen"
	TransferFrom string `arg:"transfer_from"`
	// How many trainings it learns from.
	//
	// Default: 75000, or 10000 with `transfer_from`.
	//
	//	episodes = 30000
	Episodes int `arg:"episodes" min:"1" max:"100000000"`
	// How many it learns from on each further scenario of a `curriculum`.
	//
	//	next_episodes = 5000
	NextEpisodes int `arg:"next_episodes" default:"10000" min:"1" max:"100000000"`
	// The number of trainings between two steps of its weights.
	//
	//	batch = 64
	Batch int `arg:"batch" default:"32" min:"2" max:"100000"`
	// Adam's step size. Each 500 episodes it is multiplied by 0.99.
	//
	//	rate = 0.0003
	Rate float64 `arg:"rate" default:"0.0001" min:"1e-9" max:"1"`
	// How evenly it tries actions at first. The temperature falls to 1 in half of the episodes.
	//
	//	temperature = 1.5
	Temperature float64 `arg:"temperature" default:"2" min:"1" max:"1000"`
}
