package deepening

import (
	"bytes"
	"encoding/gob"
	"fmt"
)

// saved is a learner in the form of its file.
type saved struct {
	Vocabulary, Actions int
	Weights, M, V       []float64
	Settings            Settings
	Episodes, Steps     int
	Objective           []float64
}

// Save returns the learner in the form that LoadLearner reads. Learning can continue from it without any difference.
func (l *Learner) Save() ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(saved{
		Vocabulary: l.Network.Vocabulary, Actions: l.Network.Actions, Weights: l.Network.Weights, M: l.M, V: l.V,
		Settings: l.Settings, Episodes: l.Episodes, Steps: l.Steps, Objective: l.Objective,
	})
	if err != nil {
		return nil, fmt.Errorf("save the agent: %w", err)
	}
	return b.Bytes(), nil
}

// LoadLearner returns the learner that Save has written.
func LoadLearner(raw []byte) (*Learner, error) {
	var s saved
	if err := gob.NewDecoder(bytes.NewReader(raw)).Decode(&s); err != nil {
		return nil, fmt.Errorf("read the agent: %w", err)
	}
	n, err := RestoreNetwork(s.Vocabulary, s.Actions, s.Weights)
	if err != nil {
		return nil, err
	}
	learns := s.Episodes < s.Settings.Episodes // only a learner that continues needs its moments
	if learns && (len(s.M) != len(s.Weights) || len(s.V) != len(s.Weights)) {
		return nil, fmt.Errorf("read the agent: %d weights, but %d and %d moments", len(s.Weights), len(s.M), len(s.V))
	}
	return &Learner{Network: n, Settings: s.Settings, Episodes: s.Episodes, Steps: s.Steps, M: s.M, V: s.V,
		Objective: s.Objective}, nil
}
