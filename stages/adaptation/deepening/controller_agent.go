package deepening

import (
	"embed"

	"github.com/tfexp/tfexp/experiments/schema"
)

var _ = Register(Kind{
	Rank: 10, Name: "agent", Random: true, Learns: true,
	Doc: "A policy network that the algorithm REINFORCE trains. Without `train_on`, `curriculum` and " +
		"`leave_out`, there is one agent for each scenario and seed, trained on the scenario in which it " +
		"decides.",
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
	// The scenarios on which the agent learns at the same time.
	//
	// Default: the scenario in which it decides.
	//
	//	train_on = ["early", "late"]
	TrainOn []string `arg:"train_on"`
	// Whether the agent learns only on the other scenarios, and decides in a scenario that it has never seen.
	//
	//	leave_out = true
	LeaveOut bool `arg:"leave_out" default:"false"`
	// Whether the agent learns from the expected accuracy of sequences, instead of the noisy accuracy of single
	// trainings.
	//
	// Default: true with `leave_out`, else false.
	//
	//	smooth = false
	Smooth *bool `arg:"smooth"`
	// The scenarios on which the agent learns one after the other: `episodes` on the first, `next_episodes` on each
	// other.
	//
	// Default: none.
	//
	//	curriculum = ["early", "late", "middle"]
	Curriculum []string `arg:"curriculum"`
	// The name of another agent of this block, whose weights the agent begins with.
	//
	// Default: random weights.
	//
	//	transfer_from = "unseen"
	TransferFrom string `arg:"transfer_from"`
	// The number of trainings from which the agent learns.
	//
	// Default: 75000, or 10000 with `transfer_from`.
	//
	//	episodes = 30000
	Episodes int `arg:"episodes" min:"1" max:"100000000"`
	// The number of trainings on each further scenario of a `curriculum`.
	//
	//	next_episodes = 5000
	NextEpisodes int `arg:"next_episodes" default:"10000" min:"1" max:"100000000"`
	// The number of trainings between two updates of the agent's weights.
	//
	//	batch = 64
	Batch int `arg:"batch" default:"32" min:"2" max:"100000"`
	// The step size of the optimizer Adam. Each 500 episodes it is multiplied by 0.99.
	//
	//	rate = 0.0003
	Rate float64 `arg:"rate" default:"0.0001" min:"1e-9" max:"1"`
	// How evenly the agent tries all actions at first. The temperature falls to 1 in half of the episodes.
	//
	//	temperature = 1.5
	Temperature float64 `arg:"temperature" default:"2" min:"1" max:"1000"`
}
