package deepening

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Any content of a table of trainings or of an agent's file is read, or is an error.
func FuzzFiles(f *testing.F) {
	raw, err := os.ReadFile(filepath.Join("..", "..", "..", "experiments", "papers", "adaptation", "cnn1.csv"))
	if err != nil {
		f.Fatal(err)
	}
	rows := strings.SplitAfter(string(raw), "\n")
	f.Add([]byte(strings.Join(rows[:min(len(rows), 40)], "")))
	f.Add([]byte(strings.ReplaceAll(strings.Join(rows[:min(len(rows), 4)], ""), ".", "e30")))
	learner := &Learner{Network: &Network{Vocabulary: 3, Actions: 2}}
	learner.Network.Weights = make([]float64, learner.Network.layout())
	saved, err := learner.Save()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(saved)
	f.Add(saved[:len(saved)/2])
	f.Fuzz(func(t *testing.T, raw []byte) {
		_, _, _ = ReadTable("x.csv", "x", bytes.NewReader(raw), DefaultColumns, 3, 0)
		if l, err := LoadLearner(raw); err == nil && l.Network.layout() != len(l.Network.Weights) {
			t.Errorf("%d weights", len(l.Network.Weights))
		}
	})
}
