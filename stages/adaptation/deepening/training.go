package deepening

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// version is part of the key of a training. It must be raised when the way in which agents learn changes, so that they
// learn again.
const version = 2

// Training is the training of an agent: its lessons in order, and a seed. Controllers whose agents have equal trainings
// share the weights.
type Training struct {
	Study   *Study
	Lessons []TrainingLesson
	Seed    int // from 1
}

// Training returns the training of a controller's agent that will decide in a scenario.
func (s *Study) Training(c *Controller, scenario string, seed int) Training {
	return Training{s, c.Learn.Lessons(s, scenario), seed}
}

// Before returns the training without its last lesson; false if it has only one.
func (t Training) Before() (before Training, ok bool) {
	if len(t.Lessons) < 2 {
		return Training{}, false
	}
	return Training{t.Study, t.Lessons[:len(t.Lessons)-1], t.Seed}, true
}

// Tables returns the tables of the last lesson, with smoothed accuracies if the agent learns from them.
func (t Training) Tables() []*OutcomeTable {
	var tables []*OutcomeTable
	last := t.Lessons[len(t.Lessons)-1]
	for _, name := range last.Scenarios {
		tables = append(tables, t.Study.Scenario(name))
	}
	if last.Smooth {
		return Smoothed(tables)
	}
	return tables
}

// Episodes returns the total number of episodes of all lessons.
func (t Training) Episodes() int {
	n := 0
	for _, l := range t.Lessons {
		n += l.Settings.Episodes
	}
	return n
}

// LearnedOn returns the names of the scenarios, by lesson: "early, late then middle".
func (t Training) LearnedOn() string {
	var parts []string
	for _, l := range t.Lessons {
		parts = append(parts, strings.Join(l.Scenarios, ", "))
	}
	return strings.Join(parts, " then ")
}

// Lines returns the lines of the key: everything that the weights depend on.
func (t Training) Lines() []string {
	lines := []string{fmt.Sprintf("agent.version %d", version), fmt.Sprintf("agent.seed %d", t.Seed)}
	for i, l := range t.Lessons {
		s := l.Settings
		lines = append(lines, fmt.Sprintf("lesson.%d.settings episodes %d, batch %d, rate %g, decay %g every %d, "+
			"temperature %g",
			i+1, s.Episodes, s.Batch, s.Rate, s.Decay, s.DecayEvery, s.Temperature))
		if l.Smooth {
			lines = append(lines, fmt.Sprintf("lesson.%d.smoothed", i+1))
		}
		for _, name := range l.Scenarios {
			table := t.Study.Scenario(name)
			lines = append(lines, fmt.Sprintf("lesson.%d.table %d decisions, %d actions, time %v, accuracy %v", i+1,
				table.Decisions, table.Actions, table.Time, table.Accuracy))
		}
	}
	return lines
}

// Begin returns the learner of the last lesson. before is the learner after the earlier lessons; nil for the first
// lesson.
func (t Training) Begin(before *Learner) *Learner {
	set := t.Lessons[len(t.Lessons)-1].Settings
	set.Seed = uint64(t.Seed)<<16 + uint64(len(t.Lessons))
	if before != nil {
		return NewLearner(before.Network.Clone(), set)
	}
	actions := t.Study.Tables[0].Actions
	network := NewNetwork(2*(actions-1), actions, rand.New(rand.NewPCG(uint64(t.Seed), 9)))
	return NewLearner(network, set)
}
