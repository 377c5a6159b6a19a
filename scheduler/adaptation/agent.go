package adaptation

import (
	"github.com/tfexp/tfexp/experiments/schema"
)

var _ = Register(Kind{
	Rank: 10, Name: "agent", Random: true, Learns: true,
	Doc: "A policy network that has learned by REINFORCE. Without `train_on`, `curriculum` and `leave_out` it has " +
		"learned on the scenario in which it decides: there is one agent a scenario and seed.",
	Args: []schema.Arg{
		{
			Name: "train_on", Type: schema.Strings, DefaultDoc: "the scenario in which it decides",
			Doc: "The scenarios on which it learns, all at once.", Example: `["early", "late"]`,
		},
		{
			Name: "leave_out", Type: schema.Bool, Default: "false", Example: "true",
			Doc: "Learns on all scenarios (of `train_on`) but the one in which it decides, so that it decides in " +
				"one that it has never seen.",
		},
		{
			Name: "smooth", Type: schema.Bool, DefaultDoc: "true with `leave_out`, else false", Example: "false",
			Doc: "Learns on what sequences are expected to come to, by the effects of their decisions in all " +
				"scenarios on which it learns, and not on single trainings: much of what these show is noise, " +
				"which another scenario does not repeat.",
		},
		{
			Name: "curriculum", Type: schema.Strings, DefaultDoc: "none", Example: `["early", "late", "middle"]`,
			Doc: "The scenarios on which it learns, one after the other: `episodes` on the first, " +
				"`next_episodes` on each other.",
		},
		{
			Name: "transfer_from", Type: schema.String, DefaultDoc: "random weights", Example: `"unseen"`,
			Doc: "The name of another agent of this block, with whose weights it begins.",
		},
		{
			Name: "episodes", Type: schema.Integer, DefaultDoc: "75000, or 10000 with `transfer_from`",
			Min: schema.Limit(1), Max: schema.Limit(100_000_000), Doc: "How many trainings it learns from.",
			Example: "30000",
		},
		{
			Name: "next_episodes", Type: schema.Integer, Default: "10000", Min: schema.Limit(1),
			Max: schema.Limit(100_000_000), Example: "5000",
			Doc: "How many it learns from on each further scenario of a `curriculum`.",
		},
		{
			Name: "batch", Type: schema.Integer, Default: "32", Min: schema.Limit(2), Max: schema.Limit(100_000),
			Doc: "The number of trainings between two steps of its weights.", Example: "64",
		},
		{
			Name: "rate", Type: schema.Number, Default: "0.0001", Min: schema.Limit(1e-9), Max: schema.Limit(1),
			Doc: "Adam's step size. Each 500 episodes it is multiplied by 0.99.", Example: "0.0003",
		},
		{
			Name: "temperature", Type: schema.Number, Default: "2", Min: schema.Limit(1), Max: schema.Limit(1000),
			Doc:     "How evenly it tries actions at first. The temperature falls to 1 in half of the episodes.",
			Example: "1.5",
		},
		runsArg("it is most likely to take"),
	},
	New: func(w World) Decider {
		if n := w.Controller.Runs; n > 0 {
			return follow(w.Table, bestOf(w, likeliest(w.Table, learned(w), n)))
		}
		return learned(w)
	},
})

type learned World

// Probabilities implements Decider.
func (l learned) Probabilities(decision, before int) []float64 {
	return l.Weights.Probabilities(l.Table.State(decision, before), 1)
}

// ProbabilitiesIn implements Observer.
func (l learned) ProbabilitiesIn(s AgentState) []float64 { return l.Weights.Probabilities(s, 1) }
