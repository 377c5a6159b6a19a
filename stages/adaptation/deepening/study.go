package deepening

import (
	"math"
	"slices"
)

// Study is a table of recorded trainings with the controllers that are compared
// on it.
type Study struct {
	Name string
	// File is the table's name, Digest the hash of its content.
	File, Digest string
	// Tables has one for each scenario, in the order of the file.
	Tables []*OutcomeTable
	// Budget is the time that a training has, in seconds: the greatest of the table.
	Budget float64
	// Seeds is the number of repetitions of random parts.
	Seeds       int
	Controllers []*Controller
	// Real says how networks are trained for real; nil where the table is all there is.
	// Until its sequences have been trained, such a study has no tables.
	Real *RealTrainings `json:",omitempty"`
	// Chosen are the decisions of controllers in real trainings, once these are over.
	Chosen []RealDecisions `json:"-"`
	// Trained are the records of all of its real trainings.
	Trained []RealTraining `json:"-"`
}

// Dimensions are the number of decisions of a training, and of the actions between which
// each decides.
func (s *Study) Dimensions() (decisions, actions int) {
	if s.Real != nil {
		return s.Real.Decisions, s.Real.Blocks + 1
	}
	return s.Tables[0].Decisions, s.Tables[0].Actions
}

// ScenarioNames returns the scenario names of the table, or of the table to be made.
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

// Controller is one controller with its settings.
type Controller struct {
	Name, Kind string
	// Sequence is the sequence of a constant controller, Runs the runs of a search.
	Sequence []int
	Runs     int
	// Learn says how an agent learns; nil for others.
	Learn *AgentLearning
}

// AgentLearning says how an agent learns.
type AgentLearning struct {
	TrainOn, Curriculum []string
	LeaveOut            bool
	// Smooth says that it learns on smoothed accuracies; see Smoothed.
	Smooth   bool
	From     *Controller
	Settings Settings
	// Next is the number of episodes on each further scenario of a curriculum.
	Next int
}

// TrainingLesson is one stretch of an agent's training.
type TrainingLesson struct {
	Scenarios []string
	Settings  Settings
	Smooth    bool
}

// Lessons returns the lessons of an agent before it decides in a scenario, in order.
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

// Scenario returns the table of a name, or nil.
func (s *Study) Scenario(name string) *OutcomeTable {
	i := slices.IndexFunc(s.Tables, func(t *OutcomeTable) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return s.Tables[i]
}

// KnewScenario reports whether a controller has learned or tried in the scenario in
// which it decides.
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

// PlayedDecisions is a controller's decisions in a scenario.
type PlayedDecisions struct {
	// Sequence is the index of its sequence; Probabilities has the probabilities of
	// the actions at each decision.
	Sequence      int
	Probabilities [][]float64
	// Runs is the number of trainings that it used before.
	Runs int
}

// Play lets a controller decide in a scenario, under a seed from 1. The weights
// belong to an agent.
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

// SeedsOf returns how often a controller is repeated: once, unless it is random.
func (s *Study) SeedsOf(c *Controller) int {
	if k, _ := KindByName(c.Kind); k.Random {
		return s.Seeds
	}
	return 1
}

// Regret returns the difference of a sequence from the best of its table.
func Regret(t *OutcomeTable, sequence int) float64 {
	return math.Max(0, t.Best()-t.Accuracy[sequence])
}
