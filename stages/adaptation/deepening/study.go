package deepening

import (
	"math"
	"slices"
)

// Study is a table of recorded trainings, and the controllers that are compared on it.
type Study struct {
	Name string
	// File is the name of the table, and Digest the hash of its content.
	File, Digest string
	// Tables has one table for each scenario, in the order of the file.
	Tables []*OutcomeTable
	// Budget is the time budget of a training in seconds: the greatest in the table.
	Budget float64
	// Seeds is the number of repetitions of controllers that decide at random or learn.
	Seeds       int
	Controllers []*Controller
	// Real describes the real trainings; nil for a study of a recorded table. Such a study has no Tables until its
	// sequences have been trained.
	Real *RealTrainings `json:",omitempty"`
	// Chosen are the decisions of controllers in real trainings; empty until these have ended.
	Chosen []RealDecisions `json:"-"`
	// Trained are the courses of all real trainings of the study.
	Trained []RealTraining `json:"-"`
}

// Dimensions returns the number of decisions of a training, and the number of actions at each decision.
func (s *Study) Dimensions() (decisions, actions int) {
	if s.Real != nil {
		return s.Real.Decisions, s.Real.Blocks + 1
	}
	return s.Tables[0].Decisions, s.Tables[0].Actions
}

// ScenarioNames returns the names of the scenarios of the table, also if trainings have not made it yet.
func (s *Study) ScenarioNames() []string {
	var names []string
	for _, t := range s.Tables {
		names = append(names, t.Name)
	}
	if names == nil && s.Real != nil {
		for _, c := range s.Real.Scenarios {
			names = append(names, c.Name)
		}
	}
	return names
}

// Controller is one controller and its settings.
type Controller struct {
	Name, Kind string
	// Sequence is the sequence of a constant controller. Runs is the number of runs of a search.
	Sequence []int
	Runs     int
	// Learn describes an agent's learning; nil for other controllers.
	Learn *AgentLearning
}

// AgentLearning describes how an agent learns.
type AgentLearning struct {
	TrainOn, Curriculum []string
	LeaveOut            bool
	// Smooth makes the agent learn from smoothed accuracies; see Smoothed.
	Smooth   bool
	From     *Controller
	Settings Settings
	// Next is the number of episodes on each scenario of a curriculum after the first.
	Next int
}

// TrainingLesson is a part of an agent's training: some episodes on some scenarios.
type TrainingLesson struct {
	Scenarios []string
	Settings  Settings
	Smooth    bool
}

// Lessons returns the lessons, in order, of an agent that will decide in the given scenario.
func (l *AgentLearning) Lessons(s *Study, scenario string) []TrainingLesson {
	var lessons []TrainingLesson
	if l.From != nil {
		lessons = l.From.Learn.Lessons(s, scenario)
	}
	if len(l.Curriculum) > 0 {
		for i, name := range l.Curriculum {
			set := l.Settings
			if i > 0 {
				set.Episodes = l.Next
			}
			lessons = append(lessons, TrainingLesson{[]string{name}, set, l.Smooth})
		}
		return lessons
	}
	on := []string{scenario}
	if len(l.TrainOn) > 0 || l.LeaveOut {
		on = slices.Clone(l.TrainOn)
	}
	if len(on) == 0 {
		for _, t := range s.Tables {
			on = append(on, t.Name)
		}
	}
	if l.LeaveOut {
		on = slices.DeleteFunc(on, func(name string) bool { return name == scenario })
	}
	return append(lessons, TrainingLesson{on, l.Settings, l.Smooth})
}

// Scenario returns the table with the given name; nil if it is unknown.
func (s *Study) Scenario(name string) *OutcomeTable {
	i := slices.IndexFunc(s.Tables, func(t *OutcomeTable) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return s.Tables[i]
}

// KnewScenario reports whether a controller has learned or tried sequences in the scenario in which it decides.
func (s *Study) KnewScenario(c *Controller, scenario string) bool {
	k, _ := KindByName(c.Kind)
	if k.Oracle || c.Runs > 0 {
		return true
	}
	if c.Learn == nil {
		return false
	}
	for _, l := range c.Learn.Lessons(s, scenario) {
		if slices.Contains(l.Scenarios, scenario) {
			return true
		}
	}
	return false
}

// PlayedDecisions are the decisions of a controller in a scenario of a table.
type PlayedDecisions struct {
	// Sequence is the index of the actions. Probabilities has the probability of each action, by decision.
	Sequence      int
	Probabilities [][]float64
	// Runs is the number of trainings that the controller used before it decided.
	Runs int
}

// Play lets a controller decide in a scenario. Seeds begin at 1. weights are an agent's weights; nil for other
// controllers.
func (s *Study) Play(c *Controller, scenario *OutcomeTable, seed int, weights *Network) PlayedDecisions {
	k, _ := KindByName(c.Kind)
	var out PlayedDecisions
	w := DecisionInputs{
		Table: scenario, Controller: c, Seed: uint64(seed), Weights: weights,
		Run: func(sequence int) float64 {
			out.Runs++
			return scenario.Accuracy[sequence]
		},
	}
	for _, t := range s.Tables {
		if t != scenario {
			w.Others = append(w.Others, t)
		}
	}
	d := k.New(w)
	for decision := range scenario.Decisions {
		probs := d.Probabilities(decision, out.Sequence)
		out.Probabilities = append(out.Probabilities, probs)
		out.Sequence = out.Sequence*scenario.Actions + MostLikelyAction(probs)
	}
	return out
}

// SeedsOf returns the number of repetitions of a controller: 1 unless its decisions depend on the seed.
func (s *Study) SeedsOf(c *Controller) int {
	if k, _ := KindByName(c.Kind); k.Random {
		return s.Seeds
	}
	return 1
}

// Regret returns by how much the accuracy of a sequence is below the best of its table.
func Regret(t *OutcomeTable, sequence int) float64 {
	return math.Max(0, t.Best()-t.Accuracy[sequence])
}
